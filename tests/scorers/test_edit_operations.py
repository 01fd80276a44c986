"""Operations explain the training elements that they were found for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setlearn.scorers.edit_operations import Add, Edits
from setlearn.scorers.operation_learning import learn_operations

WORDS = st.lists(st.integers(1, 4), min_size=1, max_size=7).map(tuple)
SAMPLES = st.lists(st.tuples(WORDS, st.frozensets(WORDS, max_size=4)), min_size=1, max_size=6)


def numbers(*texts):
    return [tuple(map(ord, text)) for text in texts]


def results(layout, operations, x):
    edited = Edits(operations, layout).on(x)
    return [edited.apply(k) for k in range(len(operations))]


def applied(layout, operations, x):
    """What operations make of a text."""
    [x] = numbers(x)
    made = results(layout, operations, x)
    return {"".join(map(chr, result[0])) for result in made if result is not None}


def learned(pairs):
    X = numbers(*pairs)
    Y = [frozenset(numbers(*elements)) for elements in pairs.values()]
    letters = {n for x in X for n in x if chr(n).isalnum()}
    separators = {n for x in X for n in x} - letters
    return learn_operations(X, Y, separators)


@given(SAMPLES)
def test_operations_make_their_own_training_elements_and_nothing_else(samples):
    X, Y = zip(*samples, strict=True)
    layout, labels = learn_operations(X, Y, None)
    for x, elements, operations in zip(X, Y, labels, strict=True):
        made = results(layout, operations, x)
        assert all(result is not None for result in made)
        assert {sequence for sequence, _ in made} == (elements or {()})


def test_the_context_is_what_stands_before_the_first_space():
    pairs = {"noun cat": ["cats"], "verb walk": ["walks"], "adjective red": ["redder"]}
    layout, labels = learned(pairs)
    assert layout.stem(numbers("adverb so")[0]) == (7, 9)
    assert applied(layout, labels[0], "adverb so") == {"sos"}


def test_doubling_is_an_operation():
    pairs = {"stop": ["stopping"], "beg": ["begging"], "run": ["running"], "walk": ["walking"]}
    layout, labels = learned(pairs)
    assert "hugging" in applied(layout, labels[0], "hug")


def test_prefixes_infixes_and_whole_words_are_copied():
    stems = ["kita", "bulo", "sagad", "linis", "tapu"]
    layout, labels = learned({s: [f"ma{s}", f"{s[0]}um{s[1:]}", f"{s}-{s}"] for s in stems})
    assert {"madiga", "dumiga", "diga-diga"} <= applied(layout, labels[0], "diga")


def test_elements_that_copy_nothing_are_constants():
    layout, labels = learned({"be": ["was"], "go": ["xyz"]})
    assert labels[0] == [(Add(tuple(map(ord, "was"))),)]
    assert applied(layout, labels[0], "anything") == {"was"}


def test_very_long_sequences_are_constants():
    x = tuple(range(1, 2000))
    layout, labels = learn_operations([x, x[:5]], [{x}, {x[:5]}], None)
    assert labels[0][0] == (Add(x),)
    assert results(layout, labels[1][:1], x[:4]) != [None]


def test_a_copy_by_chance_is_not_believed_because_it_explains_what_others_explain_better():
    """The d of "decided" is its first letter, as the s of "skis" is, but "add s" explains that."""
    nouns = ["ski", "sofa", "star", "sun", "cat", "dog", "pea", "tree"]
    pairs = {noun: [f"{noun}s"] for noun in nouns} | {"decide": ["decided"], "bake": ["baked"]}
    layout, labels = learned(pairs)
    assert applied(layout, labels[8], "promise") == {"promised"}


def test_a_short_copy_is_counted_from_the_end_of_the_input():
    """Both adjectives have five letters, and the copied first letters of others recur."""
    nouns = ["dad", "pope", "sofa", "statue", "bed", "umbrella", "cat", "dog"]
    pairs = {noun: [f"{noun}{noun[:2]}"] for noun in nouns}
    pairs |= {"baggy": ["baggier"], "lucky": ["luckier"]}
    layout, labels = learned(pairs)
    assert applied(layout, labels[8], "stingy") == {"stingier"}


NAMES = ["Ivan Pavlov", "Marie Curie", "Bo Li", "Alexander Fleming", "Max Born", "Jo Sternberg"]


def last_first(name):
    first, last = name.split()
    return f"{last}, {first}"


def initial_last(name):
    first, last = name.split()
    return f"{first[0]}{last}@x.org"


@pytest.mark.parametrize("made", [last_first, initial_last])
def test_parts_are_counted_from_the_edges_of_inputs_and_separators(made):
    """One operation explains all names: their parts have no length in common."""
    layout, labels = learned({name: [made(name)] for name in NAMES})
    common = set.intersection(*map(set, labels))
    assert applied(layout, common, "Emmy Noether") == {made("Emmy Noether")}


def test_parts_far_from_the_stem_are_counted_from_the_nearest_edge():
    """There is more between the first and the last word than `REACH`."""
    middles = ["Amadeus Theophilus", "a b c d e f g h i j", "Emanuel Wilhelm Karl"]
    pairs = {
        name.replace(" ", f" {middle} "): [last_first(name)]
        for name, middle in zip(NAMES, middles * 2, strict=True)
    }
    layout, labels = learned(pairs)
    common = set.intersection(*map(set, labels))
    assert applied(layout, common, "Eva Charlotte Annemarie Orff") == {"Orff, Eva"}
