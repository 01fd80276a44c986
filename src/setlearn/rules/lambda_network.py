"""What the λ-networks share: a network sees all scores and judges each choice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from setlearn.errors import DataError, ParameterError
from setlearn.networks.training_settings import Training, TrainsNetwork, hold_out
from setlearn.nodes import (
    BoolArray,
    FloatArray,
    IntArray,
    Mask,
    Nodes,
    check_positive,
    dense_mask,
    log_odds,
)
from setlearn.rules.base import Rule
from setlearn.rules.min_size import check_min_size, fill_up, learned_min_size
from setlearn.rules.threshold import best_cut, check_cut

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from setlearn.networks.training_loop import Epoch

__all__ = ["LambdaNetwork"]

BLOCK_ENTRIES = 131_072
"""Scores that go through a network together: some tens of MB with its activations."""

VALIDATION = 0.2
"""The share of the samples that is held out if `Training` does not say."""


class LambdaNetwork(TrainsNetwork, Rule):
    """Learns with a network which choices are right, instead of one λ.

    A subclass builds its module in ``new_network``. All λ-networks are trained with binary cross
    entropy, stop by the loss on held-out *samples*, and keep each choice whose probability
    according to the network is above the cut.
    """

    adjustable: ClassVar[tuple[str, ...]] = ("cut", "min_size")
    suited_training: ClassVar[Mapping[str, Any]] = {
        "batch_size": 64,
        "learning_rate": 1e-3,
        "max_steps": 4000,
        "patience": 10,
    }

    network_: nn.Module
    """Stored in float64, so that answers do not depend on how rows are batched."""
    history_: list[Epoch]
    cut_: float
    min_size_: int
    n_choices_: int
    n_positions_: int

    def __init__(
        self,
        *,
        cut: float | Literal["tuned"] = 0.5,
        min_size: int | None = None,
        training: Training | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.cut = cut
        self.min_size = min_size
        self.training = training
        self.random_state = random_state

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless the cut, the least size and the training are in range."""
        check_cut(self.cut)
        check_min_size(self.min_size)
        self._training_plan()
        training = self._training()
        if training.device not in ("auto", "cpu"):
            raise ParameterError(
                f"a λ-network is trained on the CPU, got device={training.device!r}; "
                'use Training(device="auto")'
            )

    @abstractmethod
    def new_network(self) -> nn.Module:
        """Build the module with fresh weights, from the parameters and the learned sizes.

        It takes logits (n, V) and positions (n,), and for rows with padding a mask (n, V) of
        the available choices; it returns logits (n, V).
        """

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Train the network on most samples, and use the others to stop and to tune the cut.

        Parameters
        ----------
        nodes : Nodes
        positive : mask of shape (n, V)
            The right choices.

        Returns
        -------
        self
        """
        from setlearn.networks.runtime import seeded

        self.check_parameters()
        check_positive(nodes, positive)
        self._check_padding(nodes)
        self.min_size_ = learned_min_size(self.min_size, nodes, positive)
        if nodes.available is not None:
            nodes, positive = _compact_with(nodes, positive)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        # The prefixes of one sample depend on each other, so whole samples are held out.
        validation = self._training().validation
        share = VALIDATION if validation is None else validation
        fit_rows, held_rows = hold_out(nodes.sample, share, rng)
        self.n_choices_ = nodes.n_choices
        self.n_positions_ = int(nodes.depth[fit_rows].max()) + 1
        with seeded(seed):
            network = self.new_network()
        self.history_ = self._train(network, nodes, positive, fit_rows, held_rows, seed)
        self.network_ = network.double()
        watched = held_rows if len(held_rows) else fit_rows
        self.cut_ = self._choose_cut(nodes, positive, watched)
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep each choice to which the network gives a probability above the cut."""
        self._check_fitted("network_")
        self._check_choices(nodes)
        kept = np.empty(nodes.probabilities.shape, dtype=bool)
        for rows in nodes.row_chunks():
            judged = self.judge(nodes[rows])
            above = judged.completed(judged.probabilities > self.cut_)
            kept[rows] = fill_up(above, judged, self.min_size_)
        return kept

    def judge(self, nodes: Nodes) -> Nodes:
        """Return the same choice points with the network's probability of each choice."""
        self._check_fitted("network_")
        self._check_choices(nodes)
        if nodes.available is None:
            probabilities = self._judged(nodes)
        else:
            probabilities = np.zeros(nodes.probabilities.shape)
            rows = np.flatnonzero(nodes.n_available)
            part = nodes[rows]
            # Row by row the choices come first, so their order is that of the mask.
            compact = _compact(part)
            is_choice = np.arange(compact.n_choices) < part.n_available[:, None]
            judged = np.zeros(part.probabilities.shape)
            judged[part.available] = self._judged(compact)[is_choice]
            probabilities[rows] = judged
        return replace(nodes, probabilities=probabilities, prefix_probability=None, examples=None)

    def _judged(self, nodes: Nodes) -> FloatArray:
        import torch

        probabilities = np.empty(nodes.probabilities.shape)
        with torch.no_grad():
            for rows in _blocks(nodes):
                logits = self.network_(*_network_inputs(nodes[rows], torch.float64))
                probabilities[rows] = logits.sigmoid().numpy()
        return probabilities

    def figures(self, node: Nodes, choice: int, memory: Sequence[int]) -> dict[str, float]:
        """The probability of the choice, that of the network, and the cut."""
        judged = float(self.judge(node).probabilities[0, choice])
        return {**super().figures(node, choice, memory), "network": judged, "cut": self.cut_}

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Compare the network's probability of the choice with the cut."""
        probability = self.judge(node).probabilities[0, choice]
        return (
            f"the λ-network gives {name} a probability of {probability:.4g}, "
            f"which does not exceed the cut {self.cut_:.4g}"
        )

    def _check_padding(self, nodes: Nodes) -> None:
        """Raise if there is padding that the network cannot handle."""

    def _is_tied_to_choices(self, nodes: Nodes) -> bool:
        """Whether these choice points must have the number of choices seen in ``fit``."""
        return nodes.available is None

    def _check_choices(self, nodes: Nodes) -> None:
        self._check_padding(nodes)
        if self._is_tied_to_choices(nodes) and nodes.n_choices != self.n_choices_:
            raise DataError(
                f"this {type(self).__name__} was fitted on {self.n_choices_} choices, got "
                f"{nodes.n_choices}; pass scores of the same vocabulary, or fit it again"
            )

    def _train(
        self,
        network: nn.Module,
        nodes: Nodes,
        positive: Mask,
        fit_rows: IntArray,
        held_rows: IntArray,
        seed: int,
    ) -> list[Epoch]:
        from setlearn.networks.runtime import one_thread
        from setlearn.networks.training_loop import Trainer

        trainer = Trainer(
            network,
            lambda rows: _mean_loss(network, nodes, positive, fit_rows[rows.numpy()]),
            len(fit_rows),
            self._training_plan(),
            seed=seed,
            evaluate=_held_out_merit(network, nodes, positive, held_rows),
            verbose=self._training().verbose,
            description=type(self).__name__,
        )
        with one_thread():
            return trainer.fit()

    def _choose_cut(self, nodes: Nodes, positive: Mask, rows: IntArray) -> float:
        if self.cut != "tuned":
            return float(self.cut)
        return best_cut(self.judge(nodes[rows]), positive[rows], self.min_size_)


def _compact(nodes: Nodes) -> Nodes:
    """The same choice points with padding last, and no wider than their longest row.

    So what a network sees does not depend on where the padding is or how much of it there is.
    """
    assert nodes.available is not None
    lengths = nodes.n_available
    available = np.arange(int(lengths.max(initial=0))) < lengths[:, None]
    probabilities = np.zeros(available.shape, dtype=nodes.probabilities.dtype)
    probabilities[available] = nodes.probabilities[nodes.available]
    has_padding = not available.all()
    return Nodes(
        nodes.sample, nodes.depth, probabilities, available=available if has_padding else None
    )


def _compact_with(nodes: Nodes, positive: Mask) -> tuple[Nodes, Mask]:
    """Compact nodes and their mask; choice points without any choice are left out."""
    assert nodes.available is not None
    rows = np.flatnonzero(nodes.n_available)
    if len(rows) == 0:
        raise DataError("no choice point has any choice, so there is nothing to learn from")
    nodes, positive = nodes[rows], sparse.csr_array(positive[rows])
    assert nodes.available is not None
    place = np.cumsum(nodes.available, axis=1) - 1  # of each choice among the available ones
    row, choice = positive.nonzero()
    listed = nodes.available[row, choice]  # what is not listed cannot be kept
    row, choice = row[listed], choice[listed]
    compact = _compact(nodes)
    right = np.ones(len(row), dtype=bool)
    shape = compact.probabilities.shape
    return compact, sparse.csr_array((right, (row, place[row, choice])), shape=shape)


def _network_inputs(nodes: Nodes, dtype: torch.dtype) -> tuple[Tensor, ...]:
    import torch

    logits = torch.as_tensor(log_odds(nodes.probabilities), dtype=dtype)  # (n, V)
    position = torch.as_tensor(nodes.depth, dtype=torch.long)
    if not nodes.has_padding:
        return logits, position
    return logits, position, torch.as_tensor(nodes.available)


def _mean_loss(network: nn.Module, nodes: Nodes, positive: Mask, rows: IntArray) -> Tensor:
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    part = nodes[rows]
    judged = network(*_network_inputs(part, torch.float32))
    right = torch.as_tensor(dense_mask(positive[rows], slice(None)), dtype=torch.float32)
    if part.has_padding:
        available = torch.as_tensor(part.available)
        judged, right = judged[available], right[available]
    return binary_cross_entropy_with_logits(judged, right)


def _held_out_merit(
    network: nn.Module, nodes: Nodes, positive: Mask, rows: IntArray
) -> Callable[[], float] | None:
    """Make the function that measures the network on held-out rows, if there are any."""
    if not len(rows):
        return None
    blocks = [rows[block] for block in _blocks(nodes[rows])]

    def merit() -> float:
        losses = [float(_mean_loss(network, nodes, positive, block)) for block in blocks]
        return -float(np.average(losses, weights=[len(block) for block in blocks]))

    return merit


def _blocks(nodes: Nodes) -> list[slice]:
    size = max(1, BLOCK_ENTRIES // max(1, nodes.n_choices))
    return [slice(start, min(start + size, len(nodes))) for start in range(0, len(nodes), size)]
