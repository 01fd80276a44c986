"""Forests that choose what each input token produces, alone in a generator."""

import itertools
import random
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from setlearn import SequenceSetGenerator, load, save
from setlearn.errors import DataError, NotFittedError, ParameterError
from setlearn.metrics import mean_f1
from setlearn.scorers import AlignedTrees
from setlearn.scorers.binary_forest import ForestBuilder
from setlearn.scorers.units import Contexts
from setlearn.trie import Trie
from setlearn.vocabulary import Tokeniser, Vocabulary

SOUNDS = {"a": "A", "e": "E", "i": "I", "t": "T", "n": "N", "s": "S", "x": "KS", "h": ""}


def word(rng):
    return "".join(rng.choice("aeitnsxhc") for _ in range(rng.randint(2, 6)))


def spoken(text):
    """A c is soft before e and i, an x has two sounds, an h has none."""
    text += " "
    return "".join(
        ("S" if after in "ei" else "K") if letter == "c" else SOUNDS[letter]
        for letter, after in itertools.pairwise(text)
    )


def language(n, seed):
    rng = random.Random(seed)
    words = [w for w in dict.fromkeys(word(rng) for _ in range(3 * n)) if spoken(w)][:n]
    return words, [{spoken(w)} for w in words]


def fitted(X, Y, **parameters):
    """A scorer outside of a generator."""
    tokeniser = Tokeniser("char")
    sets = [frozenset(elements) for elements in Y]
    vocabulary = Vocabulary.learn(sets, tokeniser)
    trie = Trie.of(vocabulary.encode(sets), len(X))
    return AlignedTrees(**parameters).bind(vocabulary, tokeniser).fit(X, trie)


@pytest.fixture(scope="module")
def scorer():
    return fitted(*language(150, 0), n_trees=10)


def test_a_small_language_is_learned():
    model = SequenceSetGenerator(AlignedTrees(n_trees=20), random_state=0).fit(*language(300, 0))
    X, Y = language(100, 1)
    assert mean_f1(Y, model.predict(X)) > 0.97


def test_several_outputs_share_the_probability():
    X, Y = language(200, 0)
    both = [elements | {y.replace("A", "O") for y in elements} for elements in Y]
    model = SequenceSetGenerator(AlignedTrees(n_trees=20), random_state=0).fit(X, both)
    assert model.predict(["nat"]) == [{"NAT", "NOT"}]


@pytest.mark.parametrize("text", ["c", "xe", "chi", "cexa"])
def test_candidates_are_those_of_all_sequences_of_chunks(text):
    X, Y = language(40, 3)
    mixed = [{y, y[::-1]} for (y,) in Y]
    scorer = fitted(X, mixed, n_trees=4, beam=100_000)
    source, length = scorer.reader_.read([text]).take(slice(None))

    def extended(chunks):
        if len(chunks) == len(text):
            yield chunks, 1.0
            return
        row = np.array([chunks], dtype=np.intp).reshape(1, -1)
        found = scorer._choices(Contexts(source, length, np.array([0]), len(chunks), row))
        assert found.probability.sum() == pytest.approx(1)
        for chunk, p in zip(found.chunk.tolist(), found.probability.tolist(), strict=True):
            yield from ((rest, p * q) for rest, q in extended([*chunks, chunk]))

    scores = {}
    for chunks, p in extended([]):
        output = tuple(c for chunk in chunks for c in scorer.chunks_.tokens(chunk, -1))
        scores[output] = scores.get(output, 0) + p
    scores.pop((), None)
    size, total = np.mean([len(y) for y in mixed]), sum(scores.values())
    expected = {y: 1 - (1 - p / total) ** size for y, p in scores.items()}
    assert dict(scorer.candidates([text])[0]) == pytest.approx(expected, abs=1e-7)


def test_a_narrow_beam_lists_less():
    X, Y = language(60, 3)
    mixed = [{y, y[::-1]} for (y,) in Y]
    wide, narrow = (fitted(X, mixed, n_trees=5, beam=beam).candidates(X) for beam in (500, 3))
    assert max(map(len, narrow)) <= 3 < max(map(len, wide))
    for few, many in zip(narrow, wide, strict=True):
        assert {y for y, _ in few} <= {y for y, _ in many}


def test_scores_do_not_depend_on_the_batch(scorer):
    X = language(150, 2)[0]
    alone = [scorer.candidates([x])[0] for x in X[:20]]
    assert scorer.candidates(X)[:20] == alone
    assert scorer.candidates(X[::-1])[::-1][:20] == alone


def test_the_same_seed_gives_the_same_scores_in_any_process(scorer):
    code = (
        "from tests.scorers.test_aligned_trees import fitted, language\n"
        "print(fitted(*language(150, 0), n_trees=10).candidates(['cexa', 'hin']))"
    )
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == str(scorer.candidates(["cexa", "hin"]))


def test_a_saved_model_gives_the_same_answers(tmp_path):
    X, Y = language(100, 0)
    model = SequenceSetGenerator(AlignedTrees(n_trees=5), random_state=0).fit(X, Y)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    tests = language(30, 1)[0]
    assert loaded.predict_ranked(tests, top=5) == model.predict_ranked(tests, top=5)


def test_unseen_and_rare_tokens_are_copied_where_others_are():
    rng = random.Random(0)
    X = ["".join(rng.choice("abcdef") for _ in range(5)) for _ in range(200)]
    Y = [{x.replace("b", "")} for x in X]
    # "z" is known as a token of outputs, "q" was seen in one input, "é" nowhere.
    scorer = fitted([*X, "aqa", "a"], [*Y, {"aqa"}, {"az"}], n_trees=20)
    names = scorer.vocabulary_.tokens

    def best(text):
        return scorer.candidates([text])[0][0][0]

    assert [names[c - 1] for c in best("abz")] == ["a", "z"]
    assert [names[c - 1] for c in best("qcb")] == ["q", "c"]
    assert best("aéb")[1:] == (-2,)


def test_empty_sets_have_the_probability_of_their_share():
    X, Y = language(40, 0)
    Y = [set() if k % 4 == 0 else elements for k, elements in enumerate(Y)]
    scorer = fitted(X, Y, n_trees=5)
    for candidates in scorer.candidates(["cat", ""]):
        assert dict(candidates)[()] == 0.25
        assert sum(p for y, p in candidates if y) <= 0.75 + 1e-6


def test_nothing_but_empty_sets():
    scorer = fitted(["a", "b"], [set(), set()])
    assert scorer.candidates(["a", "c"]) == [[((), 1.0)]] * 2


def test_sets_of_sets_are_sequences_in_ascending_order():
    X, Y = language(120, 0)
    scorer = fitted(X, [{frozenset(y)} for (y,) in Y], n_trees=10)
    candidates = [y for found in scorer.candidates(X) for y, _ in found]
    assert candidates
    assert all(list(y) == sorted(set(y)) for y in candidates)


def test_long_inputs_and_large_vocabularies_are_skipped_in_little_time():
    began = time.monotonic()
    X, Y = language(60, 0)
    scorer = fitted([*X, "at" * 500], [*Y, {"AT" * 500}], n_trees=5)
    assert scorer.candidates(["at" * 500]) == [[]]
    many = [[k] for k in range(2500)]
    scorer = fitted(many, [{(k,)} for k in range(2500)], n_trees=5)
    assert scorer.candidates([[3]]) == [[]]
    assert time.monotonic() - began < 20


def test_outputs_that_do_not_follow_their_inputs_are_bearable():
    rng = random.Random(0)
    X = [word(rng) for _ in range(100)]
    Y = [{"".join(rng.choice("klmno") for _ in range(30))} for _ in X]
    assert len(fitted(X, Y, n_trees=5).candidates(X[:3])) == 3


def test_only_some_pairs_are_used_if_there_are_many():
    scorer = fitted(*language(150, 0), n_trees=3, max_pairs=10)
    full = fitted(*language(150, 0), n_trees=3)
    assert len(scorer.forests_.feature) < len(full.forests_.feature) / 2


@pytest.mark.parametrize(
    "wrong", [{"n_trees": 0}, {"max_features": 0}, {"beam": 1.5}, {"window": -1}, {"max_pairs": 0}]
)
def test_wrong_parameters(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        fitted(["a"], [{"b"}], **wrong)


def test_wrong_use():
    with pytest.raises(NotFittedError, match="bind"):
        AlignedTrees().fit(["a"], None)
    with pytest.raises(DataError, match=r"\(2, 3\)"):
        SequenceSetGenerator(AlignedTrees()).fit(np.zeros((2, 3)), [{"a"}, {"b"}])


def test_small_forests_say_the_same_as_those_of_scikit_learn():
    rng = np.random.RandomState(0)
    value = rng.randint(0, 4, (300, 5))
    rows = value + 4 * np.arange(5)
    labels = (value[:, 0] + value[:, 1] * (value[:, 2] == 1)) % 5 + rng.randint(0, 2, 300)
    builder = ForestBuilder(300, 0.3)
    builder.add(rows[:200], labels[:200], rng)
    forests = builder.forests()
    row, label, p = forests.predict(np.zeros(100, int), rows[200:], np.repeat(np.arange(5), 4))
    found = np.zeros((100, labels.max() + 1))
    found[row, label] = p
    one_hot = (rows[:, :, None] == np.arange(20)).any(axis=1)
    trees = ExtraTreesClassifier(300, max_features=0.3, random_state=1)
    expected = trees.fit(one_hot[:200], labels[:200]).predict_proba(one_hot[200:])
    # Both are averages over random trees.
    assert abs(found - expected).mean() < 0.02
    assert abs(found - expected).max() < 0.15
