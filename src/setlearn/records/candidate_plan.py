"""The plan for records that hold a query, a list of candidates and the set of those chosen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from setlearn.errors import DataError, ParameterError
from setlearn.features.cells import Kind
from setlearn.features.column_guesses import guess_columns, sampled_rows
from setlearn.features.columns import (
    Column,
    column_notes,
    count_columns,
    join_names,
    matching_columns,
    read_columns,
)
from setlearn.files import Row
from setlearn.records.candidate_reader import CandidateReader
from setlearn.records.readers import text_reader
from setlearn.records.record_plan import CandidatePlan
from setlearn.records.target_guesses import guess_separator, guess_targets, target_columns
from setlearn.records.targets import TargetReader

__all__ = ["find_candidates", "plan_candidates"]

USUAL_NAME = "candidates"

QUERY_KINDS = ("text", "category", "number", "date")
"""Kinds of columns that are read as texts."""

SHARE_CONTAINED, SHARE_REPEATING = 0.8, 0.05
"""The lists of candidates hold all elements of at least this share of the sets; the others are
errors, to be named. Hardly any of the lists repeat an element."""

FEWEST_CANDIDATES = 1.5
"""Lists of candidates have more elements on average, and more than the sets."""


def find_candidates(rows: Sequence[Row], target: str | Sequence[str] | None) -> str | None:
    """Find the column whose lists hold all elements of the sets.

    Parameters
    ----------
    rows : sequence of Row
    target : name, pattern, list of these, or None
        The target, as in `guess_targets`.

    Returns
    -------
    str or None
        None if there is no such column, or nothing beside it to ask with.

    Examples
    --------
    >>> row = Row("", {"ask": "sea", "listed": ["sun", "wave", "foam"], "chosen": ["wave"]})
    >>> find_candidates([row], None)
    'listed'
    """
    columns, _ = target_columns(rows, target)
    names = [name for name in count_columns(rows) if name not in columns]
    if len(columns) > 1 or len(names) < 2:
        return None
    sampled = [rows[k] for k in sampled_rows(len(rows))]
    found = [name for name in names if _holds_candidates(sampled, name, columns[0])]
    return USUAL_NAME if USUAL_NAME in found else next(iter(found), None)


def plan_candidates(
    rows: Sequence[Row],
    candidates: str,
    *,
    target: str | Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    separator: str | None = None,
) -> CandidatePlan:
    """Decide how to read queries, candidates and chosen sets.

    Parameters
    ----------
    rows : sequence of Row
    candidates : str
        The column with the lists of candidates.
    target, separator
        How to read the sets; see `guess_targets`. A separator is for candidates, too.
    inputs, kinds
        Which columns hold the query, and how they are read; see `guess_columns`.

    Returns
    -------
    CandidatePlan

    Raises
    ------
    DataError
        If a column does not exist, or the query cannot be read.
    ParameterError
        If an input is the target, or the column of candidates is.
    """
    [candidates] = matching_columns([candidates], count_columns(rows))
    names, _ = target_columns(rows, target)
    of_sets = _separator(rows, names[0]) if separator is None else separator
    targets, notes = guess_targets(rows, target, separator=of_sets or "", task="candidates")
    if candidates in targets.columns:
        raise ParameterError(
            f"column {candidates!r} is the target, so it cannot hold the candidates; name the "
            "column with all of them",
            advice={"candidates": None},
        )
    columns = guess_columns(
        rows,
        target_columns=(*targets.columns, candidates),
        given=kinds,
        inputs=[name for name in inputs if name != candidates] if inputs else None,
    )
    query = _query_columns(columns)
    between = _separator(rows, candidates) if separator is None else separator or None
    mean_size = _mean_size(rows, candidates, between)
    optional = count_columns(rows)[candidates] < len(rows)
    listed = Column(candidates, "candidates", optional, f"{mean_size:.1f} per row")
    reader = CandidateReader(text_reader(query), listed, between)
    read = {column.name: column for column in query}
    columns = tuple(read.get(column.name, column) for column in columns)
    if len(query) > 1:
        notes.append(f"query: joined into one text, in this order: {join_names([*read])}")
    if mean_size < FEWEST_CANDIDATES and between is None:
        notes.append(
            f"{candidates}: each text is one candidate; if it holds several, give the separator "
            "between them"
        )
    notes += column_notes([*columns, listed])
    return CandidatePlan((*columns, listed), targets, {}, None, tuple(notes), reader)


def _holds_candidates(rows: Sequence[Row], name: str, target: str) -> bool:
    """Whether the lists in a column look like candidates for the sets.

    They differ from row to row, repeat nothing, and hold the elements of nearly all sets, and more.
    """
    sets = TargetReader((target,), _separator(rows, target), "candidates")
    lists = TargetReader((name,), _separator(rows, name), "candidates")
    n_chosen = n_candidates = n_sets = n_contained = n_repeating = 0
    different: set[frozenset[Hashable]] = set()
    for row in rows:
        if name not in row.record:
            continue
        try:
            chosen, listed = sets.read(row), lists.listed(row.record[name], name)
        except DataError:
            return False
        candidates = frozenset(listed)
        different.add(candidates)
        n_chosen, n_candidates = n_chosen + len(chosen), n_candidates + len(candidates)
        n_repeating += len(candidates) < len(listed)
        if chosen:
            n_sets, n_contained = n_sets + 1, n_contained + (chosen <= candidates)
    is_longer = n_candidates > max(n_chosen, FEWEST_CANDIDATES * len(rows))
    differs = len(different) > 1 or len(rows) == 1
    repeats = n_repeating > SHARE_REPEATING * len(rows)
    return is_longer and differs and not repeats and n_contained >= SHARE_CONTAINED * n_sets > 0


def _separator(rows: Sequence[Row], name: str) -> str | None:
    """What separates the elements in a column; candidates have several words more often than not.

    None if each text is one element.
    """
    separator = guess_separator(rows, name)
    return None if separator == " " else separator


def _query_columns(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of the query, as they are read: texts, or one column of tokens."""
    query = read_columns(columns)
    if not query:
        ignored = "; ".join(column_notes(columns)) or "there is none beside target and candidates"
        raise DataError(
            f"there is no column with the query: {ignored}; name it as input",
            advice={"inputs": None},
        )
    if len(query) == 1 and query[0].kind == "tokens":
        return query
    others = [column.note for column in query if column.kind not in QUERY_KINDS]
    if others:
        raise DataError(
            f"a query is a text or one list of tokens, but among its columns there is "
            f"{join_names(others)}; name other columns as inputs, or choose the task labels",
            advice={"inputs": None, "task": "labels"},
        )
    return tuple(replace(column, kind="text", remark="") for column in query)


def _mean_size(rows: Sequence[Row], name: str, separator: str | None) -> float:
    """The mean number of candidates in a row."""
    reader = TargetReader((name,), separator, "candidates")
    sizes = [len(reader.read(row)) for row in rows if name in row.record]
    return sum(sizes) / len(sizes)
