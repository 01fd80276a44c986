"""A small training run, for the tests of the training loop and of its checkpoints."""

from __future__ import annotations

import torch
from torch import nn

from setlearn.networks.runtime import seeded
from setlearn.networks.training_loop import Trainer
from setlearn.networks.training_settings import TrainingPlan

__all__ = ["N_ROWS", "assert_same_weights", "line_trainer", "weights_of"]

N_ROWS = 100


def line_trainer(plan=None, *, seed=0, n_rows=N_ROWS, width=4, checkpoint=None, **options):
    """A small network with dropout that learns y = sum of x."""
    with seeded(1):
        x = torch.randn(n_rows, 3)
        network = nn.Sequential(
            nn.Linear(3, width), nn.ReLU(), nn.Dropout(0.3), nn.Linear(width, 1)
        )
    target = x.sum(dim=1, keepdim=True)

    def loss(rows):
        return nn.functional.mse_loss(network(x[rows]), target[rows])

    def merit():
        error = float(nn.functional.mse_loss(network(x), target))
        return {"held_out": -error, "held_out_loss": error}

    options.setdefault("evaluate", merit)
    plan = plan or TrainingPlan(batch_size=16, learning_rate=0.01, max_steps=300, evaluate_every=20)
    return Trainer(network, loss, n_rows, plan, seed=seed, checkpoint=checkpoint, **options)


def weights_of(trainer):
    return {name: weight.clone() for name, weight in trainer.network.state_dict().items()}


def assert_same_weights(left, right):
    assert left.keys() == right.keys()
    for name in left:
        assert torch.equal(left[name], right[name]), name
