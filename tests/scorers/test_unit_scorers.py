"""What holds for all scorers that search over units of an input token and a chunk of output."""

import random
import subprocess
import sys
import time

import numpy as np
import pytest

from setlearn import SequenceSetGenerator, load, save
from setlearn.errors import DataError, NotFittedError, ParameterError, UnseenTokenWarning
from setlearn.metrics import mean_f1
from setlearn.rules import TopK
from setlearn.scorers import AlignedTrees, JointNgrams
from setlearn.scorers.units import Contexts
from setlearn.trie import END
from tests.scorers.toy_language import fitted, language, word

KINDS = {
    "trees": lambda **parameters: AlignedTrees(n_trees=10, **parameters),
    "ngrams": lambda **parameters: JointNgrams(**parameters),
}


@pytest.fixture(params=list(KINDS))
def kind(request):
    return request.param


@pytest.fixture
def new(kind):
    return KINDS[kind]


def ambiguous(n):
    """Outputs that can be read in both directions, so that many chunks are possible."""
    X, Y = language(n, 3)
    return X, [{y, y[::-1]} for (y,) in Y]


def test_a_small_language_is_learned(new):
    model = SequenceSetGenerator(new(), random_state=0).fit(*language(300, 0))
    X, Y = language(100, 1)
    assert mean_f1(Y, model.predict(X)) > 0.95


def test_several_outputs_share_the_probability(new):
    X, Y = language(200, 0)
    both = [elements | {y.replace("A", "O") for y in elements} for elements in Y]
    model = SequenceSetGenerator(new(), random_state=0).fit(X, both)
    assert model.predict(["nat"]) == [{"NAT", "NOT"}]


@pytest.mark.parametrize("text", ["c", "xe", "chi", "cexa", "hé"])
def test_candidates_are_those_of_all_sequences_of_chunks(new, text):
    X, Y = ambiguous(25)
    scorer = fitted(new(beam=1_000_000), X, Y)
    source, length = scorer.reader_.read([text]).take(slice(None))

    def context(chunks):
        row = np.array([chunks], dtype=np.intp).reshape(1, -1)
        return Contexts(source, length, np.array([0]), len(chunks), row)

    def extended(chunks):
        if len(chunks) == len(text):
            yield chunks, float(scorer._end(context(chunks))[0])
            return
        found = scorer._choices(context(chunks))
        for chunk, p in zip(found.chunk.tolist(), found.probability.tolist(), strict=True):
            yield from ((rest, p * q) for rest, q in extended([*chunks, chunk]))

    scores, copies = {}, scorer.vocabulary_.spelled_by(text)
    for chunks, p in extended([]):
        output = tuple(
            c for k, part in enumerate(chunks) for c in scorer.chunks_.tokens(part, copies[k])
        )
        if END not in output:  # there is no choice that copies "é"
            scores[output] = scores.get(output, 0) + p
    scores.pop((), None)
    size, total = np.mean([len(y) for y in Y]), sum(scores.values())
    expected = {y: 1 - (1 - p / total) ** size for y, p in scores.items()}
    found = dict(scorer.candidates([text])[0])
    assert found == pytest.approx({y: p for y, p in expected.items() if y in found}, abs=1e-7)
    assert all(p < 1e-7 for y, p in expected.items() if y not in found)


def test_a_narrow_beam_lists_less(new):
    X, Y = ambiguous(40)
    wide, narrow = (fitted(new(beam=beam), X, Y).candidates(X) for beam in (500, 5))
    assert max(map(len, narrow)) <= 5 < max(map(len, wide))
    for few, many in zip(narrow, wide, strict=True):
        assert {y for y, _ in few} <= {y for y, _ in many}


def test_scores_do_not_depend_on_the_batch(new):
    scorer = fitted(new(), *ambiguous(60))
    X = language(150, 2)[0]
    alone = [scorer.candidates([x])[0] for x in X[:20]]
    assert scorer.candidates(X)[:20] == alone
    assert scorer.candidates(X[::-1])[::-1][:20] == alone


@pytest.fixture(scope="module")
def printed_elsewhere():
    """The candidates of each kind, in processes with other hashes of strings."""
    code = (
        "from tests.scorers.test_unit_scorers import KINDS, ambiguous, fitted\n"
        "for new in KINDS.values():\n"
        "    print(fitted(new(), *ambiguous(60)).candidates(['cexa', 'hin']))"
    )
    printed = []
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        printed.append(dict(zip(KINDS, run.stdout.splitlines(), strict=True)))
    return printed


def test_the_same_seed_gives_the_same_scores_in_any_process(new, kind, printed_elsewhere):
    expected = str(fitted(new(), *ambiguous(60)).candidates(["cexa", "hin"]))
    assert [lines[kind] for lines in printed_elsewhere] == [expected] * 2


def test_a_saved_model_gives_the_same_answers(new, tmp_path):
    model = SequenceSetGenerator(new(), random_state=0).fit(*ambiguous(60))
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    tests = language(30, 1)[0]
    assert loaded.predict_ranked(tests, top=5) == model.predict_ranked(tests, top=5)


def test_unseen_and_rare_tokens_are_copied_where_others_are(new):
    rng = random.Random(0)
    X = ["".join(rng.choice("abcdef") for _ in range(5)) for _ in range(200)]
    Y = [{x.replace("b", "")} for x in X]
    # "z" is known as a token of outputs, "q" was seen in one input, "é" nowhere.
    model = SequenceSetGenerator(new(), TopK(1), random_state=0)
    model.fit([*X, "aqa", "a"], [*Y, {"aqa"}, {"az"}])
    assert model.predict(["abz", "qcb"]) == [{"az"}, {"qc"}]
    with pytest.warns(UnseenTokenWarning):
        [predicted] = model.predict(["aéb"])
    assert predicted == {"aé"}


def test_empty_sets_have_the_probability_of_their_share(new):
    X, Y = language(40, 0)
    Y = [set() if k % 4 == 0 else elements for k, elements in enumerate(Y)]
    for candidates in fitted(new(), X, Y).candidates(["cat", ""]):
        assert dict(candidates)[()] == 0.25
        assert sum(p for y, p in candidates if y) <= 0.75 + 1e-6


def test_inputs_say_which_sets_are_empty(new):
    """As many as half of them are, so that the share alone would make all of them empty."""
    X, Y = language(300, 0)
    Y = [set() if x[0] in "aeitn" else y for x, y in zip(X, Y, strict=True)]
    assert sum(not y for y in Y[:200]) >= 100
    model = SequenceSetGenerator(new(), random_state=0).fit(X[:200], Y[:200])
    predicted = model.predict(X[200:])
    assert np.mean([bool(p) == bool(y) for p, y in zip(predicted, Y[200:], strict=True)]) > 0.95
    assert mean_f1(Y[200:], predicted) > 0.9


def test_nothing_but_empty_sets(new):
    scorer = fitted(new(), ["a", "b"], [set(), set()])
    assert scorer.candidates(["a", "c"]) == [[((), 1.0)]] * 2


def test_sets_of_sets_are_sequences_in_ascending_order(new):
    X, Y = language(120, 0)
    scorer = fitted(new(), X, [{frozenset(y)} for (y,) in Y])
    candidates = [y for found in scorer.candidates(X) for y, _ in found]
    assert candidates
    assert all(list(y) == sorted(set(y)) for y in candidates)


def test_long_inputs_and_large_vocabularies_are_skipped_in_little_time(new):
    began = time.monotonic()
    X, Y = language(60, 0)
    scorer = fitted(new(), [*X, "at" * 500], [*Y, {"AT" * 500}])
    [[(found, _)]] = scorer.candidates(["at" * 500])  # far longer than what it has learned from
    assert len(found) == 1000
    assert scorer.candidates(["at" * 501]) == [[]]
    many = [[k] for k in range(2500)]
    scorer = fitted(new(), many, [{(k,)} for k in range(2500)])
    assert scorer.candidates([[3]]) == [[]]
    assert time.monotonic() - began < 20


def test_scores_of_inputs_of_100_tokens_do_not_vanish(new):
    scorer = fitted(new(), *ambiguous(60))
    found = scorer.candidates(["catexn" * 16])[0]
    assert found
    assert sum(p for _, p in found) > 0.01


def test_outputs_that_do_not_follow_their_inputs_are_bearable(new):
    rng = random.Random(0)
    X = [word(rng) for _ in range(100)]
    Y = [{"".join(rng.choice("klmno") for _ in range(30))} for _ in X]
    assert len(fitted(new(), X, Y).candidates(X[:3])) == 3


@pytest.mark.parametrize("wrong", [{"beam": 0}, {"beam": 1.5}])
def test_wrong_parameters(new, wrong):
    with pytest.raises(ParameterError, match="beam"):
        fitted(new(**wrong), ["a"], [{"b"}])


def test_wrong_use(new):
    with pytest.raises(NotFittedError, match="bind"):
        new().fit(["a"], None)
    with pytest.raises(DataError, match=r"\(2, 3\)"):
        SequenceSetGenerator(new()).fit(np.zeros((2, 3)), [{"a"}, {"b"}])


def test_large_sets_are_listed_whole(new):
    X = ["".join(p) for p in zip("abcabcab", "bcacabbc", "cabbcaca", strict=True)]
    Y = [{a + b + c for a in x for b in x.upper() for c in "0123456789"} for x in X]
    model = SequenceSetGenerator(new(), TopK(60), random_state=0)
    assert {len(found) for found in model.fit(X, Y).predict(X)} == {60}
