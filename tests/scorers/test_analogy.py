"""The analogy scorer, alone in a generator."""

import random
import time

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

from setlearn import SequenceSetGenerator, load, save
from setlearn.errors import DataError, NotFittedError, ParameterError, UnseenTokenWarning
from setlearn.metrics import mean_f1
from setlearn.rules import ExpectedF, Threshold
from setlearn.scorers import AnalogyScorer
from setlearn.scorers.evidence_weights import _shifted
from setlearn.trie import END, Sequences, Trie
from setlearn.vocabulary import Tokeniser, Vocabulary

VOWELS = "aeiou"


def stem(rng):
    syllables = (
        rng.choice("bdgkmnprst") + rng.choice(VOWELS) for _ in range(rng.choice([1, 2, 3]))
    )
    return "".join(syllables) + rng.choice("bdgkmnprst" + " " * 5).strip()


def forms(kind, word):
    """Suffixes that agree with the last vowel, and a consonant that is doubled."""
    last = [letter for letter in word if letter in VOWELS][-1]
    back = "a" if last in "aou" else "e"
    if kind == "verb":
        return {word, word + (word[-1] if word[-1] not in VOWELS else "") + "in", f"to{word}"}
    return {word, f"{word}l{back}r", word + ("" if word[-1] in VOWELS else back) + "m"}


def language(n, seed):
    rng = random.Random(seed)
    words = dict.fromkeys((rng.choice(["noun", "verb"]), stem(rng)) for _ in range(3 * n))
    pairs = list(words)[:n]
    return [f"{kind} {word}" for kind, word in pairs], [forms(*pair) for pair in pairs]


def by_suffix_rule(X, Y, tests):
    """The edits of the training input with the longest common ending, of the same kind."""
    answers = []
    for test in tests:
        kind, word = test.split()
        alike = [(x.split()[1], y) for x, y in zip(X, Y, strict=True) if x.startswith(kind)]
        best, elements = max(alike, key=lambda pair: common_ending(word, pair[0]))
        answers.append({word + y[len(best) :] for y in elements})
    return answers


def common_ending(a, b):
    return next((k for k in range(1, min(len(a), len(b)) + 1) if a[-k] != b[-k]), 99)


@pytest.fixture(scope="module")
def model():
    return SequenceSetGenerator(AnalogyScorer(), ExpectedF(min_size=1)).fit(*language(120, 0))


TESTS, SETS = language(100, 1)


def test_a_small_language_is_learned_better_than_by_suffixes(model):
    f1 = mean_f1(SETS, model.predict(TESTS))
    assert f1 > 0.93
    assert f1 > mean_f1(SETS, by_suffix_rule(*language(120, 0), TESTS)) + 0.1


def test_probabilities_are_calibrated(model):
    pairs = [
        (probability, element in right)
        for ranking, right in zip(model.predict_ranked(TESTS, top=8), SETS, strict=True)
        for element, probability in ranking
    ]
    scores, right = map(np.array, zip(*pairs, strict=True))
    assert abs(scores.mean() - right.mean()) < 0.05
    for low, high in ((0.0, 0.3), (0.7, 1.01)):
        part = (scores >= low) & (scores < high)
        assert abs(scores[part].mean() - right[part].mean()) < 0.1


def test_scores_are_probabilities_that_fall_along_the_tree(model):
    trie = model._trie(SETS[:20])
    nodes = model.scorer_.score_trees(TESTS[:20], trie)
    assert (nodes.membership >= 0).all()
    assert (nodes.membership <= 1).all()
    parents = nodes.membership[trie.parent, trie.token][trie.parent >= 0]
    assert (nodes.membership.max(axis=1)[trie.parent >= 0] <= parents + 1e-12).all()


def test_candidates_are_what_the_generator_ranks(model):
    scorer, vocabulary = model.scorer_.scorer, model.vocabulary_
    [candidates] = scorer.candidates(TESTS[:1])
    [ranking] = model.predict_ranked(TESTS[:1], top=5)
    best = [(vocabulary.decode(sequence), p) for sequence, p in candidates[:5]]
    assert [p for _, p in ranking] == pytest.approx([p for _, p in best])
    assert set(dict(ranking)) == set(dict(best))


def test_answers_do_not_depend_on_what_is_asked_together(model):
    together = model.scorer_.scorer.candidates(TESTS)
    assert together == [model.scorer_.scorer.candidates([x])[0] for x in TESTS]


def test_every_verb_works_and_survives_saving(model, tmp_path):
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    known = [{min(elements)} for elements in SETS[:5]]
    assert again.predict_ranked(TESTS) == model.predict_ranked(TESTS)
    assert again.complete(TESTS[:5], known) == model.complete(TESTS[:5], known)
    assert again.trace(TESTS[0]).result == model.predict(TESTS[:1])[0]
    assert again.facts()["scorer"] == "AnalogyScorer"


def test_two_fits_are_equal():
    X, Y = language(40, 2)
    first, second = (
        SequenceSetGenerator(AnalogyScorer(), random_state=0).fit(X, Y) for _ in range(2)
    )
    assert first.predict_ranked(TESTS, top=3) == second.predict_ranked(TESTS, top=3)


def test_answers_of_like_heads_are_transferred():
    """Heads of one class have the same answers; each head is left out of one relation."""
    heads = {f"{c}{i}": c for c in "ab" for i in range(5)}
    relations = {
        "eats": {"a": {"grass", "hay"}, "b": {"fish"}},
        "has": {"a": {"hoof"}, "b": {"fin"}},
    }
    relations["likes"] = {"a": {"rain", "sun"}, "b": {"sea"}}
    facts = {(h, r): answers[c] for h, c in heads.items() for r, answers in relations.items()}
    held_out = {("a1", "eats"), ("b2", "has"), ("b4", "likes")}
    X = [list(x) for x in facts if x not in held_out]
    Y = [{(y,) for y in facts[tuple(x)]} for x in X]
    model = SequenceSetGenerator(AnalogyScorer(), tokens="word").fit(X, Y)
    for x in held_out:
        assert model.predict([list(x)]) == [{(y,) for y in facts[x]}]


def forms_of_a_name(first, last):
    return {f"{last}, {first}", f"{first} {last[0]}.", f"{first[0]}{last}@x.org".lower()}


def test_first_and_last_names_of_any_length_change_places():
    rng = random.Random(0)
    names = [(stem(rng), stem(rng)) for _ in range(140)]
    X = [f"{first} {last}" for first, last in names]
    Y = [forms_of_a_name(*name) for name in names]
    model = SequenceSetGenerator(AnalogyScorer(), tokens="char", random_state=0)
    model.fit(X[:60], Y[:60])
    exact = np.mean([a == b for a, b in zip(model.predict(X[60:]), Y[60:], strict=True)])
    assert exact > 0.95


def test_a_single_sample():
    model = SequenceSetGenerator(AnalogyScorer()).fit(["ab"], [{"abc"}])
    assert model.predict(["ab"]) == [{"abc"}]


def test_no_elements_at_all():
    model = SequenceSetGenerator(AnalogyScorer()).fit(["ab", "b", "c"] * 4, [set()] * 12)
    with pytest.warns(UnseenTokenWarning, match="cannot be part of predicted sets"):
        assert model.predict(["ab", "x"]) == [set(), set()]


def test_the_empty_set_has_a_probability_of_its_own():
    X = [a + b + c for c in "xy" for a in "abcd" for b in "aeiou"]
    Y = [{x[:-1] + "s"} if x.endswith("x") else set() for x in X]
    model = SequenceSetGenerator(AnalogyScorer()).fit(X, Y)
    nodes = model.scorer_.start(["ebx", "eby"]).nodes
    assert nodes.membership[0, END] < 0.2 < 0.8 < nodes.membership[1, END]
    assert model.predict(["ebx", "eby"]) == [{"ebs"}, set()]


def test_tokens_that_training_has_not_seen_are_copied(model):
    with pytest.warns(UnseenTokenWarning, match="2 of 3 inputs .* such as 'ñ'.*can be copied"):
        forms, *_ = model.predict(["noun ñañu", "", "ñ"])
    assert forms == {"ñañu", "ñañular", "ñañum"}
    first = model.vocabulary_.n_choices - model.vocabulary_.n_stand_ins
    [candidates] = model.scorer_.scorer.candidates(["noun ñaßu"])
    used = {token for sequence, _ in candidates for token in sequence if token >= first}
    assert used == {first, first + 1}


def test_very_long_inputs():
    X, Y = ["ab" * 1500, "cd" * 1500, "ef"], [{"ab"}, {"cd" * 50}, {"ef"}]
    model = SequenceSetGenerator(AnalogyScorer()).fit(X, Y)
    with pytest.warns(UnseenTokenWarning):
        assert len(model.predict([*X, "gh" * 5000])) == 4


def test_a_vocabulary_of_20_000_tokens():
    X = [[f"in{k}", f"group{k % 7}"] for k in range(2000)]
    Y = [{tuple(f"out{10 * k + j}" for j in range(10)), (f"answer{k % 7}",)} for k in range(2000)]
    begin = time.process_time()
    model = SequenceSetGenerator(AnalogyScorer()).fit(X, Y)
    with pytest.warns(UnseenTokenWarning, match="such as 'new'"):
        assert model.predict([["new", "group3"]]) == [{("answer3",)}]
    assert time.process_time() - begin < 60


@pytest.mark.parametrize("seed", range(6))
def test_answers_that_never_recur_are_improbable(seed):
    """Of all answers one recurs by chance; in some splits one of the two samples is held out."""
    rng = random.Random(seed % 2)
    words = ["".join(rng.choices("abcdefgh", k=6)) for _ in range(700)]
    Y = [{"".join(rng.choices("stuvwxyz", k=6))} for _ in words]
    model = SequenceSetGenerator(AnalogyScorer(), random_state=seed).fit(words, Y)
    new = ["".join(rng.choices("abcdefgh", k=6)) for _ in range(50)]
    best = [max(p for _, p in ranking) for ranking in model.predict_ranked(new, top=1)]
    assert max(best) < 0.3
    assert np.mean(best) < 0.02


def test_with_few_right_candidates_only_the_constant_is_learned():
    features = np.array([[-2.0, 5.0], [-1.0, 0.0], [0.0, 0.0], [-2.0, 0.0]] * 25)
    right = np.zeros(100, dtype=bool)
    right[0] = True
    *kept, constant = _shifted(np.array([1.0, 0.0, 0.0]), features, right)
    assert kept == [1.0, 0.0]
    assert expit(features[:, 0] + constant).sum() == pytest.approx(1.5, rel=0.02)


def test_sets_of_sets():
    X = ["a b", "b c", "c d", "d e"] * 3
    Y = [{frozenset(x.split())} for x in X]
    model = SequenceSetGenerator(AnalogyScorer(), tokens="word").fit(X, Y)
    assert model.predict(["d a"]) == [{frozenset("ad")}]


def test_numbers_are_refused():
    with pytest.raises(
        DataError, match=r"texts or lists of tokens, got an array of shape \(4, 3\)"
    ):
        SequenceSetGenerator(AnalogyScorer()).fit(np.zeros((4, 3)), [{"a"}] * 4)


def test_fit_needs_the_tokens_of_elements():
    trie = Trie.of(Sequences.of([[[1]]]), 1)
    with pytest.raises(NotFittedError, match="call bind"):
        AnalogyScorer().fit(["a"], trie)
    tokeniser = Tokeniser("char")
    scorer = AnalogyScorer().bind(Vocabulary(("a",), str, tokeniser), tokeniser)
    assert scorer.fit(["a"], trie).candidates(["a"])[0][0][0] == (1,)


@pytest.mark.parametrize("wrong", [{"max_candidates": 0}, {"smoothing": 0}, {"penalty": "x"}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        SequenceSetGenerator(AnalogyScorer(**wrong)).fit(["a"], [{"b"}])


def test_it_is_cloned_without_what_it_has_learned(model):
    scorer = model.scorer_.scorer
    assert clone(scorer).get_params() == scorer.get_params()
    assert SequenceSetGenerator(scorer, Threshold(0.5)).fit(TESTS, SETS).scorer_.scorer is scorer
