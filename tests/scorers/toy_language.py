"""A small language of letters and sounds, and unit scorers that learn it."""

import itertools
import random

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


def fitted(scorer, X, Y):
    """Fit a scorer outside of a generator."""
    tokeniser = Tokeniser("char")
    sets = [frozenset(elements) for elements in Y]
    vocabulary = Vocabulary.learn(sets, tokeniser)
    trie = Trie.of(vocabulary.encode(sets), len(X))
    return scorer.bind(vocabulary, tokeniser).fit(X, trie)
