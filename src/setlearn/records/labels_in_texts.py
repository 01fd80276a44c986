"""Reads sets from texts for a model whose labels are known, but not how its sets were written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from setlearn.records.targets import TargetReader
from setlearn.savable import savable
from setlearn.set_reading import SEPARATORS

__all__ = ["KnownLabelsReader"]


@savable()
@dataclass(frozen=True, slots=True)
class KnownLabelsReader(TargetReader):
    """Splits each text where most of its parts are labels of the model.

    Attributes
    ----------
    known : frozenset of str
        The labels as texts.

    Examples
    --------
    >>> from setlearn.files import Row
    >>> labels = frozenset({"eco", "gift", "Rome, Italy"})
    >>> reader = KnownLabelsReader(("tags",), ";", "labels", known=labels)
    >>> sorted(reader.read(Row("", {"tags": "eco, gift"})))
    ['eco', 'gift']
    >>> sorted(reader.read(Row("", {"tags": "Rome, Italy"})))
    ['Rome, Italy']
    """

    known: frozenset[str] = frozenset()

    def split(self, text: str) -> list[str]:
        """Split a text at the separator that gives the largest share of known labels."""
        # The own separator comes first, and so it is used if no part is known.
        separators = (self.separator, *SEPARATORS)
        plain = (TargetReader(self.columns, each, self.task) for each in separators)
        choices = [reader.split(text) for reader in plain]
        if self.known.issuperset(words := text.split()):  # else spaces may be part of a new label
            choices.append(words)
        return max(choices, key=self._share_known)

    def written_otherwise(self, columns: tuple[str, ...], separator: str | None) -> TargetReader:
        """Guess as before, unless the separator is given."""
        if separator is None:
            return replace(self, columns=columns, labels=())
        return TargetReader.written_otherwise(self, columns, separator)

    def _share_known(self, parts: Sequence[str]) -> float:
        return sum(part in self.known for part in parts) / max(len(parts), 1)
