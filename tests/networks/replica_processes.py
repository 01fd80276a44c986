"""What three processes do for tests/networks/test_replicas.py, in groups of two or three."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
import torch
import torch.multiprocessing
from safetensors.torch import save_file
from torch import distributed

from setlearn import SequenceSetGenerator
from setlearn.estimators import sequence_training
from setlearn.networks import LSTM, Training, Transducer, Transformer, transformer
from setlearn.networks.checkpoint import copies
from setlearn.networks.replicas import trained_together
from setlearn.networks.training_settings import TrainingPlan
from setlearn.rules import Threshold
from tests.networks.small_training import line_trainer

__all__ = ["CASES", "fitted", "learned_f1", "run_in_processes"]


def words(n):
    """Words of different lengths, and sets of prefixes that follow from them; some are empty."""
    generator = torch.Generator().manual_seed(0)
    X, Y = [], []
    for _ in range(n):
        length = int(torch.randint(2, 9, (1,), generator=generator))
        word = "".join("abcde"[int(i)] for i in torch.randint(5, (length,), generator=generator))
        X.append(word)
        Y.append({word[:n] for n in range(1, 4) if "abc"[n - 1] in word})
    return X, Y


class InDouble:
    """A recipe for double precision, in which sums in another order are nearly equal."""

    def __init__(self, recipe):
        self.recipe = recipe
        self.loss = recipe.loss
        self.copies_tokens = recipe.copies_tokens
        self.reads_spelling = recipe.reads_spelling

    def build(self, **sizes: Any):
        network = self.recipe.build(**sizes).double()
        network.precision = torch.float64
        return network


@dataclass(frozen=True)
class Case:
    """A network, and how it is trained."""

    recipe: Any
    n_samples: int = 30
    n_replicas: int = 2
    n_steps: int = 1
    most_nodes: int = 50_000
    tolerance: float = 1e-10


RECIPES = {
    f"{name}, {loss} loss": InDouble(recipe(width=8, dropout=0, loss=loss, **more))
    for loss in ("node", "sequence")
    for name, recipe, more in (
        ("transformer", Transformer, {"heads": 2, "encoder_layers": 1}),
        ("transducer", Transducer, {"heads": 2, "layers": 1, "members": 2}),
    )
}
RECIPES |= {f"lstm, {x} loss": InDouble(LSTM(6, 5, 6, loss=x)) for x in ("node", "sequence")}
CASES = {
    **{name: Case(recipe) for name, recipe in RECIPES.items()},
    **{f"{name}, three": Case(recipe, 10, n_replicas=3) for name, recipe in RECIPES.items()},
    # The third replica has nothing to do.
    **{f"{name}, empty share": Case(recipe, 2, n_replicas=3) for name, recipe in RECIPES.items()},
    "lstm in parts": Case(RECIPES["lstm, sequence loss"], n_replicas=3, most_nodes=40),
    "transducer in parts": Case(RECIPES["transducer, node loss"], most_nodes=40),
    "many steps": Case(RECIPES["transducer, node loss"], n_steps=30, tolerance=1e-6),
    "single precision": Case(LSTM(6, 5, 6, loss="node"), tolerance=1e-6),
}


def fitted(case):
    """A model that is trained as the case says."""
    training = Training(
        max_steps=case.n_steps, validation=0, schedule="constant", batch_size=16, weight_decay=0.1
    )
    model = SequenceSetGenerator(
        case.recipe, Threshold(0.5), tokens="char", training=training, random_state=0
    )
    with pytest.MonkeyPatch.context() as changes:
        changes.setattr(sequence_training, "MOST_NODES", case.most_nodes)
        # What is random would not be the same for a share as for the whole batch.
        changes.setattr(transformer, "late_starts", torch.zeros_like)
        return model.fit(*words(case.n_samples))


def learned_f1():
    """The mean F1 on new words of a model that was trained until it knows the task."""
    X, Y = words(400)
    training = Training(max_steps=300, batch_size=32, learning_rate=0.01, schedule="one-cycle")
    network = Transformer(width=16, heads=2, encoder_layers=1, dropout=0.1)
    model = SequenceSetGenerator(network, Threshold(0.5), training=training, random_state=0)
    return model.fit(X[:300], Y[:300]).score(X[300:], Y[300:])


def run_in_processes(folder):
    """Run everything; the processes leave what they got in the folder."""
    torch.multiprocessing.spawn(_run_all, (folder,), nprocs=3)


def _run_all(rank, folder):
    torch.set_num_threads(1)
    for n_replicas in (3, 2):
        if rank < n_replicas:
            with _group(rank, n_replicas, folder / f"group of {n_replicas}"):
                for name, case in CASES.items():
                    if case.n_replicas == n_replicas:
                        _run_case(name, case, rank, folder)
    if rank < 2:
        for run in (learned, timed, resumed, other_data, failed_evaluation, failed, ended):
            with _group(rank, 2, folder / f"group of {run.__name__}"):
                outcome = run(rank, folder)
            (folder / f"{run.__name__}-{rank}.json").write_text(json.dumps(outcome))


@contextmanager
def _group(rank, size, file):
    distributed.init_process_group(
        "gloo", f"file://{file}", rank=rank, world_size=size, timeout=timedelta(seconds=60)
    )
    yield
    if distributed.is_initialized():  # not after an error
        distributed.destroy_process_group()


def _run_case(name, case, rank, folder):
    with trained_together():
        model = fitted(case)
    save_file(copies(model.network_.state_dict()), folder / f"{name}-{rank}.safetensors")


def learned(rank, folder):
    with trained_together():
        return learned_f1()


def timed(rank, folder):
    """After how many steps a time limit ends the training."""
    plan = TrainingPlan(batch_size=16, max_steps=10**6, max_seconds=0.5, schedule="one-cycle")
    with trained_together():
        return [epoch["step"] for epoch in line_trainer(plan, weight=len).fit()]


def resumed(rank, folder):
    """The weights of a training that was interrupted, and of one that was not.

    Only the first replica has a checkpoint.
    """

    def weights(n_steps, checkpoint):
        plan = TrainingPlan(batch_size=16, max_steps=n_steps, patience=10**6)
        with trained_together():
            trainer = line_trainer(plan, weight=len, checkpoint=checkpoint)
            trainer.fit()
        return {name: w.tolist() for name, w in trainer.network.state_dict().items()}

    checkpoint = folder / f"checkpoint-{rank}"
    weights(70, checkpoint)
    return {
        "resumed": weights(140, checkpoint),
        "uninterrupted": weights(140, None),
        "has checkpoint": checkpoint.exists(),
    }


def other_data(rank, folder):
    return _error_of(lambda: line_trainer(weight=len, n_rows=50 + rank))


def failed_evaluation(rank, folder):
    return _error_of(lambda: line_trainer(weight=len, evaluate=lambda: 1 / 0))


def failed(rank, folder):
    """The second replica fails in its fourth step, as if there was no memory left."""
    return _error_of(lambda: _failing_trainer(rank, MemoryError))


def ended(rank, folder):
    """The second replica ends in its fourth step, as if it was killed."""
    return _error_of(lambda: _failing_trainer(rank, lambda: os._exit(0)))


def _failing_trainer(rank, fail):
    trainer, steps = line_trainer(weight=len), count(1)
    loss = trainer.loss

    def failing_loss(rows):
        if rank == 1 and next(steps) == 4:
            raise fail()
        return loss(rows)

    trainer.loss = failing_loss
    return trainer


def _error_of(new_trainer):
    try:
        with trained_together():
            new_trainer().fit()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"
