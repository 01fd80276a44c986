"""SVMlight with several labels per line: ``1,5 3:0.5 7:1 # comment``."""

import re
from collections.abc import Iterator
from itertools import chain

from setlearn.files.formats import Format
from setlearn.files.rows import Row, Rows
from setlearn.files.source import FileSource

__all__ = ["SVMLIGHT"]

TARGET = "labels"
QUERY = "qid"


def read_svmlight(source: FileSource) -> Rows:
    """Read records ``{"labels": [...], "x": {index: value}}``.

    A line that starts with ``index:value`` is a sample without labels. The first line may be the
    header of the extreme classification repository, which has three counts.
    """
    lines = _words_by_line(source.lines())
    first = next(lines, None)
    if first is None:
        return Rows(source, iter(()), target=TARGET)
    header = re.fullmatch(r"(\d+) (\d+) (\d+)", " ".join(first[1]))
    if header is None:
        lines = chain([first], lines)
    else:
        rows, features, labels = header.groups()
        source.notes.append(
            f"the first line is a header: {rows} rows, {features} features, {labels} labels"
        )
    return Rows(source, _rows(source, lines), columns=[TARGET, "x"], target=TARGET)


def _words_by_line(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Split lines into words, without comments and blank lines."""
    for number, line in lines:
        words = line.partition("#")[0].split()
        if words:
            yield number, words


def _rows(source: FileSource, lines: Iterator[tuple[int, list[str]]]) -> Iterator[Row]:
    for number, words in lines:
        place = source.place(number)
        has_labels = ":" not in words[0]
        try:
            labels = _labels(words[0]) if has_labels else []
            features = _features(words[has_labels:])
        except ValueError as error:
            source.bad_rows.add(place, str(error))
            continue
        yield Row(place, {TARGET: labels, "x": features})


def _labels(word: str) -> list[int | str]:
    labels = word.split(",")
    if "" in labels:
        raise ValueError(f"has an empty label in {word!r}")
    return [int(label) if re.fullmatch(r"[+-]?[0-9]+", label) else label for label in labels]


def _features(words: list[str]) -> dict[int, float]:
    features: dict[int, float] = {}
    for word in words:
        index, colon, value = word.partition(":")
        if index == QUERY and colon:
            continue
        try:
            if not (index.isascii() and index.isdigit()):
                raise ValueError
            number = float(value)
        except ValueError:
            raise ValueError(f"has {word!r} instead of index:value, such as 3:0.5") from None
        if int(index) in features:
            raise ValueError(f"has the index {index} twice")
        features[int(index)] = number
    return features


SVMLIGHT = Format(
    "svmlight", (".svm", ".svmlight", ".libsvm"), read=read_svmlight, description="SVMlight"
)
