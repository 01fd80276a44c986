"""Mixtures of scorers: what they list, how they are pooled, and what the default chooses."""

import random

import numpy as np
import pytest

import setlearn
from setlearn import SequenceSetGenerator
from setlearn.errors import ConvergenceWarning, DataError, ParameterError, TruncationWarning
from setlearn.estimators.candidate_lists import probable_sequences
from setlearn.estimators.mixture_scorer import MixtureScorer, doubt
from setlearn.estimators.mixture_source import Mixture
from setlearn.estimators.scorer_choice import SuitedScorer, _Shape
from setlearn.generate import Bounds
from setlearn.networks import Training, Transducer, Transformer
from setlearn.rules import Threshold, TopK
from setlearn.scorers import AnalogyScorer
from setlearn.scorers.candidates import CandidateTrees
from setlearn.scorers.injected import InjectedScorer
from setlearn.trie import END
from setlearn.vocabulary import Tokeniser, Vocabulary
from tests.table_scorer import TableScorer

FREE = Bounds(max_length=5, max_size=1000, max_nodes=10_000)
QUICK = Training(max_steps=20, evaluate_every=20, verbose=False)
SMALL = Transducer(width=16, heads=2, layers=1)


class Tables(TableScorer):
    """Takes lists of samples, as estimators pass them."""

    def start(self, X):
        return super().start(len(X))


def verbs(n, seed=0):
    rng = random.Random(seed)
    X = ["".join(rng.choices("bdgklmnprst", k=3)) + rng.choice(["a", "e", "at"]) for _ in range(n)]
    return X, [{x, x + "s", x.removesuffix("e") + "ing"} for x in X]


@pytest.fixture
def tables():
    vocabulary = Vocabulary(("a", "b"), str, Tokeniser("char"))
    return [InjectedScorer(Tables(3, seed), vocabulary) for seed in (1, 2)]


def path_probability(scorer, sample, sequence):
    probability = 1.0
    for depth, choice in enumerate((*sequence, END)):
        probability *= scorer.scorer.probabilities(sample, sequence[:depth])[choice]
    return probability


def test_all_that_a_part_finds_is_scored_by_all(tables):
    mixture = MixtureScorer(tables, FREE)
    X = ["x"] * 4
    listed = mixture._listed(X, mixture._found(tables[0], X)[0])
    for part, row in zip(tables, listed.scores, strict=True):
        expected = [
            path_probability(part, sample, sequence)
            for sample, sequences in enumerate(listed.sequences)
            for sequence in sequences
        ]
        assert row == pytest.approx(expected)
    assert min(map(len, listed.sequences)) > 1


def test_membership_of_a_sequence_is_its_pooled_probability(tables):
    mixture = MixtureScorer(tables, FREE)
    mixture.pool.weights = np.array([0.8, 0.3])
    X = ["x"] * 4
    listed = mixture._listed(X, mixture._found(tables[0], X)[0])
    pooled = iter(mixture.pool.pooled(listed.scores))
    step = mixture.start(X)
    for sample, sequences in enumerate(listed.sequences):
        for sequence, probability in zip(sequences, pooled, strict=False):
            if len(sequence) == 1:
                below = mixture.advance(step, np.array([sample]), np.array(sequence))
                membership = below.nodes.membership[0, END]
                assert membership == pytest.approx(probability, abs=1e-6)


class Lists:
    """Lists the same random candidates for each input."""

    gives_marginals = True

    def __init__(self, rng, n_inputs):
        self.lists = [
            {
                tuple(rng.choices((1, 2), k=rng.randint(0, 5))): 10 ** rng.uniform(-4, 0)
                for _ in range(rng.randint(0, 12))
            }
            for _ in range(n_inputs)
        ]

    def candidates(self, X):
        return [list(by.items()) for by in self.lists]

    def start(self, X):
        return CandidateTrees.of(self.candidates(X), 3).start()

    def advance(self, step, parent, token):
        return CandidateTrees.advance(step, parent, token)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("max_size", [2, 1000])
def test_probable_candidates_are_found_without_growing_them(seed, max_size):
    rng, X = random.Random(seed), ["x"] * 20
    bounds = Bounds(max_length=4, max_size=max_size, max_nodes=10_000)
    scorer = InjectedScorer(Lists(rng, len(X)), Vocabulary(("a", "b"), str, Tokeniser("char")))
    found, truncated = MixtureScorer([scorer], bounds)._found(scorer, X)
    grown = probable_sequences(scorer, X, bounds)
    for sample, by_list in enumerate(found):
        if max(by_list.values(), default=1) < 1e-3:
            assert len(by_list) == 1  # the best, where nothing is probable
            continue
        mine = grown.sample == sample
        rows = zip(grown.tokens[mine], grown.probability[mine].tolist(), strict=True)
        by_growth = {tuple(tokens[tokens > 0].tolist()): p for tokens, p in rows}
        assert {y: by_growth[y] for y in by_list} == pytest.approx(by_list)
        # Growing also finds sequences with less than 2 % of the probability of the best one.
        best = max(by_growth.values(), default=0)
        assert all(p < max(1e-3, 0.02 * best) for y, p in by_growth.items() if y not in by_list)
    too_long = [
        max([p for y, p in by.items() if len(y) > 4], default=0) for by in scorer.scorer.lists
    ]
    best = np.array([max(by.values(), default=0) for by in found])
    is_lost = np.array(too_long) >= np.maximum(1e-3, 0.1 * best)
    assert truncated[is_lost].all()
    assert max_size == 2 or not truncated[~is_lost].any()


def test_improbable_candidates_are_dropped_unless_they_are_wanted():
    scorer = Lists(random.Random(0), 1)
    vocabulary = Vocabulary(("a", "b"), str, Tokeniser("char"))
    words = [tuple(map(int, f"{k:05b}".replace("0", "2"))) for k in range(32)]
    for n_probable in (3, 15):
        scorer.lists = [{y: 0.5 if k < n_probable else 1e-4 for k, y in enumerate(words)}]
        injected = InjectedScorer(scorer, vocabulary)
        mixture = MixtureScorer([injected], FREE)
        [found], _ = mixture._found(injected, ["x"])
        assert set(found) == set(words[:n_probable])
        [found], _ = mixture.within(FREE, thorough=True)._found(injected, ["x"])
        assert len(found) == max(n_probable, 10)
        assert set(words[:n_probable]) <= set(found)


def test_probabilities_above_one_by_rounding_are_certain():
    scorer = Lists(random.Random(0), 1)
    scorer.lists = [{(1,): 1 + 4e-6, (2, 1): 0.4}]
    injected = InjectedScorer(scorer, Vocabulary(("a", "b"), str, Tokeniser("char")))
    assert MixtureScorer([injected], FREE)._found(injected, ["x"])[0] == [{(1,): 1, (2, 1): 0.4}]


@pytest.mark.parametrize("wrong", [[[((1,), 1.5)]] * 2, [[((1,), 0.5)]]], ids=["range", "number"])
def test_wrong_lists_are_refused(wrong):
    scorer = Lists(random.Random(0), 2)
    scorer.candidates = lambda X: wrong
    injected = InjectedScorer(scorer, Vocabulary(("a", "b"), str, Tokeniser("char")))
    with pytest.raises(DataError, match=r"Lists\.candidates must return"):
        MixtureScorer([injected], FREE).start(["x"] * 2)


def test_doubt_is_the_largest_distance_from_certainty():
    sample = np.array([0, 0, 1, 1, 2])
    probability = np.array([0.98, 0.1, 0.7, 0.01, 0.4])
    np.testing.assert_allclose(doubt(sample, probability, 4), [0.1, 0.3, 1, 1])


def test_where_the_first_scorer_is_sure_the_others_are_not_asked():
    X, Y = verbs(120)
    analogy, network = (
        SequenceSetGenerator(part, training=QUICK, random_state=0).fit(X, Y).scorer_
        for part in (AnalogyScorer(), SMALL)
    )
    mixture = MixtureScorer([analogy, network], FREE)
    new, _ = verbs(20, seed=1)
    pooled, _ = mixture._found(mixture, new)
    alone, _ = mixture._found(analogy, new)
    sample = np.repeat(np.arange(20), [len(found) for found in alone])
    doubts = doubt(sample, np.array([p for by in alone for p in by.values()]), 20)
    mixture.sure = float(np.median(doubts))
    together, _ = mixture._found(mixture, new)
    assert 0 < (doubts <= mixture.sure).sum() < 20
    for k, own in enumerate(alone):
        expected = own if doubts[k] <= mixture.sure else pooled[k]
        assert together[k] == pytest.approx(expected, abs=1e-6)


def test_who_asks_for_more_gets_the_lists_of_all():
    X, Y = verbs(120)
    model = SequenceSetGenerator([AnalogyScorer(), SMALL], training=QUICK, random_state=0)
    model.fit(X, Y)
    network = SequenceSetGenerator(SMALL, training=QUICK, random_state=0).fit(X, Y).scorer_
    new, known = verbs(20, seed=1)
    answers = []
    for sure in (0.0, 0.4):
        model.scorer_ = MixtureScorer([model.scorer_.scorers[0], network], FREE, sure=sure)
        best = model.with_rule(TopK(8))
        answers.append(
            [model.predict_ranked(new, top=8), best.predict(new), best.complete(new, known)]
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize(("n_sure", "expected"), [(150, 0.15), (80, 0.0)])
def test_the_first_decides_alone_where_it_never_differed_from_all(tables, n_sure, expected):
    mixture = MixtureScorer(tables, FREE)
    n = n_sure + 2
    sample = np.repeat(np.arange(n), 2)
    first = np.tile([0.99, 0.01], n)
    second = first.copy()
    # With doubts of 0.3 and 0.4, the second is not of the same opinion.
    first[-4:], second[-4:] = [0.7, 0.01, 0.99, 0.4], [0.01, 0.01, 0.99, 0.99]
    sure = mixture._learned_doubt(sample, np.array([first, second]))
    assert sure == pytest.approx(expected)


def test_a_network_that_has_learned_little_does_no_harm():
    X, Y = verbs(120)
    new, truth = verbs(50, seed=1)
    parts = [AnalogyScorer(), SMALL]
    model = SequenceSetGenerator(parts, training=QUICK, random_state=0).fit(X, Y)
    assert model.score(new, truth) > 0.95
    assert [epoch["part"] for epoch in model.history_] == [1]
    assert model.facts()["mixture"][0]["scorer"] == "AnalogyScorer"


def test_fast_scorers_learn_from_held_out_samples_in_the_end():
    X = [f"{k:03d}" for k in range(100)]
    Y = [{f"answer {k}"} for k in range(100)]
    model = SequenceSetGenerator(AnalogyScorer(), TopK(1), random_state=0)
    model.set_params(training=Training(validation=0.2)).fit(X, Y)
    held_out = [X[k] for k in model.held_out_]
    judge, inputs, _ = model.rule_samples_
    assert inputs == held_out
    known = model.scorer_.scorer.evidence_.n_samples
    assert (known, judge.scorer.evidence_.n_samples) == (100, 80)


def test_the_rule_is_fitted_on_what_has_not_seen_its_samples():
    X, Y = verbs(120)
    model = SequenceSetGenerator([AnalogyScorer(), SMALL], training=QUICK, random_state=0)
    model.fit(X, Y)
    nodes, _ = model.choice_points()
    judge, inputs, trie = model.rule_samples_
    np.testing.assert_array_equal(nodes.membership, judge.score_trees(inputs, trie).membership)
    assert model.with_rule(Threshold("tuned")).predict(["bake"]) != []


def test_saved_and_loaded_it_predicts_the_same(tmp_path):
    X, Y = verbs(60)
    model = SequenceSetGenerator([AnalogyScorer(), SMALL], training=QUICK, random_state=0)
    model.fit(X, Y)
    setlearn.save(model, tmp_path / "model")
    again = setlearn.load(tmp_path / "model")
    assert again.predict_ranked(X[:9], top=5) == model.predict_ranked(X[:9], top=5)


def test_networks_share_the_time_and_have_their_own_checkpoints(tmp_path):
    X, Y = verbs(40)
    training = Training(max_steps=5, checkpoint=tmp_path / "kept", max_seconds=100, verbose=False)
    parts = [SMALL, AnalogyScorer(), SMALL]
    SequenceSetGenerator(parts, training=training, random_state=0).fit(X, Y)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["part-0", "part-2"]


def problem_of(X, Y):
    model = SequenceSetGenerator(random_state=0)
    return model._read_problem(X, Y, SuitedScorer())


def test_the_default_follows_the_data():
    rng = np.random.RandomState(0)
    assert _Shape.of(problem_of(*verbs(80)), rng) == _Shape(is_short=False, is_in_order=True)
    long = ["".join(random.Random(k).choices("abcdefgh", k=30)) for k in range(80)]
    short = [{x[k % 20 : k % 20 + 2]} for k, x in enumerate(long)]
    assert _Shape.of(problem_of(long, short), rng) == _Shape(is_short=True, is_in_order=False)
    words = [x[:5] for x in long]
    backwards = [{x[::-1]} for x in words]
    assert _Shape.of(problem_of(words, backwards), rng) == _Shape(False, False)


def networks_of(model):
    return [type(part.recipe).__name__ for part in parts(model) if hasattr(part, "recipe")]


def test_few_samples_that_analogy_explains():
    model = SequenceSetGenerator(random_state=0).fit(*verbs(60))
    assert isinstance(model.scorer_.scorer, AnalogyScorer)
    assert model.history_ == []


def test_few_samples_of_which_analogy_misses_one_sequence_each():
    """Most sequences are found, but one of each set is a cipher, so hardly any set is right."""
    X, Y = verbs(80)
    cipher = str.maketrans("bdgklmnprstae", "cfhjqvwxyziou")
    sets = [{*y, f"{x}ed", f"{x}er", x.translate(cipher)} for x, y in zip(X, Y, strict=True)]
    model = SequenceSetGenerator(training=QUICK, random_state=0).fit(X, sets)
    assert len(model.history_) > 0


@pytest.mark.parametrize(
    ("n_samples", "reason"),
    [(8, "there are no held-out samples"), (80, "analogy does well on held-out samples")],
)
def test_why_no_network_is_trained(n_samples, reason, monkeypatch):
    said = []
    monkeypatch.setattr(
        "setlearn.estimators.scorer_choice.say_before_progress",
        lambda line, *, verbose: said.append(line),
    )
    SequenceSetGenerator(random_state=0).fit(*verbs(n_samples))
    assert said == [f"{reason}, so no network is trained"]


@pytest.mark.parametrize("n_samples", [150, 450])
def test_ngrams_and_trees_join_if_samples_are_not_many(n_samples, monkeypatch):
    fitted = []
    monkeypatch.setattr(Mixture, "fit", lambda self, *_: fitted.append(self.described()) or 1 / 0)
    rng = random.Random(0)
    X = [" ".join(rng.choices(["red", "new", "big", "old"], k=4)) for _ in range(n_samples)]
    with pytest.raises(ZeroDivisionError):
        SequenceSetGenerator(tokens="char").fit(X, [{x[:3] + str(k % 9)} for k, x in enumerate(X)])
    assert ("JointNgrams()" in fitted[0]) == (n_samples == 150)


def test_a_network_is_trained_for_few_samples_if_it_does_better_than_analogy():
    """Analogy finds most formulas, and the transformer all of them."""
    rng = random.Random(0)
    X, Y = [], []
    for _ in range(150):
        elements = rng.sample(["C", "Ca", "P", "O", "H", "Na", "Cl", "N", "S", "Fe"], 3)
        X.append("".join(element + rng.choice(["", "2", "3", "5"]) for element in elements))
        Y.append(set(elements))
    training = Training(max_steps=50, verbose=False)
    model = SequenceSetGenerator(training=training, random_state=0).fit(X, Y)
    assert model.history_
    assert model.score(X[:30], Y[:30]) > 0.95


def test_what_is_in_order_is_transduced():
    rng = random.Random(0)
    X = ["".join(rng.choices("abcdefgh", k=5)) for _ in range(80)]
    sounds = dict(zip("abcdefgh", "stuvwxyz", strict=True))
    Y = [{"".join(sounds[letter] for letter in x)} for x in X]
    model = SequenceSetGenerator(training=Training(max_steps=100, verbose=False), random_state=0)
    model.fit(X, Y)
    names = {type(getattr(part, "recipe", None) or part.scorer).__name__ for part in parts(model)}
    assert names <= {"AnalogyScorer", "AlignedTrees", "JointNgrams", "Transducer"}
    assert model.score(X[:20], Y[:20]) > 0.9


def parts(model):
    return model.scorer_.scorers


def test_the_network_that_learns_faster_is_trained():
    X = ["".join(random.Random(k).choices("abcdefgh", k=4 + k % 6)) for k in range(80)]
    training = Training(max_steps=40, verbose=False)
    model = SequenceSetGenerator(training=training, random_state=0)
    model.fit(X, [{x[::-1]} for x in X])
    assert networks_of(model) == ["Transformer"]


def test_numbers_have_no_analogy():
    X = np.random.RandomState(0).rand(30, 3)
    model = SequenceSetGenerator(training=QUICK, random_state=0)
    model.fit(X, [{"ab"} if row[0] > 0.5 else {"c"} for row in X])
    assert isinstance(model.scorer_.recipe, Transformer)


@pytest.mark.filterwarnings("ignore::setlearn.errors.UnseenTokenWarning")
def test_one_sample_and_empty_sets():
    for X, Y in ([["ab"], [{"ba"}]], [["ab", "cd"], [set(), set()]]):
        model = SequenceSetGenerator(training=QUICK, random_state=0).fit(X, Y)
        assert len(model.predict(["ab", "zz"])) == 2


def test_no_parts():
    with pytest.raises(ParameterError, match="list of these"):
        SequenceSetGenerator([]).fit(["a"], [{"b"}])


@pytest.mark.parametrize("network", ["analogy", ["analogy", "ngrams"]])
def test_limits_can_be_raised_after_fit(network):
    X, _ = verbs(60)
    model = SequenceSetGenerator(network, random_state=0, max_length=9).fit(X, [{x} for x in X])
    long = "".join(X[:8])
    with pytest.warns(TruncationWarning) as caught:
        assert long not in model.predict([long])[0]
    assert caught[0].filename == __file__
    assert model.set_params(max_length=50).predict([long]) == [{long}]


@pytest.mark.parametrize("network", ["analogy", ["analogy", "ngrams"]])
def test_copies_may_be_as_long_as_their_inputs(network, tmp_path):
    X, Y = verbs(60)
    model = SequenceSetGenerator(network, random_state=0).fit(X, Y)
    assert model.surplus_ == 3
    setlearn.save(model, tmp_path / "model")
    long = "".join(X[:8]) + "t"
    for same in (model, setlearn.load(tmp_path / "model")):
        assert same.predict([long, "bada"])[0] == {long, long + "s", long + "ing"}
        assert same.trace(long).result == {long, long + "s", long + "ing"}


@pytest.mark.parametrize("n_samples", [60, 1000])
def test_parts_are_checked_before_a_network_is_trained(n_samples, monkeypatch):
    monkeypatch.setattr("setlearn.networks.training_loop.Trainer.fit", lambda trainer: 1 / 0)
    X, Y = verbs(n_samples)
    with pytest.raises(ParameterError, match="smoothing"):
        SequenceSetGenerator([SMALL, AnalogyScorer(smoothing=-1)]).fit(X, Y)
    with pytest.raises(DataError, match="use a network for numbers"):
        SequenceSetGenerator([SMALL, AnalogyScorer()]).fit(np.zeros((n_samples, 2, 1)), Y)


def test_a_second_process_changes_nothing(monkeypatch):
    X, Y = verbs(60)
    ranked = []
    for many in (10, 100):  # beside the network, or before it
        monkeypatch.setattr("setlearn.estimators.mixture_source.MANY", many)
        model = SequenceSetGenerator(["ngrams", SMALL], training=QUICK, random_state=0).fit(X, Y)
        ranked.append(model.predict_ranked(["banad"], top=9))
    assert ranked[0] == ranked[1]


def test_repeated_samples_are_held_out_together():
    X, Y = verbs(60)
    once, thrice = (
        SequenceSetGenerator(["analogy", "ngrams"], random_state=0).fit(X * k, Y * k)
        for k in (1, 3)
    )
    held_out = {X[i % 60] for i in thrice.held_out_}
    assert len(thrice.held_out_) == 3 * len(held_out) == 3 * len(once.held_out_)
    tests, _ = verbs(30, seed=1)
    assert thrice.predict(tests) == once.predict(tests)


@pytest.mark.parametrize("network", ["ngrams", "trees"])
def test_outputs_grow_with_their_inputs(network):
    """Nothing is copied, and the inputs are up to twenty times as long as in training."""
    letters = dict(zip("abcdefgh", "ABCDEFGH", strict=True))
    X, _ = verbs(200)
    X = ["".join(letter for letter in x if letter in letters) or "a" for x in X]
    model = SequenceSetGenerator(network, random_state=0).fit(X, [{x.upper()} for x in X])
    assert model.longest_input_ == max(map(len, X))
    for n in (20, 150):
        long = "abdeg" * (n // 5)
        assert model.predict([long]) == [{long.upper()}]


def test_a_network_that_had_too_little_time_is_warned_of_even_if_it_is_dropped():
    X, Y = verbs(60)
    training = Training(max_steps=2000, max_seconds=0.2)
    model = SequenceSetGenerator(["analogy", SMALL], training=training, random_state=0)
    with pytest.warns(ConvergenceWarning, match="ended after 0.2 seconds.*max_seconds.*dropped"):
        model.fit(X, Y)
