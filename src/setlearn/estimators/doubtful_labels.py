"""Labels that look as if they were not meant: joined, written out, split into letters, missing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from setlearn.errors import DataError, SetlearnWarning, warn_user
from setlearn.missing_values import is_missing
from setlearn.set_reading import SEPARATORS, splitting
from setlearn.written_lists import written_list

__all__ = ["check_labels_of_sets", "refuse_joined_classes"]

MANY_CLASSES = 10
"""Fewer classes may well consist of parts that recur, as "0|0" and "0|1" do."""

SHARE_RECURRING = 0.4
"""In "Rome, Italy" and the like, a small share of the parts occur in several classes."""

WRITTEN_GAPS = {"n/a", "nan", "null"}
"""How programs write missing values. Others, such as "none" and "NA", may well be labels."""

BETWEEN_WORDS = set(" ,;|[]'\"")
"""Characters that stand between the labels of a text."""


def refuse_joined_classes(classes: Sequence[Any]) -> None:
    """Raise if classes are texts that rather look like several labels each, such as "sun;sea".

    Parameters
    ----------
    classes : sequence
        The different values of a plain 1-d y.

    Raises
    ------
    DataError

    Warns
    -----
    SetlearnWarning
        If some consist of others, with blanks between them, or look like a missing value.
    """
    texts = _texts(classes)
    if len(texts) < len(classes):
        return
    _refuse_written(texts)
    _warn_of_missing(texts)
    _warn_of_words(texts)
    joined = _joined(texts)
    if joined:
        text, separator = joined
        raise DataError(
            f"y holds texts such as {text!r:.200}, which look like several labels with "
            f"{separator!r} between them; pass sets, such as "
            f"[{splitting(separator)} for text in y], or, if they are single classes, "
            f"write them without {separator!r}"
        )


def check_labels_of_sets(labels: Sequence[Hashable], sets: Sequence[frozenset[Hashable]]) -> None:
    """Check the labels that occur in sets.

    Parameters
    ----------
    labels : sequence
        The different ones.
    sets : sequence of frozenset

    Raises
    ------
    DataError
        If labels are missing values, single characters of texts, or lists that were written out.

    Warns
    -----
    SetlearnWarning
        If labels begin or end with a blank, look like several labels, or like a missing value.
    """
    texts = _texts(labels)
    if (
        texts
        and len(texts) == len(labels)
        and max(map(len, texts)) == 1
        and BETWEEN_WORDS & {*texts}
    ):
        between = min(BETWEEN_WORDS & {*texts})
        raise DataError(
            f"the labels of y are single characters, among them {between!r}, as if texts had been "
            f"taken for sets; split them, such as [{splitting(',')} for text in y]"
        )
    missing = [label for label in labels if is_missing(label)]
    if missing:
        sample = next(k for k, each in enumerate(sets) if any(map(is_missing, each)))
        raise DataError(
            f"sample {sample} of y holds {missing[0]!r}, a missing value, in its set; leave it out"
        )
    if not texts:
        return
    _refuse_written(texts)
    blank = [text for text in texts if text != text.strip()]
    if blank:
        warn_user(
            SetlearnWarning(
                f"{len(blank)} label(s) such as {blank[0]!r} begin or end with a blank, so they "
                "are not the labels without it; strip them: {label.strip() for label in labels}"
            )
        )
    _warn_of_missing(texts)
    _warn_of_words(texts)
    if not blank and (joined := _joined(texts)):
        text, separator = joined
        warn_user(
            SetlearnWarning(
                f"labels of y such as {text!r:.200} look like several labels with {separator!r} "
                f"between them; if they are, split them: {splitting(separator)}"
            )
        )


def _warn_of_missing(texts: Sequence[str]) -> None:
    """Warn of labels that are written as missing values are in files."""
    found = [text for text in texts if text.strip().lower() in WRITTEN_GAPS]
    if found:
        warn_user(
            SetlearnWarning(
                f"a label of y is {found[0]!r}, which is how missing values are written; leave it "
                "out if it is none"
            )
        )


def _warn_of_words(texts: Sequence[str]) -> None:
    """Warn of labels that consist of other labels with blanks between them."""
    words = [text for text in texts if " " in text.strip()]
    if words and _all_alone(words, " ", set(texts)):
        warn_user(
            SetlearnWarning(
                f"labels of y such as {words[0]!r:.200} consist of other labels; if each word is a "
                "label, split them: set(text.split())"
            )
        )


def _texts(labels: Sequence[Any]) -> list[str]:
    return [label for label in labels if isinstance(label, str)]


def _refuse_written(texts: Sequence[str]) -> None:
    """Raise if most texts are lists or sets that were written into a file."""
    written = [text for text in texts if _is_list(text)]
    if 2 * len(written) < len(texts):
        return
    # Python reads "['a' 'b']", as NumPy writes it, as a list of one text.
    reading = "ast.literal_eval(text)"
    try:
        if list(ast.literal_eval(written[0])) != written_list(written[0], "y"):
            reading = "written_list(text, 'y')"
    except (DataError, SyntaxError, TypeError, ValueError):
        reading = "written_list(text, 'y')"
    source = "" if reading.startswith("ast") else " with setlearn.written_lists.written_list"
    raise DataError(
        f"y holds texts such as {written[0]!r:.200}, which look like lists that were written into "
        f"a file; pass sets, such as [set({reading}) for text in y]{source}"
    )


def _is_list(text: str) -> bool:
    try:
        return written_list(text, "y") is not None
    except DataError:
        return True


def _joined(texts: Sequence[str]) -> tuple[str, str] | None:
    """A text that looks like several labels, and what is between them; None if none does."""
    for separator in SEPARATORS:
        joined = [text for text in texts if separator in text]
        many = 2 * len(joined) >= len(texts) and _recur(texts, separator)
        if joined and (many or _all_alone(joined, separator, set(texts))):
            return joined[0], separator
    return None


def _all_alone(joined: Sequence[str], separator: str, texts: set[str]) -> bool:
    """Whether every part of these texts is a label itself."""
    return all(part.strip() in texts for text in joined for part in text.split(separator))


def _recur(texts: Sequence[str], separator: str) -> bool:
    """Whether the parts of texts recur as labels do: alone, or in most of them."""
    parts = [{part.strip() for part in text.split(separator)} for text in texts]
    counts = Counter(part for each in parts for part in each)
    also_joined = [text for text in texts if separator not in text and counts[text.strip()] > 1]
    if len(counts) < len(texts) and also_joined:
        return True
    n_recurring = sum(count > 1 for count in counts.values())
    return len(texts) >= MANY_CLASSES and n_recurring >= SHARE_RECURRING * len(counts)
