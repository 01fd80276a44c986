"""Paradigms by suffix: inflect an input as the training inputs that end like it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher

from benchmarks.sequence_data import Tokens

SPACE = " "


@dataclass(frozen=True)
class EditScript:
    """Makes an output out of an input: keep one part of it and add tokens on both sides.

    The part lies between the tokens ``skipped`` at the start of the word number ``word`` and the
    tokens ``stripped`` at the end of the input. It may be empty.
    """

    word: int
    skipped: Tokens
    stripped: Tokens
    before: Tokens
    after: Tokens

    def apply(self, x: Tokens) -> Tokens | None:
        """Return the output, or None if the input lacks the tokens that are to be removed."""
        starts = word_starts(x)
        if self.word >= len(starts):
            return None
        first, last = starts[self.word] + len(self.skipped), len(x) - len(self.stripped)
        removed = x[starts[self.word] : first], x[last:]
        if first > last or removed != (self.skipped, self.stripped):
            return None
        return self.before + x[first:last] + self.after


def word_starts(x: Tokens) -> list[int]:
    """Return where the words of an input start, if some of its tokens are spaces."""
    return [0] + [i + 1 for i, token in enumerate(x) if token == SPACE]


def edit_script(x: Tokens, y: Tokens) -> EditScript:
    """Return the script that turns x into y.

    A common prefix of y and the rest of the input from some word on is kept, since endings change
    most. Where another common part is more than twice as long, that part is kept.
    """
    starts = word_starts(x)
    shared, _, word = max((common_prefix(x[first:], y), -w, w) for w, first in enumerate(starts))
    first, position = starts[word], 0
    longest = SequenceMatcher(None, x, y, autojunk=False).find_longest_match()
    if longest.size > 2 * shared:
        first, position, shared = longest.a, longest.b, longest.size
        word = sum(start <= first for start in starts) - 1
    if shared == 0:
        word, first = len(starts) - 1, starts[-1]
    return EditScript(
        word, x[starts[word] : first], x[first + shared :], y[:position], y[position + shared :]
    )


def common_prefix(a: Tokens, b: Tokens) -> int:
    """Return how many tokens two sequences share at their start."""
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


class SuffixRules:
    """Use the paradigm, a set of edit scripts, of the longest suffix seen in training.

    If the input has several words, such as a part of speech and a lemma, the first one has to be
    the same. Among the paradigms of a suffix the most frequent one is used.
    """

    def fit(self, X: list[Tokens], Y: list[frozenset[Tokens]]) -> SuffixRules:
        self.paradigms_ = defaultdict(Counter)
        for x, elements in zip(X, Y, strict=True):
            paradigm = frozenset(edit_script(x, y) for y in elements)
            for key in keys(x):
                self.paradigms_[key][paradigm] += 1
        return self

    def predict(self, X: list[Tokens]) -> list[frozenset[Tokens]]:
        return [self._inflect(x) for x in X]

    def _inflect(self, x: Tokens) -> frozenset[Tokens]:
        for key in keys(x):
            for paradigm, _ in self.paradigms_.get(key, Counter()).most_common():
                outputs = [script.apply(x) for script in paradigm]
                if None not in outputs:
                    return frozenset(outputs)
        return frozenset()


def keys(x: Tokens) -> list[tuple[Tokens, Tokens]]:
    """Return the suffixes of an input with its first word, then without it, longest first."""
    starts = word_starts(x)
    head = x[: starts[1] - 1] if len(starts) > 1 else ()
    suffixes = [x[i:] for i in range(starts[-1], len(x) + 1)]
    return [(head, suffix) for suffix in suffixes] + [((), suffix) for suffix in suffixes if head]
