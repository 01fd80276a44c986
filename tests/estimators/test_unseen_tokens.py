"""Tokens of inputs that training has not seen: they are copied by stand-ins, and warned of."""

import random
import warnings
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setlearn import SequenceSetGenerator, load, save
from setlearn.errors import DataError, TruncationWarning, UnseenTokenWarning
from setlearn.metrics import mean_f1
from setlearn.networks import LSTM, Training, Transducer, Transformer
from setlearn.rules import LambdaCNN, Margin, Threshold, TopK
from setlearn.scorers import AnalogyScorer

NETWORKS = {
    "transformer": (Transformer(width=32, encoder_layers=1), 200),
    "transducer": (Transducer(width=32, layers=1, dropout=0.0), 300),
}


def strings(n, letters, seed):
    rng = random.Random(seed)
    return ["".join(rng.choices(letters, k=rng.randint(2, 4))) for _ in range(n)]


def with_prefix(x):
    return frozenset({x, f"-{x}"})


TRAIN = strings(150, "abcdefgh", 0)
UNSEEN = strings(30, "abcdxyz", 1)
PREFIXED = [with_prefix(x) for x in UNSEEN]


def fitted(network, steps, X=TRAIN, Y=None, rule=None, **settings):
    training = Training(max_steps=steps, evaluate_every=steps, learning_rate=5e-3, validation=0.1)
    Y = [with_prefix(x) for x in X] if Y is None else Y
    model = SequenceSetGenerator(
        network, rule, training=training, random_state=0, max_length=5, **settings
    )
    return model.fit(X, Y)


@cache
def trained(name):
    """A model that several tests ask."""
    return fitted(*NETWORKS[name])


@pytest.fixture(scope="module", params=["analogy", *NETWORKS])
def model(request):
    return fitted(AnalogyScorer(), 1) if request.param == "analogy" else trained(request.param)


def quietly(method, *arguments, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenTokenWarning)
        return method(*arguments, **settings)


def test_unseen_letters_are_copied(model):
    assert mean_f1(PREFIXED, quietly(model.predict, UNSEEN)) > 0.8
    assert quietly(model.score, UNSEEN, PREFIXED) > 0.8


@pytest.mark.parametrize("network", [AnalogyScorer(), NETWORKS["transformer"][0]])
def test_tokens_that_only_inputs_had_are_copied(network):
    # "noun: job" may be asked where j was only seen in "adj: tall".
    model = fitted(network, 200, [f"z:{x}" for x in TRAIN], [with_prefix(x) for x in TRAIN])
    words = [x for x in strings(60, "abcdz", 1) if "z" in x]
    predicted = model.predict([f"z:{x}" for x in words])
    assert mean_f1([with_prefix(x) for x in words], predicted) > 0.9


def test_the_warning_counts_once_per_call(model):
    with pytest.warns(UnseenTokenWarning) as caught:
        model.predict(["ab", "xa", "xyx"])
    [warning] = caught
    assert str(warning.message).startswith(
        "2 of 3 inputs have tokens never seen in training (2 different, such as 'x'); they "
        "can be copied into predicted sets"
    )
    assert warning.message.samples == (1, 2)
    assert warning.message.tokens == ("x", "y")
    assert warning.message.lost == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(["ab", ""])


def test_tokens_beyond_the_stand_ins_are_lost(model):
    with pytest.warns(UnseenTokenWarning, match=r"\(6 different.*; 2 of them cannot be part"):
        assert len(model.predict(["xyzuvw"])) == 1


def test_a_saved_model_predicts_the_same(model, tmp_path):
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.vocabulary_.n_stand_ins == model.vocabulary_.n_stand_ins == 4
    before, after = (quietly(m.predict_ranked, UNSEEN[:9]) for m in (model, again))
    assert after == before


def test_known_sequences_may_have_unseen_tokens_of_the_input(model):
    others = quietly(model.complete, ["xay"], [{"xay"}])
    assert others == [quietly(model.predict, ["xay"])[0] - {"xay"}]
    with pytest.raises(DataError, match=r"never seen in training, such as 'q'"):
        model.complete(["xay"], [{"q"}])


def test_rules_are_fitted_on_sets_with_unseen_tokens(model):
    nodes, right = model.choice_points(["xa"], [{"xa"}])
    first = model.vocabulary_.n_choices - model.vocabulary_.n_stand_ins
    row, choice = right.nonzero()
    assert choice[row == 0].tolist() == [first]
    assert nodes.available[0, first:].tolist() == [True, False, False, False]
    assert nodes.probabilities[0, first] > 0
    with pytest.raises(DataError, match="never seen in training"):
        model.choice_points(["xa"], [{"ya"}])
    tuned = model.with_rule(Threshold("tuned"), UNSEEN, PREFIXED)
    assert quietly(tuned.score, UNSEEN, PREFIXED) > 0.8


def test_a_trace_names_the_token_itself(model):
    with pytest.warns(UnseenTokenWarning, match="1 of 1 inputs"):
        trace = model.trace("xa")
    assert "xa" in trace.result
    assert "x" in {branch.choice for branch in trace.branches}
    assert not any(branch.choice.startswith("(unseen") for branch in trace.branches)
    assert model.choice_names()[-1] == "(unseen token 4)"


@pytest.fixture(scope="module")
def greedy():
    return fitted(Transformer(width=8, encoder_layers=1), 5, max_size=40, max_nodes=200)


@settings(max_examples=30, deadline=None)
@given(X=st.lists(st.text("abxyzuv", max_size=6), min_size=1, max_size=4))
def test_stand_ins_that_an_input_lacks_are_never_written(greedy, X):
    for rule in (Margin(1.0, min_size=1), TopK(30), Threshold(0.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = greedy.with_rule(rule).predict(X)
        for x, answer in zip(X, answers, strict=True):
            letters = set("".join(answer))
            assert letters <= set(x) | set("abcdefgh-")


def test_answers_do_not_depend_on_the_batch(model):
    X = UNSEEN[:12]
    assert quietly(model.predict, X) == [quietly(model.predict, [x])[0] for x in X]


def test_sets_of_sets_of_unseen_tokens():
    X = [list(x) for x in strings(60, "abcdef", 2)]
    Y = [{frozenset(x)} for x in X]
    analogy = fitted(AnalogyScorer(), 1, X, Y)
    assert quietly(analogy.predict, [["y", "a"], ["y", "x"]]) == [
        {frozenset("ay")},
        {frozenset("xy")},
    ]
    network = fitted(NETWORKS["transformer"][0], 20, X, Y)
    quietly(network.predict, [["y", "a"], ["y", "x"]])
    nodes, right = network.choice_points([["y", "a"]], [{frozenset("ay")}])
    assert len(nodes) == 3
    assert right.nonzero()[1][0] == network.vocabulary_.tokens.index("a") + 1


def test_a_token_that_only_sequences_have_can_be_copied():
    model = trained("transformer")
    answers = model.predict(["a-", "b-c"])  # training has seen it, so there is no warning
    assert "b-c" in answers[1]


@pytest.mark.parametrize(
    ("network", "Y"),
    [
        (LSTM(8, 8, 16), None),
        (Transformer(width=8, copy=False), None),
        (Transformer(width=8), [{x.upper()} for x in TRAIN]),
        (AnalogyScorer(), [{x.upper()} for x in TRAIN]),
    ],
    ids=["lstm", "without copies", "other letters", "analogy on other letters"],
)
def test_there_are_no_stand_ins_where_nothing_is_copied(network, Y):
    model = fitted(network, 2, Y=Y)
    assert model.vocabulary_.n_stand_ins == 0
    assert model.scorer_.start(next(model.scorer_.batches(["ab"]))[1]).nodes.available is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        with pytest.warns(UnseenTokenWarning, match="they cannot be part of predicted sets"):
            model.predict(["xy"])


def test_a_fitted_analogy_scorer_keeps_its_vocabulary():
    first = fitted(AnalogyScorer(), 1)
    scorer = first.scorer_.scorer
    again = SequenceSetGenerator(scorer, Threshold(0.5)).fit(UNSEEN, PREFIXED)
    assert again.vocabulary_ is first.vocabulary_
    assert quietly(again.score, UNSEEN, PREFIXED) > 0.8


def test_tokens_that_no_text_can_have_get_no_stand_in():
    X, Y = [list(x) for x in TRAIN], [with_prefix(x) for x in TRAIN]
    model = fitted(AnalogyScorer(), 1, X, Y)
    with pytest.warns(UnseenTokenWarning, match="2 of them cannot be part"):
        [answer] = model.predict([["a", 7, "long", "x"]])
    assert all(isinstance(element, str) for element in answer)


def test_a_convolution_decides_on_scores_with_stand_ins():
    rule = LambdaCNN(training=Training(max_steps=50), random_state=0)
    model = fitted(Transformer(width=16, encoder_layers=1), 100, rule=rule)
    quietly(model.predict, UNSEEN[:5])
    quietly(model.trace, "xa")


def names(n, seed):
    """What follows the word "named" in texts of 2000 different words."""
    words = ["".join(word) for word in product("bcdfg", "aeiou", "bcdfg", "aeiou", "lnrs")][:2000]
    rng = random.Random(seed)
    X, Y = [], []
    for _ in range(n):
        x = rng.choices(words, k=8)
        place = rng.randint(0, 6)
        X.append(" ".join([*x[:place], "named", *x[place:]]))
        Y.append(frozenset({x[place]}))
    return X, Y


class TestRareTokens:
    """Too many tokens of inputs to be choices: the rare ones are copied like unseen ones."""

    @pytest.mark.filterwarnings("ignore::setlearn.errors.UnseenTokenWarning")
    @pytest.mark.parametrize("network", ["analogy", Transformer(width=32, encoder_layers=1)])
    def test_are_copied(self, network):
        X, Y = names(300, 0)
        training = Training(max_steps=250, learning_rate=5e-3, validation=0.1)
        model = SequenceSetGenerator(network, tokens="word", training=training, random_state=0)
        model.fit(X, Y)
        choices, seen = {*model.vocabulary_.tokens}, {*model.vocabulary_.inputs.seen}
        assert len(choices) < len(seen)
        X, Y = names(60, 1)
        rare = [k for k, y in enumerate(Y) if y <= seen and not y & choices]
        assert len(rare) > 10
        predicted = model.predict(X)
        assert sum(predicted[k] == Y[k] for k in rare) >= 0.9 * len(rare)

    def test_are_not_called_unseen(self):
        X, Y = names(300, 0)
        model = SequenceSetGenerator("analogy", tokens="word", random_state=0).fit(X, Y)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnseenTokenWarning)
            model.predict(X[:50])
