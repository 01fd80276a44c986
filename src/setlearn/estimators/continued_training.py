"""Goes on with the training of fitted networks, with the same samples held out as before."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import clone

from setlearn.errors import DataError, ParameterError, SetlearnWarning, warn_user
from setlearn.estimators.mixture_scorer import MixtureScorer
from setlearn.estimators.mixture_source import Mixture
from setlearn.estimators.scorer_choice import SuitedScorer
from setlearn.estimators.scorer_sources import NewNetwork, PassedScorer, ScorerSource
from setlearn.estimators.sequence_problem import SampleSplit, SequenceProblem
from setlearn.networks.training_settings import MIN_HELD_OUT, TrainingPlan
from setlearn.nodes import IntArray
from setlearn.scorers.base import TokenScorer
from setlearn.scorers.injected import InjectedScorer
from setlearn.sequence_inputs import InputReader, is_numeric, sample_keys, token_lists
from setlearn.vocabulary import Split, Vocabulary

if TYPE_CHECKING:
    from setlearn.estimators.sequence_training import SequenceTraining
    from setlearn.scorers.sequences import SequenceScorer

__all__ = ["continued", "kept_split"]

Splits = tuple[Split | None, Split | None]


class TrainedNetwork(NewNetwork):
    """A network that is trained already: a copy of it is trained further.

    Parameters
    ----------
    scorer : TokenScorer
        The scorer with the trained network.
    tokens : pair
        How texts were split for it.
    """

    def __init__(self, scorer: TokenScorer, tokens: Splits) -> None:
        self.scorer = cast("SequenceScorer", scorer)  # only it has a network
        super().__init__(self.scorer.recipe)
        self.splits = tokens

    @property
    def vocabulary(self) -> Vocabulary:
        """That of the trained network."""
        return self.scorer.vocabulary

    @property
    def tokens(self) -> Splits:
        """How texts were split for the trained network."""
        return self.splits

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
                    "fit a new model instead (warm_start=False)",
                    advice={"warm_start": False},
                )
        return reader

    def _suited_steps(self, plan: TrainingPlan, split: SampleSplit) -> int:
        """Not known: the steps before count too."""
        return 0

    def _prepare(self, training: SequenceTraining) -> None:
        """Take the trained weights."""
        weights = self.scorer.network.state_dict()
        training.scorer.network.load_state_dict(weights)
        training.start = _digest(b"".join(w.cpu().numpy().tobytes() for w in weights.values()))


class ContinuedMixture(Mixture):
    """A mixture whose networks are trained already.

    Parameters
    ----------
    parts : sequence of ScorerSource
    tokens : pair
        How texts were split for them.
    """

    def __init__(self, parts: Sequence[ScorerSource], tokens: Splits) -> None:
        super().__init__(parts)
        self.splits = tokens

    @property
    def tokens(self) -> Splits:
        """How texts were split for the trained networks."""
        return self.splits


def continued(source: ScorerSource, scorer: TokenScorer, tokens: Splits) -> ScorerSource:
    """A source that goes on with the networks in a fitted scorer.

    Parts of a mixture that are no networks are fitted again. If the mixture has dropped its
    network, as after a very short training, that starts anew.

    Parameters
    ----------
    source : ScorerSource
        What the estimator is to train now; it must be what it has trained.
    scorer : TokenScorer
        The fitted scorer.
    tokens : pair
        How texts were split for it.

    Returns
    -------
    ScorerSource

    Raises
    ------
    ParameterError
        If there is no network, or another one.
    """
    trained = _source_of(scorer)
    if not source.trains_network:
        raise ParameterError(
            "warm_start goes on with the training of a network, but "
            f"{', '.join(trained.described())} is a scorer without one; fit a new model instead "
            "(warm_start=False)",
            advice={"warm_start": False},
        )
    if not trained.trains_network:
        warn_user(
            SetlearnWarning(
                f"there is no network to continue with, only {', '.join(trained.described())}, so "
                "training starts anew; give it more steps or time than before",
                advice={"max_steps": None, "max_seconds": None},
            )
        )
        return source
    # Some parts of a mixture may have been dropped.
    if not (isinstance(source, SuitedScorer) or {*trained.described()} <= {*source.described()}):
        raise ParameterError(
            f"warm_start goes on with {', '.join(trained.described())}, which was trained, but "
            f"network is now {', '.join(source.described())}; leave it as it was, or fit a new "
            "model instead (warm_start=False)",
            advice={"warm_start": False},
        )
    if isinstance(scorer, MixtureScorer):
        parts = [
            TrainedNetwork(part, tokens) if hasattr(part, "network") else _source_of(part)
            for part in scorer.scorers
        ]
        return ContinuedMixture(parts, tokens)
    return TrainedNetwork(scorer, tokens)


def _source_of(scorer: TokenScorer) -> ScorerSource:
    """Where a fitted scorer came from."""
    if isinstance(scorer, MixtureScorer):
        return Mixture([_source_of(part) for part in scorer.scorers])
    if isinstance(scorer, InjectedScorer):
        passed = scorer.scorer
        return PassedScorer(clone(passed) if hasattr(passed, "get_params") else passed)
    return NewNetwork(scorer.recipe)  # type: ignore[attr-defined]  # all others have one


def kept_split(split: SampleSplit, X: Any, held_out: IntArray, keys: IntArray) -> SampleSplit:
    """Hold out the samples that were held out before.

    Parameters
    ----------
    split : SampleSplit
        What would be held out in a new training.
    X : list of inputs, or a numeric array
    held_out : array of int
        Which samples were held out before.
    keys : array of int
        The keys of these samples, see `sample_keys`. If there are none, it is a new split.

    Returns
    -------
    SampleSplit

    Raises
    ------
    DataError
        If nothing is left to train on.
    """
    if len(keys) == 0:
        return split
    here = sample_keys(X)
    rows = held_out[held_out < len(here)]
    if not np.array_equal(here[rows], keys):
        rows = np.flatnonzero(np.isin(here, keys))
        if len(rows) < MIN_HELD_OUT:  # other samples
            rows = np.union1d(rows, split.held_out)
        if len(rows) == len(here):
            raise DataError(
                f"all {len(here)} samples of X were held out in the training before, so there is "
                "nothing to train on; pass the samples that it was trained on too"
            )
    return SampleSplit(np.setdiff1d(np.arange(len(here)), rows), rows)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
