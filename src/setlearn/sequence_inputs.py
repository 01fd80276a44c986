"""Inputs of sequence models: turns texts, token lists or numbers into arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from setlearn.errors import DataError, KindError
from setlearn.nodes import FloatArray, IntArray
from setlearn.ordering import canonical_rank
from setlearn.savable import savable
from setlearn.vocabulary import StandIns, Tokeniser

__all__ = [
    "InputReader",
    "Inputs",
    "NumericReader",
    "TokenReader",
    "is_numeric",
    "learn_inputs",
    "sample_keys",
    "token_lists",
]

UNKNOWN = 0
"""The id of tokens not seen in training; its embedding is always zero."""


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The inputs of a network: the token ids or vectors of all samples, concatenated."""

    length: IntArray  # (n,) at least 1
    values: IntArray | FloatArray  # (sum of lengths,) ids, or (sum of lengths, d) numbers

    def __len__(self) -> int:
        return len(self.length)

    def part(self, rows: IntArray) -> Inputs:
        """Return only the given samples."""
        padded, length = self.take(rows)
        return Inputs(length, padded[np.arange(padded.shape[1]) < length[:, None]])

    def take(self, rows: IntArray | slice) -> tuple[IntArray | FloatArray, IntArray]:
        """Return the given samples, padded to (b, longest[, d]), and their lengths (b,)."""
        length = self.length[rows]
        start = (np.cumsum(self.length) - self.length)[rows]
        place = np.arange(length.max(initial=1))
        inside = place < length[:, None]  # (b, longest)
        padded = np.zeros((*inside.shape, *self.values.shape[1:]), dtype=self.values.dtype)
        padded[inside] = self.values[(start[:, None] + place)[inside]]
        return padded, length


@savable(names=("tokens",))
@dataclass(frozen=True, slots=True, eq=False)
class TokenReader:
    """Reads texts or lists of tokens; a token not seen in training becomes ``UNKNOWN``.

    Tokens that stand-ins stand for have the ids after those of all tokens seen in training.
    """

    tokeniser: Tokeniser
    tokens: tuple[Hashable, ...]  # token k has the id k + 1

    @property
    def n_tokens(self) -> int:
        """The number of ids, including 0 for ``UNKNOWN``."""
        return len(self.tokens) + 1

    @property
    def sizes(self) -> dict[str, int]:
        """What a network must know of its inputs."""
        return {"n_tokens": self.n_tokens, "n_features": 0}

    @property
    def reads_token_lists(self) -> bool:
        """Whether inputs were lists of tokens rather than texts, as far as the tokens show."""
        by_character = self.tokeniser.split == "char"
        return by_character and any(not isinstance(t, str) or len(t) > 1 for t in self.tokens)

    def as_batch(self, x: Any) -> Any:
        """A single input as a batch of one."""
        return [x]

    def read(self, X: Any, stand_ins: Sequence[StandIns] | None = None) -> Inputs:
        """Return the ids of all tokens. An empty input is read as one unknown token.

        Parameters
        ----------
        X : list of texts or token lists
        stand_ins : sequence of tuples, optional
            The tokens of each input that stand-ins stand for. By default there are none.

        Returns
        -------
        Inputs
        """
        of_tokens = {token: number for number, token in enumerate(self.tokens, UNKNOWN + 1)}
        samples = []
        for index, tokens in enumerate(token_lists(X, self.tokeniser)):
            ids = of_tokens
            if stand_ins is not None and stand_ins[index]:
                ids = of_tokens | {t: k for k, t in enumerate(stand_ins[index], self.n_tokens)}
            samples.append([ids.get(token, UNKNOWN) for token in tokens] or [UNKNOWN])
        length = np.array([len(sample) for sample in samples], dtype=np.intp)
        values = np.fromiter((i for sample in samples for i in sample), np.int64, int(length.sum()))
        return Inputs(length, values)


@savable()
@dataclass(frozen=True, slots=True, eq=False)
class NumericReader:
    """Reads vectors (n, d), or sequences of vectors (n, steps, d), and standardises them."""

    mean: FloatArray  # (d,)
    scale: FloatArray  # (d,)

    tokens: ClassVar[tuple[Hashable, ...]] = ()
    reads_token_lists: ClassVar[bool] = False

    @property
    def n_features(self) -> int:
        """The length of each vector."""
        return len(self.mean)

    @property
    def sizes(self) -> dict[str, int]:
        """What a network must know of its inputs."""
        return {"n_tokens": 0, "n_features": self.n_features}

    def as_batch(self, x: Any) -> Any:
        """A single input as a batch of one."""
        return np.asarray(x)[None]

    def read(self, X: Any, stand_ins: Sequence[StandIns] | None = None) -> Inputs:
        """Return standardised numbers; a vector is read as a sequence of one step.

        Parameters
        ----------
        X : array of numbers
        stand_ins : sequence of tuples, optional
            Not used: numbers are no tokens.

        Returns
        -------
        Inputs

        Raises
        ------
        DataError
            If the number of features differs from that in training.
        """
        numbers = _numbers(X)
        if numbers.shape[2] != self.n_features:
            raise DataError(
                f"X has {numbers.shape[2]} features, but {self.n_features} were seen in training; "
                "pass the same features in the same order"
            )
        n_samples, steps, width = numbers.shape
        scaled = ((numbers - self.mean) / self.scale).astype(np.float32)
        return Inputs(np.full(n_samples, steps), scaled.reshape(n_samples * steps, width))


InputReader = TokenReader | NumericReader


def learn_inputs(X: Any, tokeniser: Tokeniser, more_tokens: Iterable[Hashable] = ()) -> InputReader:
    """Learn from training inputs how to read inputs of the same kind.

    Parameters
    ----------
    X : iterable of texts or token lists, or numeric array
        The training inputs. An array has shape (n_samples, n_features) or (n_samples, n_steps,
        n_features).
    tokeniser : Tokeniser
        Splits texts into tokens.
    more_tokens : iterable of tokens, default=()
        Tokens that have ids although no training input has them.

    Returns
    -------
    TokenReader or NumericReader
        Reads inputs of the same kind.

    Raises
    ------
    DataError
        If an array has another shape, or holds NaN or infinity.
    KindError
        If an input is neither a text nor a list of tokens, or a token cannot be hashed.
    """
    if is_numeric(X):
        numbers = _numbers(X)
        flat = numbers.reshape(-1, numbers.shape[2])
        spread = flat.std(axis=0)
        return NumericReader(flat.mean(axis=0), np.where(spread > 0, spread, 1.0))
    tokens = {token for sample in token_lists(X, tokeniser) for token in sample}
    tokens.update(more_tokens)
    return TokenReader(tokeniser, tuple(sorted(tokens, key=canonical_rank)))


def sample_keys(X: Any) -> IntArray:
    """One number per input, by which it is recognised in other data.

    Parameters
    ----------
    X : list of inputs, or a numeric array

    Returns
    -------
    array of int64, shape (n_samples,)
    """
    # A long array prints as its ends only, hence as a list.
    coded = (
        np.asarray(x, dtype=np.float64).tobytes()
        if is_numeric(X)
        else repr(x.tolist() if isinstance(x, np.ndarray) else x).encode()
        for x in X
    )
    digests = b"".join(hashlib.blake2b(sample, digest_size=8).digest() for sample in coded)
    return np.frombuffer(digests, dtype=">i8").astype(np.int64)


def is_numeric(X: Any) -> bool:
    """Whether the inputs are an array of numbers."""
    if isinstance(X, list | tuple) or not hasattr(X, "__array__"):
        return False
    return np.asarray(X).dtype.kind in "biuf"


def _numbers(X: Any) -> FloatArray:
    if not is_numeric(X):
        raise KindError(
            f"this model was fitted on a numeric array, got {type(X).__name__}; "
            "pass an array of the same features"
        )
    numbers = np.asarray(X, dtype=np.float64)
    if numbers.ndim not in (2, 3) or numbers.shape[-1] == 0:
        raise DataError(
            f"a numeric X is a matrix (samples, features) or an array (samples, steps, features), "
            f"got shape {numbers.shape}"
        )
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        raise DataError(f"sample {row} of X holds NaN or infinity; fill or drop such values first")
    return numbers if numbers.ndim == 3 else numbers[:, None, :]


def token_lists(X: Any, tokeniser: Tokeniser) -> list[Sequence[Hashable]]:
    """Split inputs into tokens.

    Parameters
    ----------
    X : iterable of texts or token lists
    tokeniser : Tokeniser
        Splits texts.

    Returns
    -------
    list of sequences
        The tokens of each input.

    Raises
    ------
    KindError
        If an input is neither a text nor a list of tokens, or a token cannot be hashed.
    """
    if isinstance(X, str | bytes | dict) or not hasattr(X, "__iter__"):
        raise KindError(
            f"X is the {type(X).__name__} {X!r:.60}, not a list of inputs; put it in a list"
        )
    if is_numeric(X):
        raise KindError("this model was fitted on texts or token lists, got a numeric array")
    return [_tokens_of(x, index, tokeniser) for index, x in enumerate(X)]


def _tokens_of(x: Any, index: int, tokeniser: Tokeniser) -> Sequence[Hashable]:
    if not isinstance(x, str | list | tuple | np.ndarray):
        raise KindError(
            f"sample {index} of X is the {type(x).__name__} {x!r:.60}; pass a string or a list of "
            "tokens, or a numeric array for all samples"
        )
    if isinstance(x, np.ndarray):
        x = x.tolist()
    tokens = tuple(tokeniser(x) if isinstance(x, str) else x)
    try:
        hash(tokens)
    except TypeError as error:
        raise KindError(
            f"sample {index} of X holds a token that cannot be hashed ({error}); "
            "use strings, numbers or tuples as tokens"
        ) from error
    return tokens
