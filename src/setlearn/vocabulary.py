"""Tokens and ids: turns the sequences of a set into numbers, and back."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np

from setlearn.errors import DataError, KindError, ParameterError
from setlearn.nodes import BoolArray, IntArray
from setlearn.ordering import canonical_rank
from setlearn.savable import savable
from setlearn.set_reading import LabelSets, check_one_kind, read_sets_of_sequences
from setlearn.token_guesses import NAMED_SPLITS
from setlearn.trie import END, Sequences

__all__ = ["InputTokens", "Split", "StandIns", "Tokeniser", "Vocabulary", "read_elements"]

Split: TypeAlias = Literal["char", "word", "text"] | Callable[[str], Sequence[str]]
"""How a text is split into tokens: by character, at white space, into words and punctuation marks,
or by a function."""

StandIns: TypeAlias = tuple[Hashable, ...]
"""The tokens of one input that its stand-ins stand for, in their order."""

JOINTS = ("", " ")

MOST_SPELLED = 1000
"""Vocabularies with more tokens have no mask of how these are spelled."""


@savable()
@dataclass(frozen=True, slots=True)
class Tokeniser:
    """Splits texts into tokens, after converting them to Unicode's composed form (NFC)."""

    split: Split

    def __post_init__(self) -> None:
        if not (callable(self.split) or self.split in NAMED_SPLITS):
            raise ParameterError(
                f'tokens must be "char", "word", "text" or a function of a text, got {self.split!r}'
            )

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text, in order."""
        split = self.split if callable(self.split) else NAMED_SPLITS[self.split]
        return list(split(composed(text)))

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


@savable(names=("seen",))
@dataclass(frozen=True, slots=True, eq=False)
class InputTokens:
    """The tokens that training has seen, and how many tokens of an input may have stand-ins."""

    tokeniser: Tokeniser  # of inputs
    seen: tuple[Hashable, ...]  # in inputs or in sequences
    n_stand_ins: int = 0


@savable(names=("tokens",), parts={"inputs": (InputTokens, None)})
@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The choices for sets of sequences: the end symbol, then every token seen in training.

    After them come stand-ins, if training data show that tokens are copied. Each stands for one
    token of the input at hand that is no choice, in the order in which they occur there.
    An input with fewer such tokens does not have the other stand-ins. Methods that read or write
    sequences take the tokens behind the stand-ins of each input.

    ``kind`` is the type of the elements for the user: str, tuple, or frozenset for sets of sets.
    An inner set is stored as one sequence, with its tokens in ascending order, so that the order
    in which it was written does not matter. ``joint`` is the separator between the tokens of a
    string.
    """

    tokens: tuple[Hashable, ...]  # token k has the id k + 1; the id 0 is END
    kind: type
    tokeniser: Tokeniser
    joint: str = ""
    inputs: InputTokens | None = None

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

    def extended(self, tokens: Iterable[Hashable]) -> Vocabulary:
        """Add those of these tokens that a sequence can have.

        Parameters
        ----------
        tokens : iterable of tokens

        Returns
        -------
        Vocabulary
        """
        every = {*self.tokens, *filter(self._can_be_written, tokens)}
        return replace(self, tokens=tuple(sorted(every, key=canonical_rank)))

    @property
    def n_choices(self) -> int:
        """The number of tokens and stand-ins, plus one for the end symbol."""
        return len(self.tokens) + 1 + self.n_stand_ins

    @property
    def n_stand_ins(self) -> int:
        """How many tokens of an input that are no choices can be copied."""
        return 0 if self.inputs is None else self.inputs.n_stand_ins

    def stand_ins(self, lists: Iterable[Sequence[Hashable]]) -> list[StandIns]:
        """Choose the tokens that stand-ins stand for.

        Parameters
        ----------
        lists : iterable of sequences of tokens
            Those of each input.

        Returns
        -------
        list of tuples
            For each input the first of its tokens that are no choices, but can be tokens of a
            sequence.
        """
        choices = frozenset(self.tokens)
        others = (dict.fromkeys(t for t in tokens if t not in choices) for tokens in lists)
        return [tuple(filter(self._can_be_written, o))[: self.n_stand_ins] for o in others]

    def _can_be_written(self, token: Hashable) -> bool:
        """Whether a sequence with this token is split into the same tokens again."""
        if self.kind is not str:
            return True
        return isinstance(token, str) and list(self.tokeniser(token)) == [token]

    def available(self, n_used: IntArray) -> BoolArray | None:
        """Return which choices inputs have, (n, n_choices).

        Parameters
        ----------
        n_used : array of int, shape (n,)
            How many stand-ins each input uses.

        Returns
        -------
        bool array or None
            None if there are no stand-ins at all.
        """
        if self.n_stand_ins == 0:
            return None
        first = self.n_choices - self.n_stand_ins
        mask: BoolArray = np.arange(self.n_choices) < (first + n_used)[:, None]
        return mask

    def encode(self, sets: LabelSets, stand_ins: Sequence[StandIns] | None = None) -> Sequences:
        """Return the ids of all sequences.

        Parameters
        ----------
        sets : list of frozenset
            Every token must have been seen in training, or have a stand-in.
        stand_ins : sequence of tuples, optional
            Those of the input of each set. By default there are none.

        Returns
        -------
        Sequences
        """
        of_tokens = {token: number for number, token in enumerate(self.tokens, END + 1)}
        coded = []
        for index, elements in enumerate(sets):
            ids = of_tokens
            if stand_ins is not None and stand_ins[index]:
                first = self.n_choices - self.n_stand_ins
                ids = of_tokens | {t: k for k, t in enumerate(stand_ins[index], first)}
            sequences = {tuple(ids[t] for t in _split(e, self.tokeniser)) for e in elements}
            if self.kind is frozenset:
                sequences = {tuple(sorted(sequence)) for sequence in sequences}
            coded.append([list(sequence) for sequence in sorted(sequences)])
        return Sequences.of(coded)

    def split_unseen(
        self, sets: LabelSets, stand_ins: Sequence[StandIns] | None = None
    ) -> tuple[LabelSets, list[tuple[int, Hashable]]]:
        """Return the sets without unseen elements, and the unseen ones as pairs (sample, element).

        An element is unseen if one of its tokens was not seen in training, and has no stand-in.

        Parameters
        ----------
        sets : list of frozenset
        stand_ins : sequence of tuples, optional
            Those of the input of each set. By default there are none.

        Returns
        -------
        known : list of frozenset
        unseen : list of tuple
        """
        seen = frozenset(self.tokens)
        known, unseen = [], []
        for index, elements in enumerate(sets):
            tokens = seen if stand_ins is None else seen.union(stand_ins[index])
            new = {e for e in elements if not tokens.issuperset(_split(e, self.tokeniser))}
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

    def split(self, element: Any) -> Sequence[Hashable]:
        """Return the tokens of an element."""
        return _split(element, self.tokeniser)

    def length(self, element: Any) -> int:
        """Return the number of tokens of an element."""
        return len(self.split(element))

    def decode(self, ids: Iterable[int], stand_ins: StandIns = ()) -> Any:
        """Return the element for a sequence of ids.

        Parameters
        ----------
        ids : iterable of int
        stand_ins : tuple of tokens, default=()
            Those of the input.

        Returns
        -------
        str, tuple or frozenset
        """
        named = (*self.tokens, *stand_ins)
        tokens = [named[number - 1] for number in ids]
        return self.joint.join(tokens) if self.kind is str else self.kind(tokens)  # type: ignore[arg-type]

    def name(self, choice: int, stand_ins: StandIns = ()) -> str:
        """Return the name of a choice for people to read.

        Parameters
        ----------
        choice : int
        stand_ins : tuple of tokens, default=()
            Those of the input.

        Returns
        -------
        str
        """
        if choice == END:
            return "(end)"
        named = (*self.tokens, *stand_ins)
        if choice <= len(named):
            return str(named[choice - 1])
        return f"(unseen token {choice - len(self.tokens)})"


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
