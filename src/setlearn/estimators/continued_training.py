"""Goes on with the training of a fitted network, with the same samples held out as before."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from setlearn.errors import DataError, ParameterError
from setlearn.estimators.sequence_problem import NewNetwork, SequenceProblem, scorer_source
from setlearn.networks.training_settings import MIN_HELD_OUT
from setlearn.nodes import IntArray
from setlearn.scorers.base import TokenScorer
from setlearn.sequence_inputs import InputReader, is_numeric, token_lists
from setlearn.vocabulary import Split, Vocabulary

if TYPE_CHECKING:
    from setlearn.estimators.sequence_training import SequenceTraining
    from setlearn.scorers.sequences import SequenceScorer

__all__ = ["TrainedNetwork", "sample_keys"]


class TrainedNetwork(NewNetwork):
    """A network that is trained already: a copy of it is trained further.

    Parameters
    ----------
    network : str, recipe or scorer
        What the estimator is to train now; it must be what it has trained.
    scorer : TokenScorer
        The scorer with the trained network.
    held_out : array of int
        Which samples its training has not seen.
    held_out_keys : array of int
        The keys of these samples, see `sample_keys`.

    Raises
    ------
    ParameterError
        If there is no network, or another one.
    """

    def __init__(
        self, network: Any, scorer: TokenScorer, held_out: IntArray, held_out_keys: IntArray
    ) -> None:
        source = scorer_source(network)
        if not isinstance(source, NewNetwork):
            raise ParameterError(
                f"warm_start goes on with the training of a network, but {network!r} is a scorer "
                "without one; set warm_start=False"
            )
        trained = getattr(scorer, "recipe", None)
        if repr(source.recipe) != repr(trained):
            raise ParameterError(
                f"warm_start goes on with the network {trained!r} that was trained, but "
                f"network is now {source.recipe!r}; leave it as it was, or set warm_start=False"
            )
        super().__init__(trained)
        self.scorer = cast("SequenceScorer", scorer)  # only it has a recipe
        self.held_out = held_out
        self.held_out_keys = held_out_keys

    @property
    def vocabulary(self) -> Vocabulary:
        """That of the trained network."""
        return self.scorer.vocabulary

    @property
    def tokens(self) -> tuple[Split | None, Split | None]:
        """How texts were split for the trained network."""
        tokeniser = getattr(self.scorer.reader, "tokeniser", None)
        return (None if tokeniser is None else tokeniser.split, self.vocabulary.tokeniser.split)

    def _reader(self, problem: SequenceProblem) -> InputReader:
        """The reader of the trained network, which must know all tokens."""
        reader = self.scorer.reader
        if is_numeric(problem.X) or not reader.tokens:
            return reader
        known = {*reader.tokens}
        for index, tokens in enumerate(token_lists(problem.X, problem.input_tokeniser)):
            new = [token for token in tokens if token not in known]
            if new:
                raise DataError(
                    f"sample {index} of X holds the token {new[0]!r}, which the trained network "
                    "does not know, so its training cannot be continued; leave the sample out, or "
                    "set warm_start=False"
                )
        return reader

    def _prepare(self, training: SequenceTraining, problem: SequenceProblem) -> None:
        """Take the trained weights, and hold out the samples that were held out before."""
        weights = self.scorer.network.state_dict()
        training.scorer.network.load_state_dict(weights)
        training.start = _digest(b"".join(w.cpu().numpy().tobytes() for w in weights.values()))
        keys = sample_keys(problem.X)
        same = self.held_out[self.held_out < len(keys)]
        if np.array_equal(keys[same], self.held_out_keys):
            training.hold_out_rows(same)
            return
        held_out = np.flatnonzero(np.isin(keys, self.held_out_keys))
        if len(held_out) < MIN_HELD_OUT:  # other samples
            held_out = np.union1d(held_out, training.held_out)
        if len(held_out) == len(keys):
            raise DataError(
                f"all {len(keys)} samples of X were held out in the training before, so there is "
                "nothing to train on; pass the samples that it was trained on too"
            )
        training.hold_out_rows(held_out)


def sample_keys(X: Any) -> IntArray:
    """One number per input, by which it is recognised in other data.

    Parameters
    ----------
    X : list of inputs, or a numeric array

    Returns
    -------
    array of int64, shape (n_samples,)
    """
    coded = (
        np.asarray(x, dtype=np.float64).tobytes() if is_numeric(X) else repr(x).encode() for x in X
    )
    return np.array([int(_digest(sample), 16) for sample in coded], dtype=np.uint64).view(np.int64)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
