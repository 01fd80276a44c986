"""By words or by characters? How the texts of a plan are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from setlearn.errors import DataError, ParameterError
from setlearn.files import Row
from setlearn.records.columns import Column, inputs_of, spread
from setlearn.records.kinds import Kind
from setlearn.records.targets import TargetReader
from setlearn.records.text_features import TextFeatures, read_text

__all__ = ["TokenSplit", "guess_features", "guess_split", "plan_features", "plan_tokens"]

TokenSplit: TypeAlias = Literal["char", "word"]
Columns: TypeAlias = tuple[Column, ...]

FEATURES_SAID: dict[TextFeatures, str] = {
    "tfidf": "by TF-IDF of words",
    "words": "by which words occur",
    "chars": "by TF-IDF of characters",
}
TOKENS_SAID: dict[TokenSplit, str] = {"char": "by characters", "word": "by words"}

SPACED = 0.1
"""With spaces in fewer texts than that, words are not what the texts are made of."""
REPEATED = 0.75
"""Share of the words that are of words seen twice; below it, they say too little to be tokens."""


def plan_features(
    rows: Sequence[Row], columns: Columns, text: TextFeatures | None
) -> tuple[Columns, dict[str, TextFeatures]]:
    """How each column of texts becomes features; the columns tell of it."""
    if text is not None and text not in FEATURES_SAID:
        raise ParameterError(f"text must be one of {', '.join(FEATURES_SAID)}, got {text!r}")
    features: dict[str, TextFeatures] = {
        column.name: text or guess_features(_texts(rows, column))
        for column in columns
        if column.kind == "text"
    }
    said = {name: FEATURES_SAID[way] for name, way in features.items()}
    return _with_remarks(columns, said), features


def plan_tokens(
    rows: Sequence[Row],
    columns: Columns,
    targets: TargetReader,
    tokens: TokenSplit | tuple[TokenSplit, TokenSplit] | None,
) -> tuple[Columns, tuple[TokenSplit, TokenSplit], list[str]]:
    """How inputs and elements are split into tokens, the columns to read, and a note."""
    given = tokens if isinstance(tokens, tuple | list) else (tokens, tokens)
    if len(given) != 2 or not {*given} <= {*TOKENS_SAID, None}:
        raise ParameterError(
            f'tokens must be "char", "word" or a pair of them (of inputs, of elements), '
            f"got {tokens!r}"
        )
    columns = _readable_as_sequences(columns)
    texts = [column for column in columns if column.kind == "text"]
    of_inputs = given[0] or guess_split([t for column in texts for t in _texts(rows, column)])
    elements = {e for row in rows for e in targets.read(row) if isinstance(e, str)}
    of_elements = given[1] or guess_split(sorted(elements))
    columns = _with_remarks(columns, {column.name: TOKENS_SAID[of_inputs] for column in texts})
    notes = [f"elements: {TOKENS_SAID[of_elements]}"] if elements else []
    return columns, (of_inputs, of_elements), notes


def guess_split(texts: Sequence[str]) -> TokenSplit:
    """Words, where the texts have spaces and the words between them repeat; else characters.

    Examples
    --------
    >>> guess_split(["a small cat", "a small dog", "a cat", "the dog", "the cat"])
    'word'
    >>> guess_split(["noun Aaron", "noun Abel", "noun Adam"])
    'char'
    """
    counts = Counter(word for text in texts for word in text.split())
    repeated = sum(count for count in counts.values() if count > 1)
    return "word" if _are_spaced(texts) and repeated >= REPEATED * counts.total() else "char"


def guess_features(texts: Sequence[str]) -> TextFeatures:
    """TF-IDF of words where the texts have spaces, else of characters.

    Examples
    --------
    >>> guess_features(["sun over the sea", "night"]), guess_features(["sunset", "seaside"])
    ('tfidf', 'chars')
    """
    return "tfidf" if _are_spaced(texts) else "chars"


def _are_spaced(texts: Sequence[str]) -> bool:
    spaced = sum(len(text.split()) > 1 for text in texts)
    return spaced > 0 and spaced >= SPACED * len(texts)


def _texts(rows: Sequence[Row], column: Column) -> list[str]:
    """Some thousand texts, without those that are missing."""
    cells = column.cells([rows[k] for k in spread(len(rows))])
    return [text for text in map(read_text, cells) if text]


def _readable_as_sequences(columns: Columns) -> Columns:
    """The columns, if a sequence model can read them; a single category is read as a text."""
    used = inputs_of(columns)
    if all(column.kind in ("number", "vector") for column in used):
        return columns
    if len(used) == 1 and used[0].kind != "bag":
        kind: Kind = "tokens" if used[0].kind == "tokens" else "text"
        return tuple(replace(c, kind=kind) if c is used[0] else c for c in columns)
    there = ", ".join(f"{column.name} ({column.kind})" for column in used)
    raise DataError(
        "a model of sequences reads one text, one list of tokens, or numbers and vectors alone, "
        f"but the inputs are {there}; name fewer inputs, or choose the task labels"
    )


def _with_remarks(columns: Columns, remarks: Mapping[str, str]) -> Columns:
    return tuple(replace(c, remark=remarks.get(c.name, c.remark)) for c in columns)
