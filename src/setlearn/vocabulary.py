"""Tokens and ids: how inputs and the sequences of a set become numbers, and back."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias

from setlearn.errors import DataError, KindError, ParameterError
from setlearn.label_sets import LabelSets
from setlearn.ordering import canonical_rank
from setlearn.sequence_sets import check_one_kind, read_sets_of_sequences
from setlearn.trie import END, Sequences

__all__ = ["Split", "Tokeniser", "Vocabulary", "read_elements"]

Split: TypeAlias = Literal["char", "word"] | Callable[[str], Sequence[str]]
"""How a text becomes tokens: by character, by white space, or by a function."""

JOINTS = ("", " ")


@dataclass(frozen=True, slots=True)
class Tokeniser:
    """Splits texts into tokens, after bringing them into Unicode's composed form (NFC)."""

    split: Split

    def __post_init__(self) -> None:
        if self.split not in ("char", "word") and not callable(self.split):
            raise ParameterError(
                f'tokens must be "char", "word" or a function of a text, got {self.split!r}'
            )

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text, in order."""
        text = composed(text)
        if self.split == "char":
            return list(text)
        return text.split() if self.split == "word" else list(self.split(text))

    def canonical(self, text: str) -> str:
        """The text as answers will spell it: composed, and words one space apart."""
        return " ".join(self(text)) if self.split == "word" else composed(text)

    def joint(self, texts: Iterable[str]) -> str:
        """What to put between tokens to get every one of these texts back."""
        if self.split in ("char", "word"):
            return "" if self.split == "char" else " "
        texts = list(texts)
        for joint in JOINTS:
            if all(joint.join(self(text)) == text for text in texts):
                return joint
        raise DataError(
            "the tokens of some text in Y join neither directly nor with spaces to that text "
            "again, so answers could not be written; give the elements as tuples of tokens"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The choices of a set of sequences: the end symbol, then every token seen in training.

    ``kind`` is what an element is to the user: str, tuple, or frozenset for sets of sets. An
    inner set is one canonical sequence, its tokens in ascending order, so that the order in
    which it was written cannot matter.
    """

    tokens: tuple[Hashable, ...]  # token k has the id k + 1, for 0 is the end
    kind: type
    tokeniser: Tokeniser
    joint: str = ""

    @classmethod
    def learn(cls, sets: LabelSets, tokeniser: Tokeniser) -> Vocabulary:
        """Collect the tokens of training sets."""
        kind = check_one_kind(sets, "y") or str
        joint = tokeniser.joint(chain(*sets)) if kind is str else ""  # type: ignore[arg-type]
        found = {token for element in chain(*sets) for token in _split(element, tokeniser)}
        return cls(tuple(sorted(found, key=canonical_rank)), kind, tokeniser, joint)

    @property
    def n_choices(self) -> int:
        """All tokens and the end symbol."""
        return len(self.tokens) + 1

    def encode(self, sets: LabelSets) -> Sequences:
        """Ids of all sequences, all of whose tokens must have been seen in training."""
        ids = {token: number for number, token in enumerate(self.tokens, END + 1)}
        coded = []
        for elements in sets:
            sequences = {tuple(ids[t] for t in _split(e, self.tokeniser)) for e in elements}
            if self.kind is frozenset:
                sequences = {tuple(sorted(sequence)) for sequence in sequences}
            coded.append([list(sequence) for sequence in sorted(sequences)])
        return Sequences.of(coded)

    def split_unseen(self, sets: LabelSets) -> tuple[LabelSets, list[tuple[int, Hashable]]]:
        """The sets without sequences that hold an unseen token, and those with their samples."""
        seen = frozenset(self.tokens)
        known, unseen = [], []
        for index, elements in enumerate(sets):
            strange = {e for e in elements if not seen.issuperset(_split(e, self.tokeniser))}
            unseen += [(index, element) for element in strange]
            known.append(elements - strange)
        return known, unseen

    def spelled_by(self, tokens: Iterable[Hashable]) -> list[int]:
        """The choice that each of these tokens is, END for those that are none."""
        ids = {token: number for number, token in enumerate(self.tokens, END + 1)}
        return [ids.get(token, END) for token in tokens]

    def length(self, element: Any) -> int:
        """How many tokens an element has."""
        return len(_split(element, self.tokeniser))

    def decode(self, ids: Iterable[int]) -> Any:
        """The element that a sequence of ids stands for."""
        tokens = [self.tokens[number - 1] for number in ids]
        return self.joint.join(tokens) if self.kind is str else self.kind(tokens)  # type: ignore[arg-type]

    def name(self, choice: int) -> str:
        """A choice as people read it."""
        return "(end)" if choice == END else str(self.tokens[choice - 1])


def composed(text: str) -> str:
    """The text in Unicode's composed form (NFC), in which equal looks mean equal strings."""
    return unicodedata.normalize("NFC", text)


def read_elements(Y: Any, tokeniser: Tokeniser, name: str) -> LabelSets:
    """Sets of sequences, texts in composed form: no empty sequence, nothing unhashable."""
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
                    f"sample {index} of {name} holds an empty sequence ({element!r}); leave it "
                    "out: a set without elements is an ordinary answer, an element without "
                    "tokens is not"
                )
    return sets


def _split(element: Any, tokeniser: Tokeniser) -> Sequence[Hashable]:
    return tokeniser(element) if isinstance(element, str) else tuple(element)
