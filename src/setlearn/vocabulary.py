"""Tokens and ids: turns the sequences of a set into numbers, and back."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np

from setlearn.errors import DataError, KindError, ParameterError
from setlearn.nodes import BoolArray
from setlearn.ordering import canonical_rank
from setlearn.savable import savable
from setlearn.set_reading import LabelSets, check_one_kind, read_sets_of_sequences
from setlearn.trie import END, Sequences

__all__ = ["Split", "Tokeniser", "Vocabulary", "read_elements"]

Split: TypeAlias = Literal["char", "word"] | Callable[[str], Sequence[str]]
"""How a text is split into tokens: by character, at white space, or by a function."""

JOINTS = ("", " ")

MOST_SPELLED = 1000
"""Vocabularies with more tokens have no mask of how these are spelled."""


@savable()
@dataclass(frozen=True, slots=True)
class Tokeniser:
    """Splits texts into tokens, after converting them to Unicode's composed form (NFC)."""

    split: Split

    def __post_init__(self) -> None:
        if self.split not in ("char", "word") and not callable(self.split):
            raise ParameterError(
                f'tokens must be "char", "word" or a function of a text, got {self.split!r}'
            )

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text, in order."""
        text = composed(text)
        if self.split == "char":
            return list(text)
        return text.split() if self.split == "word" else list(self.split(text))

    def canonical(self, text: str) -> str:
        """Return the text as predictions spell it: composed, with one space between words."""
        return " ".join(self(text)) if self.split == "word" else composed(text)

    def joint(self, texts: Iterable[str]) -> str:
        """Return the separator that turns the tokens of each of these texts back into the text."""
        if self.split in ("char", "word"):
            return "" if self.split == "char" else " "
        texts = list(texts)
        for joint in JOINTS:
            if all(joint.join(self(text)) == text for text in texts):
                return joint
        raise DataError(
            "the tokens of some text in Y cannot be joined to that text again, neither directly "
            "nor with spaces, so predictions could not be written; use tuples of tokens as elements"
        )


@savable(names=("tokens",))
@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The choices for sets of sequences: the end symbol, then every token seen in training.

    ``kind`` is the type of the elements for the user: str, tuple, or frozenset for sets of sets.
    An inner set is stored as one sequence, with its tokens in ascending order, so that the order
    in which it was written does not matter. ``joint`` is the separator between the tokens of a
    string.
    """

    tokens: tuple[Hashable, ...]  # token k has the id k + 1; the id 0 is END
    kind: type
    tokeniser: Tokeniser
    joint: str = ""

    @classmethod
    def learn(cls, sets: LabelSets, tokeniser: Tokeniser) -> Vocabulary:
        """Collect the tokens of training sets.

        Parameters
        ----------
        sets : list of frozenset
            The training sets, as `read_elements` returns them.
        tokeniser : Tokeniser
            Splits strings into tokens.

        Returns
        -------
        Vocabulary
            All tokens, sorted.

        Raises
        ------
        DataError
            If the tokens of a string cannot be joined to that string again.
        KindError
            If the elements are of different kinds.
        """
        kind = check_one_kind(sets, "y") or str
        joint = tokeniser.joint(chain(*sets)) if kind is str else ""  # type: ignore[arg-type]
        tokens = {token for element in chain(*sets) for token in _split(element, tokeniser)}
        return cls(tuple(sorted(tokens, key=canonical_rank)), kind, tokeniser, joint)

    @property
    def n_choices(self) -> int:
        """The number of tokens, plus one for the end symbol."""
        return len(self.tokens) + 1

    def encode(self, sets: LabelSets) -> Sequences:
        """Return the ids of all sequences; every token must have been seen in training."""
        ids = {token: number for number, token in enumerate(self.tokens, END + 1)}
        coded = []
        for elements in sets:
            sequences = {tuple(ids[t] for t in _split(e, self.tokeniser)) for e in elements}
            if self.kind is frozenset:
                sequences = {tuple(sorted(sequence)) for sequence in sequences}
            coded.append([list(sequence) for sequence in sorted(sequences)])
        return Sequences.of(coded)

    def split_unseen(self, sets: LabelSets) -> tuple[LabelSets, list[tuple[int, Hashable]]]:
        """Return the sets without unseen elements, and the unseen ones as pairs (sample, element).

        An element is unseen if one of its tokens was not seen in training.
        """
        seen = frozenset(self.tokens)
        known, unseen = [], []
        for index, elements in enumerate(sets):
            new = {e for e in elements if not seen.issuperset(_split(e, self.tokeniser))}
            unseen += [(index, element) for element in new]
            known.append(elements - new)
        return known, unseen

    def spelled_by(self, tokens: Iterable[Hashable]) -> list[int]:
        """Return the choice that stands for each of these tokens, END for tokens that are none."""
        ids = {token: number for number, token in enumerate(self.tokens, END + 1)}
        return [ids.get(token, END) for token in tokens]

    def spelling(self) -> BoolArray | None:
        """Return which characters each choice is spelled with, as a mask (n_choices, n_parts).

        The first and the last character also count as parts of their own. None if all tokens have
        only one character, or if there are too many tokens for a mask.
        """
        names = [str(token) for token in self.tokens]
        if len(names) >= MOST_SPELLED or all(len(name) == 1 for name in names):
            return None
        parts = [{("any", c) for c in n} | {("first", n[:1]), ("last", n[-1:])} for n in names]
        columns = {part: k for k, part in enumerate(sorted(set(chain(*parts))))}
        mask = np.zeros((self.n_choices, len(columns)), dtype=bool)
        for row, of_token in enumerate(parts, END + 1):
            mask[row, [columns[part] for part in of_token]] = True
        return mask

    def length(self, element: Any) -> int:
        """Return the number of tokens of an element."""
        return len(_split(element, self.tokeniser))

    def decode(self, ids: Iterable[int]) -> Any:
        """Return the element for a sequence of ids."""
        tokens = [self.tokens[number - 1] for number in ids]
        return self.joint.join(tokens) if self.kind is str else self.kind(tokens)  # type: ignore[arg-type]

    def name(self, choice: int) -> str:
        """Return the name of a choice for people to read."""
        return "(end)" if choice == END else str(self.tokens[choice - 1])


def composed(text: str) -> str:
    """Return the text in Unicode's composed form (NFC), so that equal texts are equal strings."""
    return unicodedata.normalize("NFC", text)


def read_elements(Y: Any, tokeniser: Tokeniser, name: str) -> LabelSets:
    """Read sets of sequences, with texts in composed form.

    Parameters
    ----------
    Y : iterable of sets of sequences
        The samples.
    tokeniser : Tokeniser
        Splits strings into tokens.
    name : str
        The name of the argument in error messages.

    Returns
    -------
    list of frozenset
        One set per sample.

    Raises
    ------
    DataError
        If a sequence is empty.
    KindError
        If a sample is not a set, an element is not a sequence, or a token cannot be hashed.
    """
    sets = [
        frozenset(tokeniser.canonical(e) if isinstance(e, str) else e for e in elements)
        for elements in read_sets_of_sequences(Y, name)
    ]
    for index, elements in enumerate(sets):
        for element in elements:
            try:
                tokens = _split(element, tokeniser)
                empty = len(tokens) == 0
                frozenset(tokens)
            except TypeError as error:
                raise KindError(
                    f"sample {index} of {name} holds {element!r}, whose tokens cannot be hashed "
                    f"({error}); use strings, numbers or tuples as tokens"
                ) from error
            if empty:
                raise DataError(
                    f"sample {index} of {name} holds an empty sequence ({element!r}); remove it. "
                    "A set may be empty, but its elements may not"
                )
    return sets


def _split(element: Any, tokeniser: Tokeniser) -> Sequence[Hashable]:
    return tokeniser(element) if isinstance(element, str) else tuple(element)
