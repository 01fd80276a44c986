"""The real data sets of the benchmark: how they are read, tokenised and split.

Set ``SETLEARN_DATA`` to the folder with the files; by default it is ``../shared/data`` beside the
repository. Choices are made on `development_split` only. `benchmark_split` is for reporting: its
test samples come from a reserve that no development split contains.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
RESERVE_SEED = 2026

Tokens: TypeAlias = tuple[str, ...]
Split: TypeAlias = Literal["char", "word"] | Callable[[str], Sequence[str]]


def words_and_marks(text: str) -> list[str]:
    """Split a text into words and punctuation marks."""
    return re.findall(r"\w+|[^\w\s]", text)


@dataclass(frozen=True)
class DataSet:
    """One data set of the benchmark.

    ``tokens`` says how inputs and elements are split. Data without an official split have
    ``n_train`` and ``n_test`` samples and a reserve of ``n_reserve`` rows, by default a fifth.
    ``n_together`` consecutive rows belong together, such as the questions about one story; a
    development split does not divide them. With ``has_word_errors``, word error rates of the best
    answer are published.
    """

    file: str
    tokens: tuple[Split, Split]
    n_train: int | None = None
    n_test: int | None = None
    n_reserve: int | None = None
    split_field: str | None = None
    n_development_test: int | None = None
    n_together: int = 1
    has_word_errors: bool = False


@dataclass(frozen=True)
class Samples:
    """Inputs and sets as texts, together with their tokens."""

    texts: list[str]
    text_sets: list[frozenset[str]]
    X: list[Tokens]
    Y: list[frozenset[Tokens]]
    rows: np.ndarray

    def part(self, index: np.ndarray) -> Samples:
        """Return the samples at these positions."""
        return Samples(
            [self.texts[i] for i in index],
            [self.text_sets[i] for i in index],
            [self.X[i] for i in index],
            [self.Y[i] for i in index],
            self.rows[index],
        )

    def __len__(self) -> int:
        return len(self.X)


SPELLING = ("char", "word")

DATA_SETS = {
    "cmudict_multi": DataSet("cmudict_multi", SPELLING, 2500, 500),
    "lemminflect": DataSet("lemminflect", ("char", "char"), 2500, 500),
    "lemminflect_80": DataSet("lemminflect", ("char", "char"), 80, 500),
    "kg_umls": DataSet("kg_umls", ("word", "word"), 634, 200, n_reserve=300),
    "mm_bindings_ql": DataSet("mm_bindings_ql", ("word", "word"), 2500, 500),
    "babi_qa8": DataSet(
        "babi_qa8",
        (words_and_marks, "word"),
        split_field="s",
        n_development_test=200,
        n_together=5,
    ),
    "g2p_fre": DataSet("g2p_fre", SPELLING, split_field="split", has_word_errors=True),
    "g2p_dut": DataSet("g2p_dut", SPELLING, split_field="split", has_word_errors=True),
    "g2p_hun": DataSet("g2p_hun", SPELLING, split_field="split", has_word_errors=True),
    "g2p_geo": DataSet("g2p_geo", SPELLING, split_field="split", has_word_errors=True),
    "cmudict_g014b2b": DataSet(
        "cmudict_g014b2b",
        SPELLING,
        split_field="split",
        n_development_test=4000,
        has_word_errors=True,
    ),
}


def data_folder() -> Path:
    """Return the folder with the data files."""
    given = os.environ.get("SETLEARN_DATA")
    return Path(given) if given else ROOT.parent / "shared" / "data"


def benchmark_split(name: str, seed: int) -> tuple[Samples, Samples]:
    """Return training and test samples for reporting.

    Parameters
    ----------
    name : str
        A key of `DATA_SETS`.
    seed : int
        Draws the samples. Official splits are the same for all seeds.

    Returns
    -------
    train, test : Samples
    """
    data = _data_set(name)
    samples, labels = _read(data)
    if data.split_field:
        is_test = labels == "test"
        return samples.part(np.flatnonzero(~is_test)), samples.part(np.flatnonzero(is_test))
    rng = np.random.RandomState(seed)
    test = rng.choice(_reserve(data, len(samples)), data.n_test, replace=False)
    others = np.setdiff1d(np.arange(len(samples)), test)
    train = rng.choice(others, data.n_train, replace=False)
    return samples.part(train), samples.part(test)


def development_split(name: str, seed: int) -> tuple[Samples, Samples]:
    """Return training and held-out samples for making choices, none of them from the reserve.

    Parameters
    ----------
    name : str
        A key of `DATA_SETS`.
    seed : int
        Draws the samples. The development samples of ``g2p_*`` are the official ones.

    Returns
    -------
    train, held_out : Samples
    """
    data = _data_set(name)
    samples, labels = _read(data)
    if data.split_field and "dev" in labels:
        return tuple(samples.part(np.flatnonzero(labels == part)) for part in ("train", "dev"))
    rng = np.random.RandomState(seed)
    if data.split_field:
        together = np.flatnonzero(labels == "train").reshape(-1, data.n_together)
        pool = rng.permutation(together).ravel()
        n_test, n_train = data.n_development_test, len(pool)
    else:
        reserve = _reserve(data, len(samples))
        pool = rng.permutation(np.setdiff1d(np.arange(len(samples)), reserve))
        n_test, n_train = min(data.n_test, len(pool) // 5), data.n_train
    return samples.part(pool[n_test:][:n_train]), samples.part(pool[:n_test])


def _data_set(name: str) -> DataSet:
    if name not in DATA_SETS:
        raise ValueError(f"there is no data set {name!r}; choose from {', '.join(DATA_SETS)}")
    return DATA_SETS[name]


def _reserve(data: DataSet, n: int) -> np.ndarray:
    """Return the rows that only `benchmark_split` may test on."""
    size = n // 5 if data.n_reserve is None else data.n_reserve
    return np.random.RandomState(RESERVE_SEED).permutation(n)[:size]


def _read(data: DataSet) -> tuple[Samples, np.ndarray]:
    """Return all samples of a file, and for each the part of the official split or ''."""
    path = data_folder() / f"{data.file}.jsonl.gz"
    if not path.exists():
        raise FileNotFoundError(
            f"{path} does not exist; set SETLEARN_DATA to the folder that holds {path.name}"
        )
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    texts = [_composed(record["x"]) for record in records]
    text_sets = [frozenset(map(_composed, record["y"])) for record in records]
    of_inputs, of_elements = (_splitter(split) for split in data.tokens)
    samples = Samples(
        texts,
        text_sets,
        [of_inputs(text) for text in texts],
        [frozenset(map(of_elements, elements)) for elements in text_sets],
        np.arange(len(records)),
    )
    return samples, np.array([record.get(data.split_field, "") for record in records])


def tokens_of_element(name: str, text: str) -> Tokens:
    """Return the tokens of a predicted text."""
    return _splitter(_data_set(name).tokens[1])(text)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _splitter(split: Split) -> Callable[[str], Tokens]:
    if split == "char":
        return tuple
    if split == "word":
        return lambda text: tuple(text.split())
    return lambda text: tuple(split(text))
