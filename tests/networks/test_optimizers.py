"""Optimizers that leave torch's compiler alone, against torch's own."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from setlearn.networks.optimizers import PlainAdam, PlainAdamW


@pytest.mark.parametrize(
    ("plain", "original", "settings"),
    [
        (PlainAdam, torch.optim.Adam, {}),
        (PlainAdamW, torch.optim.AdamW, {"weight_decay": 0.1, "fused": True}),
    ],
)
def test_steps_are_those_of_torch(plain, original, settings):
    weights = []
    for kind in (plain, original):
        torch.manual_seed(0)
        layer, x = nn.Linear(3, 2), torch.randn(5, 3)
        optimizer = kind(layer.parameters(), lr=0.1, **settings)
        for _ in range(4):
            optimizer.zero_grad()
            layer(x).square().sum().backward()
            optimizer.step()
            optimizer.load_state_dict(optimizer.state_dict())
        weights.append(layer.weight.detach())
    assert torch.equal(*weights)


def test_training_does_not_import_the_compiler():
    code = (
        "import sys; from setlearn import SequenceSetGenerator\n"
        "from setlearn.networks import Training\n"
        "training = Training(max_steps=2, verbose=False)\n"
        "model = SequenceSetGenerator('transformer', training=training)\n"
        "model.fit(['ab', 'cd'] * 9, [{'a'}, {'c'}] * 9)\n"
        "print(model.history_[-1]['step'], 'torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2 False"
