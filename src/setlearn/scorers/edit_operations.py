"""Edit operations: how an element of a set follows from its input, and what follows for others.

An operation is a short program: copy this part of the input, add these tokens. "Copy all but the
last token, add i, n, g" explains "making" for "make", and gives "baking" for "bake". An operation
that copies nothing is a constant. The empty operation stands for the empty set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from setlearn.savable import savable

__all__ = [
    "FINISH",
    "FROM_LEFT",
    "FROM_RIGHT",
    "INPUT_END",
    "INPUT_START",
    "START",
    "Add",
    "Anchor",
    "Copy",
    "EditedInput",
    "Edits",
    "Layout",
    "Numbers",
    "Operation",
    "Span",
]

Numbers: TypeAlias = tuple[int, ...]
"""The tokens of an input or of an element as numbers; equal tokens have equal numbers."""

Span: TypeAlias = tuple[int, int]

START, FINISH, FROM_LEFT, FROM_RIGHT = range(4)
"""What an offset is counted from: the input, or the n-th separator from the left or right."""


class Anchor(NamedTuple):
    """A position in an input: an offset from its start, its end, or the n-th separator."""

    base: int
    token: int
    nth: int
    offset: int

    def position(self, x: Numbers) -> int | None:
        """Where that is in an input; None if the input has no such position."""
        place: int | None = 0
        if self.base == FINISH:
            place = len(x)
        elif self.base != START:
            place = _occurrence(x, self.token, self.nth, self.base == FROM_RIGHT)
        if place is None or not 0 <= place + self.offset <= len(x):
            return None
        return place + self.offset

    @property
    def distance(self) -> int:
        """How far it is from what it is counted from: from the nearer side of a separator."""
        if self.base in (START, FINISH):
            return abs(self.offset)
        return min(abs(self.offset), abs(self.offset - 1))

    def shifted(self, distance: int) -> Anchor:
        """The position so many tokens further right."""
        return self._replace(offset=self.offset + distance)


class Add(NamedTuple):
    """Add these tokens."""

    tokens: Numbers


class Copy(NamedTuple):
    """Copy the part of the input between two positions."""

    first: Anchor
    last: Anchor

    def span(self, x: Numbers) -> Span | None:
        """The two positions in an input; None if there is nothing between them."""
        first, last = self.first.position(x), self.last.position(x)
        return None if first is None or last is None or first >= last else (first, last)


savable()(Anchor)
savable()(Add)
savable()(Copy)

Operation: TypeAlias = tuple[Add | Copy, ...]

INPUT_START, INPUT_END = Anchor(START, 0, 0, 0), Anchor(FINISH, 0, 0, 0)


@savable()
@dataclass(frozen=True, slots=True)
class Layout:
    """Where the part of an input lies that elements are made from; what is around it is context.

    In "noun house" it is what follows the first space, in "house" the whole input.
    """

    left: Anchor = INPUT_START
    right: Anchor = INPUT_END

    def stem(self, x: Numbers) -> Span:
        """First and last position of that part; all of an input that does not have this layout."""
        return Copy(self.left, self.right).span(x) or (0, len(x))


class Edits:
    """Operations, ready to be applied to many inputs.

    Many operations copy the same parts, so these are numbered: what one of them copies from an
    input is looked up for the others.

    Parameters
    ----------
    operations : sequence of Operation
    layout : Layout
    """

    def __init__(self, operations: Sequence[Operation], layout: Layout) -> None:
        number: dict[Copy, int] = {}
        self.programs: list[tuple[Numbers | int, ...]] = [
            tuple(
                part.tokens if isinstance(part, Add) else number.setdefault(part, len(number))
                for part in operation
            )
            for operation in operations
        ]
        """For each operation the tokens that it adds, and the numbers of what it copies."""
        self.copies = list(number)
        self.layout = layout

    def on(self, x: Numbers) -> EditedInput:
        """An input to which the operations are applied."""
        return EditedInput(self, x, self.layout.stem(x), [None] * len(self.copies))


@dataclass(frozen=True, slots=True, eq=False)
class EditedInput:
    """An input to which operations are applied. It remembers what they copy."""

    edits: Edits
    x: Numbers
    stem: Span
    copied: list[_Copied | None]  # None also if it was not looked for yet

    def apply(self, operation: int) -> tuple[Numbers, Numbers | None] | None:
        """Apply an operation.

        Parameters
        ----------
        operation : int
            Its number among the operations.

        Returns
        -------
        tuple of Numbers and Numbers or None, or None
            The element, and the tokens of the stem that were not copied (None for a constant).
            None if the operation cannot be applied.
        """
        made: Numbers = ()
        copies: list[_Copied] = []
        for part in self.edits.programs[operation]:
            if isinstance(part, tuple):
                made += part
                continue
            copied = self.copied[part] or self._copy(part)
            if copied is None:
                return None
            made += copied.tokens
            copies.append(copied)
        if len(copies) == 1:
            return made, copies[0].dropped
        return made, self._dropped([copied.span for copied in copies]) if copies else None

    def _copy(self, part: int) -> _Copied | None:
        span = self.edits.copies[part].span(self.x)
        if span is not None:
            self.copied[part] = _Copied(span, self.x[span[0] : span[1]], self._dropped([span]))
        return self.copied[part]

    def _dropped(self, spans: list[Span]) -> Numbers:
        """The tokens of the stem that lie in none of the spans."""
        begin, end = self.stem
        dropped: Numbers = ()
        for first, last in sorted(spans):
            dropped += self.x[begin:first]
            begin = max(begin, last)
        return dropped + self.x[begin:end]


class _Copied(NamedTuple):
    """A part of an input that is copied, and what is left of its stem."""

    span: Span
    tokens: Numbers
    dropped: Numbers


def _occurrence(x: Numbers, token: int, nth: int, from_right: bool) -> int | None:
    found = x.count(token)
    if nth >= found:
        return None
    place = -1
    for _ in range(found - nth if from_right else nth + 1):
        place = x.index(token, place + 1)
    return place
