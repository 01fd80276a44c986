import numpy as np
import pytest
from benchmarks.sequence_data import benchmark_split, data_folder, development_split
from benchmarks.yardsticks.aligned_trees import AlignedTrees
from benchmarks.yardsticks.alignment import Aligner
from benchmarks.yardsticks.cut import Cut
from benchmarks.yardsticks.joint_ngram import JointNgram, KneserNey
from benchmarks.yardsticks.nearest import NearestNeighbours
from benchmarks.yardsticks.suffix_rules import SuffixRules, edit_script
from benchmarks.yardsticks.token_analogy import TokenAnalogy

needs_data = pytest.mark.skipif(not data_folder().exists(), reason="the data are not here")

SOUNDS = {"a": "A", "b": "B", "c": "K", "h": "", "x": "K S", "é": "E"}


def words(texts):
    return [tuple(text) for text in texts]


def spoken(word):
    return tuple(" ".join(SOUNDS[letter] for letter in word).split())


@pytest.fixture
def pairs():
    rng = np.random.RandomState(0)
    X = [tuple(rng.choice(list(SOUNDS), size=rng.randint(1, 8))) for _ in range(200)]
    return X, [spoken(x) for x in X]


def test_aligner_finds_what_each_letter_produces(pairs):
    X, Y = pairs
    chunks = Aligner().align(X, Y)
    expected = [[tuple(SOUNDS[letter].split()) for letter in x] for x in X]
    right = np.mean([a == b for a, b in zip(chunks, expected, strict=True)])
    assert right > 0.9


def test_aligned_chunks_join_to_the_output():
    X = words(["a", "ab", "abc"])
    Y = words(["", "ABABABAB", "C"])
    for x, y, chunks in zip(X, Y, Aligner().align(X, Y), strict=True):
        assert len(chunks) == len(x)
        assert sum(chunks, ()) == y


@pytest.mark.parametrize(
    ("x", "y", "other", "expected"),
    [
        ("walk", "walked", "talk", "talked"),
        ("verb walk", "walked", "verb talk", "talked"),
        ("sing", "sang", "ring", "rang"),
        ("machen", "gemacht", "lachen", "gelacht"),
        ("good", "better", "mad", None),
        ("make", "making", "walk", None),
    ],
)
def test_edit_scripts_carry_over_to_similar_inputs(x, y, other, expected):
    output = edit_script(tuple(x), tuple(y)).apply(tuple(other))
    assert output == (None if expected is None else tuple(expected))


def test_suffix_rules_use_the_longest_suffix_after_the_same_first_word():
    X = words(["noun cat", "noun box", "noun dog", "verb cat", "verb go"])
    Y = [{"cat", "cats"}, {"box", "boxes"}, {"dog", "dogs"}, {"catting"}, {"going"}]
    model = SuffixRules().fit(X, [frozenset(words(elements)) for elements in Y])
    predicted = model.predict(words(["noun fox", "noun hat", "verb do"]))
    expected = [{"fox", "foxes"}, {"hat", "hats"}, {"doing"}]
    assert predicted == [frozenset(words(elements)) for elements in expected]


def test_kneser_ney_gives_probabilities_that_add_up_to_one():
    model = KneserNey(3).fit([[2, 3, 2, 4], [2, 3, 4], [4, 4, 2]], 5)
    node = model.start()
    for unit in (2, 3, 4):
        total = sum(model.probability(node, choice) for choice in range(5))
        assert total == pytest.approx(1)
        node = model.following(node, unit)


@pytest.mark.parametrize("model", [JointNgram(order=3), AlignedTrees(n_trees=5)])
def test_transducers_learn_a_simple_spelling(model, pairs):
    X, Y = pairs
    model.fit(X, [frozenset([y]) for y in Y])
    new = words(["baxé", "chab", "qa"])  # q was never seen and produces nothing
    assert model.top(new) == [("B", "A", "K", "S", "E"), ("K", "A", "B"), ("A",)]
    assert model.predict(new) == [frozenset([answer]) for answer in model.top(new)]


def test_neighbours_share_tokens():
    X = [("lion", "eats"), ("tiger", "eats"), ("lion", "is"), ("tiger", "is")] * 3
    Y = [frozenset([("meat",)]), frozenset([("meat",)]), frozenset(), frozenset()] * 3
    assert NearestNeighbours().fit(X, Y).predict([("cat", "eats")]) == [frozenset([("meat",)])]


def test_analogy_finds_tokens_with_similar_roles():
    animals, foods = ["lion", "tiger", "wolf"], ["corn", "grass", "rice"]
    facts = [((animal, "eats"), {"meat"}) for animal in animals]
    facts += [((animal, "is"), {"animal", "alive"}) for animal in animals]
    facts += [((food, "eats"), {"light"}) for food in foods]
    facts += [((food, "is"), {"plant", "alive"}) for food in foods]
    facts += [(("cat", "is"), {"animal", "alive"}), (("oak", "is"), {"plant", "alive"})]
    X, Y = zip(*facts, strict=True)
    model = TokenAnalogy().fit(X, [frozenset((y,) for y in elements) for elements in Y])
    predicted = model.predict([("cat", "eats"), ("oak", "eats"), ("stone", "is")])
    assert predicted[:2] == [{("meat",)}, {("light",)}]
    assert ("alive",) in predicted[2]  # of a token never seen


def test_cut_keeps_one_answer_if_no_set_is_empty():
    rankings = [[("a", 0.9), ("b", 0.1)], [("a", 0.5), ("b", 0.4)]]
    cut = Cut().fit(rankings, [frozenset("a"), frozenset("ab")])
    assert cut.apply([*rankings, [("c", 0.01)]]) == [{"a"}, {"a", "b"}, {"c"}]


@needs_data
@pytest.mark.parametrize("name", ["babi_qa8", "cmudict_multi", "g2p_hun", "kg_umls"])
def test_splits_share_no_samples(name):
    tested = set()
    for seed in range(2):
        train, test = benchmark_split(name, seed)
        assert not set(train.rows) & set(test.rows)
        tested |= set(test.rows)
    train, held_out = development_split(name, 0)
    assert not set(train.rows) & set(held_out.rows)
    assert not tested & (set(train.rows) | set(held_out.rows))


def test_missing_data_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SETLEARN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"kg_umls\.jsonl\.gz"):
        benchmark_split("kg_umls", 0)


def test_unknown_data_sets_are_refused():
    with pytest.raises(ValueError, match="choose from cmudict_multi"):
        development_split("imagenet", 0)
