"""Which column holds the sets, how they are written, and whether their elements are labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

from setlearn.errors import DataError, ParameterError
from setlearn.files import Row
from setlearn.records.cells import is_missing
from setlearn.records.column_names import count_columns, listed_names, resolve_names
from setlearn.records.columns import spread
from setlearn.records.targets import USUAL_SEPARATOR, TargetReader, Task, as_flag, listed_in_cell

__all__ = ["guess_targets"]

USUAL_NAMES = ("labels", "tags", "y", "Y", "targets", "classes")

SEPARATORS = (";", "|", ",")
USED = 0.1
"""A separator stands in at least this share of the values."""
MOST_WORDS = 3
"""More of them between commas are a sentence, not an element."""

SEEN_ONCE = 0.5
"""Of sequences, at least this share occur in one row alone."""
LABELS_PER_ROW = 0.5
"""Labels may have a long tail of rare ones too, but they are few for the rows."""


def guess_targets(
    rows: Sequence[Row],
    target: str | Sequence[str] | None = None,
    *,
    separator: str | None = None,
    task: Task | None = None,
) -> tuple[TargetReader, list[str]]:
    """Find out how to read the sets, and say so in notes.

    Parameters
    ----------
    rows : sequence of Row
    target : name, pattern such as "tag_*", list of these, or None
        None looks for a column with a usual name. Several columns are one a label, and so is the
        only one that a pattern matches, if it says yes or no.
    separator : str, optional
        What stands between the elements of a text; "" keeps texts whole. None guesses.
    task : {"labels", "sequences"}, optional
        What elements are. None guesses: labels are seen again and again, sequences rarely are.

    Examples
    --------
    >>> rows = [Row("", {"tags": "sun;sea"}), Row("", {"tags": "sea"}), Row("", {"tags": "sun"})]
    >>> reader, notes = guess_targets(rows * 2)
    >>> notes
    ['target: tags (by its name)', 'tags: labels, separated by ";" (2 different)']
    """
    if task not in (None, "labels", "sequences"):
        raise ParameterError(f'task must be "labels" or "sequences", got {task!r}')
    columns, notes = _target_columns(rows, target)
    if len(columns) > 1 or _is_flag_of_pattern(rows, columns[0], target):
        if task == "sequences":
            raise ParameterError(
                f"one column a label cannot hold sequences, got {len(columns)} target columns; "
                "name a single one"
            )
        reader = TargetReader(columns, USUAL_SEPARATOR, "labels", columns)
        n_elements = len(_count_elements(rows, reader))
        notes.append(f"{listed_names(columns)}: labels, one a column ({n_elements} in use)")
        return reader, notes
    chosen = _guess_separator(rows, columns[0]) if separator is None else separator or None
    # As labels, for those may be anything; what the user says is then checked by reading again.
    reader = TargetReader(columns, chosen, "labels")
    counts = _count_elements(rows, reader)
    guessed, reason = _guess_task(counts, len(rows))
    reader = replace(reader, task=task or guessed)
    if task == "sequences":
        _count_elements(rows, reader)
    notes.append(_note(rows, reader, len(counts)))
    if task is None and reason:
        notes.append(f"task: {guessed} ({reason})")
    return reader, notes


def _target_columns(
    rows: Sequence[Row], target: str | Sequence[str] | None
) -> tuple[tuple[str, ...], list[str]]:
    there = list(count_columns(rows))
    if target:
        return tuple(resolve_names([target] if isinstance(target, str) else target, there)), []
    usual = [name for name in USUAL_NAMES if name in there]
    if len(usual) == 1:
        return (usual[0],), [f"target: {usual[0]} (by its name)"]
    found = f"several could ({listed_names(usual)})" if usual else "none is called so"
    raise DataError(
        f"no column is known to hold the sets: {found}; name it with --target NAME, "
        f"one of {listed_names([*usual, *(name for name in there if name not in usual)])}"
    )


def _is_flag_of_pattern(rows: Sequence[Row], name: str, target: str | Sequence[str] | None) -> bool:
    """Whether a column that was not named itself says yes or no in each row."""
    if target is None or name in ([target] if isinstance(target, str) else target):
        return False
    return all(as_flag(row.record.get(name)) is not None for row in rows)


def _texts(rows: Sequence[Row], name: str) -> list[str]:
    """Values that may have to be split."""
    values = (rows[k].record.get(name) for k in spread(len(rows)))
    return [
        value
        for value in values
        if isinstance(value, str) and not is_missing(value) and listed_in_cell(value) is None
    ]


def _guess_separator(rows: Sequence[Row], name: str) -> str | None:
    """The separator in use; None where there are texts, but none that is a list of elements."""
    texts = _texts(rows, name)
    if not texts:  # lists alone, which other files may write as texts
        return USUAL_SEPARATOR
    for separator in SEPARATORS:
        used = [text for text in texts if separator in text]
        pieces = [piece for text in used for piece in text.split(separator)]
        short = sum(len(piece.split()) <= MOST_WORDS for piece in pieces)
        if _enough(used, texts) and (separator != "," or short >= 0.9 * len(pieces)):
            return separator
    spaced = [text for text in texts if " " in text.strip()]
    return " " if _enough(spaced, texts) and _combine_freely(texts) else None


def _combine_freely(texts: Sequence[str]) -> bool:
    """Whether words come again, alone or in other company, unlike those of a name like New York."""
    rows = Counter(tuple(text.split()) for text in texts)
    company: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for words in rows:
        for word in words:
            company[word].add(words)
    return all(len(found) > 1 or rows[(word,)] > 1 for word, found in company.items())


def _enough(used: Sequence[str], texts: Sequence[str]) -> bool:
    return len(used) > 0 and len(used) >= USED * len(texts)


def _count_elements(rows: Sequence[Row], reader: TargetReader) -> Counter[Hashable]:
    """In how many rows each element is."""
    return Counter(element for row in rows for element in reader.read(row))


def _guess_task(counts: Counter[Hashable], n_rows: int) -> tuple[Task, str]:
    """The task, and the reason where it is not the usual one."""
    if not counts or not all(isinstance(element, str | tuple) for element in counts):
        return "labels", ""
    if all(isinstance(element, tuple) for element in counts):
        return "sequences", "the elements are lists of tokens"
    once = sum(count == 1 for count in counts.values())
    long_tail = once < SEEN_ONCE * counts.total() and len(counts) <= LABELS_PER_ROW * n_rows
    if once < SEEN_ONCE * len(counts) or long_tail:
        return "labels", ""
    return "sequences", f"{once} of {len(counts)} elements occur once"


def _note(rows: Sequence[Row], reader: TargetReader, n_elements: int) -> str:
    [name] = reader.columns
    how = ""
    if _texts(rows, name):
        how = ", each value one element"
        if reader.separator is not None:
            how = f', separated by "{reader.separator}"'
    return f"{name}: {reader.task}{how} ({n_elements} different)"
