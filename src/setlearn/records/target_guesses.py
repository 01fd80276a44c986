"""Guesses which column holds the sets, how they are written, and what their elements are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import get_args

from setlearn.errors import DataError, ParameterError
from setlearn.estimators.base import Task
from setlearn.features.column_guesses import sampled_rows
from setlearn.features.columns import count_columns, join_names, matching_columns
from setlearn.files import Row
from setlearn.missing_values import is_missing
from setlearn.records.targets import USUAL_SEPARATOR, TargetReader, as_flag, is_left_out
from setlearn.set_reading import SEPARATORS
from setlearn.written_lists import written_list

__all__ = ["USUAL_NAMES", "guess_separator", "guess_targets", "target_columns"]

USUAL_NAMES = ("labels", "tags", "y", "Y", "targets", "classes", "chosen")
"""Names of columns that are taken to hold the sets."""

SHARE_SEPARATED = 0.1
"""A separator occurs in at least this share of the values."""
MOST_WORDS = 3
"""A part with more words between commas belongs to a sentence, it is not an element."""

SHARE_SEEN_ONCE = 0.5
"""Elements are sequences only if at least this share of them occur in a single row."""
LABELS_PER_ROW = 0.5
"""Labels may also have a long tail of rare ones, but there are few labels compared to rows."""
SHARE_RARE = 0.2
"""With few rows, labels are many compared to them. But the rare ones are a smaller share than this
of all that the sets hold, and a label has a few words at most."""


def guess_targets(
    rows: Sequence[Row],
    target: str | Sequence[str] | None = None,
    *,
    separator: str | None = None,
    task: Task | None = None,
) -> tuple[TargetReader, list[str]]:
    """Decide how to read the sets.

    Parameters
    ----------
    rows : sequence of Row
    target : name, pattern such as "tag_*", list of these, or None
        None looks for a column with a usual name. Several columns are read as one column per
        label, and so is a single column that a pattern matches and that holds only yes and no.
    separator : str, optional
        What separates the elements of a text; "" keeps texts whole. None guesses.
    task : {"labels", "sequences", "candidates"}, optional
        What elements are. None guesses: labels occur in many rows, sequences rarely do.

    Returns
    -------
    reader : TargetReader
    notes : list of str
        What was guessed, for users.

    Raises
    ------
    DataError
        If the target column is not found, or holds values that are not sets.
    ParameterError
        If ``task`` is unknown or does not go with the target columns.

    Examples
    --------
    >>> rows = [Row("", {"tags": "sun;sea"}), Row("", {"tags": "sea"}), Row("", {"tags": "sun"})]
    >>> reader, notes = guess_targets(rows * 2)
    >>> notes
    ['target: tags (by its name)', 'tags: labels, separated by ";" (2 different)']
    """
    if task not in (None, *get_args(Task)):
        raise ParameterError(f"task must be one of {', '.join(get_args(Task))}, got {task!r}")
    columns, notes = target_columns(rows, target)
    if len(columns) > 1 or _is_flag_of_pattern(rows, columns[0], target):
        reader = TargetReader(columns, USUAL_SEPARATOR, task or "labels", columns)
        reader.check_flags()
        n_elements = len(_count_elements(rows, reader))
        notes.append(f"{join_names(columns)}: labels, one column per label ({n_elements} in use)")
        n_empty = sum(is_missing(row.record.get(name)) for row in rows for name in columns)
        if n_empty:
            notes.append(f"{n_empty} empty cell(s) in these columns: taken for 0 (absent)")
        return reader, notes
    chosen = guess_separator(rows, columns[0]) if separator is None else separator or None
    reader = TargetReader(columns, chosen, task or "labels")  # labels may be anything
    counts = _count_elements(rows, reader)
    reason = ""
    if task is None:
        guessed, reason = _guess_task(counts, len(rows))
        reader = replace(reader, task=guessed)
    notes.append(_note(rows, reader, len(counts)))
    # An empty list says that there are no elements; a cell without a value may be an oversight.
    n_empty = sum(is_left_out(row.record.get(columns[0])) for row in rows)
    if n_empty:
        notes.append(f"{n_empty} empty cell(s) in {columns[0]}: taken for the empty set")
    if reason:
        notes.append(f"task: {reader.task} ({reason})")
    return reader, notes


def target_columns(
    rows: Sequence[Row], target: str | Sequence[str] | None
) -> tuple[tuple[str, ...], list[str]]:
    """Find the columns that hold the sets.

    Parameters
    ----------
    rows : sequence of Row
    target : name, pattern, list of these, or None

    Returns
    -------
    columns : tuple of str
    notes : list of str
        What was guessed, for users.

    Raises
    ------
    DataError
        If it is not clear which column is meant.
    """
    columns = list(count_columns(rows))
    if target:
        return tuple(matching_columns([target] if isinstance(target, str) else target, columns)), []
    usual = [name for name in USUAL_NAMES if name in columns]
    if len(usual) == 1:
        return (usual[0],), [f"target: {usual[0]} (by its name)"]
    problem = f"it could be {join_names(usual)}" if usual else "no column has a usual name"
    raise DataError(
        f"it is not clear which column holds the sets: {problem}; name the target, "
        f"one of {join_names([*usual, *(name for name in columns if name not in usual)])}",
        advice={"target": None},
    )


def _is_flag_of_pattern(rows: Sequence[Row], name: str, target: str | Sequence[str] | None) -> bool:
    """Whether a column that a pattern matched holds yes or no in each row."""
    if target is None or name in ([target] if isinstance(target, str) else target):
        return False
    return all(as_flag(row.record.get(name)) is not None for row in rows)


def _texts(rows: Sequence[Row], name: str) -> list[str]:
    """Return the values that may have to be split."""
    sampled = [rows[k] for k in sampled_rows(len(rows))]
    values = [(row.place, row.record.get(name)) for row in sampled]
    return [
        value
        for place, value in values
        if isinstance(value, str)
        and not is_missing(value)
        and written_list(value, f"{place}: {name!r}") is None
    ]


def guess_separator(rows: Sequence[Row], name: str) -> str | None:
    """Find the separator in use; None if each text is one element.

    Parameters
    ----------
    rows : sequence of Row
    name : str
        The column.

    Returns
    -------
    str or None
    """
    texts = _texts(rows, name)
    if not texts:  # only lists, which other files may write as texts
        return USUAL_SEPARATOR
    for separator in SEPARATORS:
        separated = [text for text in texts if separator in text]
        parts = [part for text in separated for part in text.split(separator)]
        short = sum(len(part.split()) <= MOST_WORDS for part in parts)
        if _enough(separated, texts) and (separator != "," or short >= 0.9 * len(parts)):
            return separator
    spaced = [text for text in texts if " " in text.strip()]
    return " " if _enough(spaced, texts) and _combine_freely(texts) else None


def _combine_freely(texts: Sequence[str]) -> bool:
    """Whether each word occurs alone or in several combinations, unlike those of "New York"."""
    counts = Counter(tuple(text.split()) for text in texts)
    combinations: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for words in counts:
        for word in words:
            combinations[word].add(words)
    return all(len(texts) > 1 or counts[(word,)] > 1 for word, texts in combinations.items())


def _enough(separated: Sequence[str], texts: Sequence[str]) -> bool:
    return len(separated) > 0 and len(separated) >= SHARE_SEPARATED * len(texts)


def _count_elements(rows: Sequence[Row], reader: TargetReader) -> Counter[Hashable]:
    """Count the rows that have each element."""
    return Counter(element for row in rows for element in reader.read(row))


def _guess_task(counts: Counter[Hashable], n_rows: int) -> tuple[Task, str]:
    """Guess the task, with a reason if it is sequences."""
    if not counts or not all(isinstance(element, str | tuple) for element in counts):
        return "labels", ""
    if all(isinstance(element, tuple) for element in counts):
        return "sequences", "the elements are lists of tokens"
    once = sum(count == 1 for count in counts.values())
    long_tail = once < SHARE_SEEN_ONCE * counts.total() and len(counts) <= LABELS_PER_ROW * n_rows
    if once < SHARE_SEEN_ONCE * len(counts) or long_tail or _are_rare_labels(counts, once):
        return "labels", ""
    return "sequences", f"{once} of {len(counts)} elements occur once"


def _are_rare_labels(counts: Counter[Hashable], once: int) -> bool:
    n_words = sum(len(str(element).split()) for element in counts)
    return once < SHARE_RARE * counts.total() and n_words <= MOST_WORDS * len(counts)


def _note(rows: Sequence[Row], reader: TargetReader, n_elements: int) -> str:
    [name] = reader.columns
    how = ""
    if _texts(rows, name):
        how = ", each value one element"
        if reader.separator is not None:
            how = f', separated by "{reader.separator}"'
    return f"{name}: {reader.task}{how} ({n_elements} different)"
