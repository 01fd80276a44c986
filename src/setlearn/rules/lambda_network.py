"""What the λ-networks share: a network that looks at all scores and judges each choice."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from setlearn.errors import DataError
from setlearn.networks.training_settings import TrainingPlan
from setlearn.nodes import BoolArray, IntArray, Mask, Nodes, dense_mask
from setlearn.rules.base import Rule, check_min_size, check_positive, fill_up, learned_min_size
from setlearn.rules.log_odds import log_odds
from setlearn.rules.threshold import best_cut, check_cut

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch
    from torch import Tensor, nn

    from setlearn.networks.training_loop import Epoch

__all__ = ["LambdaNetwork", "log_odds"]

BLOCK_ENTRIES = 131_072
"""Scores that go through a network together: some tens of MB with its activations."""


class LambdaNetwork(Rule):
    """Learns by a network which choices are right, in place of a λ.

    A kind of λ-network says in ``build`` which module it is. All of them learn by binary cross
    entropy, stop by the loss on held-out *samples*, and keep each choice whose probability, in
    the network's eyes, exceeds the cut.
    """

    network_: nn.Module
    """Held in float64, so that answers do not depend on how rows are batched."""
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
        learning_rate: float = 1e-3,
        batch_size: int = 64,
        max_steps: int = 4000,
        patience: int = 10,
        validation: float = 0.2,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.cut = cut
        self.min_size = min_size
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_steps = max_steps
        self.patience = patience
        self.validation = validation
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self, n_positions: int = 1) -> None:
        """Raise unless the cut and the numbers of training are in range."""
        check_cut(self.cut)
        check_min_size(self.min_size)
        self._plan()

    @abstractmethod
    def build(self, n_choices: int, n_positions: int) -> nn.Module:
        """Make the untrained module: logits (n, V) and position (n,) in, logits (n, V) out."""

    def fit(self, nodes: Nodes, positive: Mask) -> Self:
        """Train the network on most samples, and on the others watch it and tune the cut."""
        from setlearn.networks.runtime import seeded
        from setlearn.networks.training_loop import hold_out

        self.check_parameters()
        check_positive(nodes, positive)
        self.min_size_ = learned_min_size(self.min_size, nodes, positive)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        # The prefixes of one sample share its fate, so whole samples are held out.
        fit_rows, held_rows = hold_out(nodes.sample, self.validation, rng)
        self.n_choices_ = nodes.n_choices
        self.n_positions_ = int(nodes.depth[fit_rows].max()) + 1
        with seeded(seed):
            network = self.build(self.n_choices_, self.n_positions_)
        self.history_ = self._train(network, nodes, positive, fit_rows, held_rows, seed)
        self.network_ = network.double()
        watched = held_rows if len(held_rows) else fit_rows
        self.cut_ = self._choose_cut(nodes, positive, watched)
        return self

    def accept(self, nodes: Nodes) -> BoolArray:
        """Keep what the network gives a probability above the cut."""
        self._check_fitted("network_")
        self._check_choices(nodes)
        kept = np.empty(nodes.probabilities.shape, dtype=bool)
        for rows in nodes.row_chunks():
            judged = self.judge(nodes[rows])
            above = judged.probabilities > self.cut_
            if judged.known is not None:
                above |= judged.known
            kept[rows] = fill_up(above, judged, self.min_size_)
        return kept

    def judge(self, nodes: Nodes) -> Nodes:
        """Return the same choice points with the network's probability of each choice."""
        import torch

        self._check_fitted("network_")
        self._check_choices(nodes)
        probabilities = np.empty(nodes.probabilities.shape)
        with torch.no_grad():
            for rows in _blocks(nodes):
                logits = self.network_(*_network_inputs(nodes[rows], torch.float64))
                probabilities[rows] = logits.sigmoid().numpy()
        return Nodes(nodes.sample, nodes.depth, probabilities, nodes.known)

    def reason_against(self, node: Nodes, choice: int, name: str) -> str:
        """Say what the network thinks of the choice."""
        probability = self.judge(node).probabilities[0, choice]
        return (
            f"the λ-network gives {name} a probability of {probability:.4g}, "
            f"which does not exceed the cut {self.cut_:.4g}"
        )

    def _check_choices(self, nodes: Nodes) -> None:
        if nodes.n_choices != self.n_choices_:
            raise DataError(
                f"this {type(self).__name__} was fitted on {self.n_choices_} choices, got "
                f"{nodes.n_choices}; give scores of the same vocabulary, or fit it again"
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
            self._plan(),
            seed=seed,
            evaluate=_held_out_merit(network, nodes, positive, held_rows),
            verbose=self.verbose,
            description=type(self).__name__,
        )
        with one_thread():
            return trainer.fit()

    def _plan(self) -> TrainingPlan:
        return TrainingPlan(
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            max_steps=self.max_steps,
            patience=self.patience,
        )

    def _choose_cut(self, nodes: Nodes, positive: Mask, rows: IntArray) -> float:
        if self.cut != "tuned":
            return float(self.cut)
        return best_cut(self.judge(nodes[rows]), positive[rows], self.min_size_)


def _network_inputs(nodes: Nodes, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    import torch

    logits = torch.as_tensor(log_odds(nodes.probabilities), dtype=dtype)  # (n, V)
    return logits, torch.as_tensor(nodes.depth, dtype=torch.long)


def _mean_loss(network: nn.Module, nodes: Nodes, positive: Mask, rows: IntArray) -> Tensor:
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    logits, position = _network_inputs(nodes[rows], torch.float32)
    right = torch.as_tensor(dense_mask(positive[rows], slice(None)), dtype=torch.float32)
    return binary_cross_entropy_with_logits(network(logits, position), right)


def _held_out_merit(
    network: nn.Module, nodes: Nodes, positive: Mask, rows: IntArray
) -> Callable[[], float] | None:
    """Make the function that says how well the network does on rows held out, if any are."""
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
