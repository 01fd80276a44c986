"""What is special about units that trees choose."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from setlearn.errors import ParameterError
from setlearn.scorers import AlignedTrees
from setlearn.scorers.binary_forest import ForestBuilder
from setlearn.scorers.unit_features import endings_of
from setlearn.scorers.units import ChunkTable, Contexts
from setlearn.vocabulary import Tokeniser, Vocabulary
from tests.scorers.toy_language import fitted, language


def test_the_chunks_of_a_position_share_a_probability_of_one():
    scorer = fitted(AlignedTrees(n_trees=5), *language(60, 0))
    source, length = scorer.reader_.read(["cat", "éxe"]).take(slice(None))
    before = np.zeros((2, 0), dtype=np.intp)
    found = scorer._choices(Contexts(source, length, np.arange(2), 0, before))
    assert np.bincount(found.context, found.probability) == pytest.approx([1, 1])


def test_only_some_pairs_are_used_if_there_are_many():
    few, all_of_them = (
        fitted(AlignedTrees(n_trees=3, max_pairs=n), *language(150, 0)) for n in (10, 1000)
    )
    assert len(few.forests_.feature) < len(all_of_them.forests_.feature) / 2


def test_endings_of_tokens_are_counted():
    sounds = [("AA0", "BB0", "CC0", "DD0"), ("AA1", "T", "K", "0")]
    vocabulary = Vocabulary.learn([frozenset(sounds)], Tokeniser("char"))
    number = {token: k for k, token in enumerate(vocabulary.tokens, 1)}
    table = ChunkTable(vocabulary.n_choices, ((number["AA0"], number["T"], number["BB0"]),))
    counts = endings_of(vocabulary, table)
    assert counts.shape == (len(table), 1)
    assert counts[number["DD0"]] == 1
    assert counts[number["0"]] == counts[number["AA1"]] == counts[0] == 0
    assert counts[vocabulary.n_choices] == 2


@pytest.mark.parametrize(
    "wrong", [{"n_trees": 0}, {"max_features": 0}, {"window": -1}, {"max_pairs": 0}]
)
def test_wrong_parameters(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        fitted(AlignedTrees(**wrong), ["a"], [{"b"}])


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
