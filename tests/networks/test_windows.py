"""Windows of long inputs, and what the copy head keeps of them."""

import pytest
import torch

from setlearn.networks import windows
from setlearn.networks.copy_head import CopyHead, _of_stretches
from setlearn.networks.windows import Windows


@pytest.mark.parametrize("n", [1, 7, 384])
def test_short_inputs_are_one_block(n):
    x, length = torch.randn(2, n, 3), torch.tensor([n, n // 2])
    shape = Windows.of(n)
    assert shape.n_seen == n
    assert torch.equal(shape.seen(x, length)[:, 0], x)
    assert torch.equal(shape.join(shape.split(x)), x)
    assert (~shape.is_hidden(length)).sum((1, 2)).tolist() == [n, n // 2]


@pytest.mark.parametrize("n", [385, 1000])
def test_long_inputs_are_seen_block_by_block(n):
    """The numbers of positions show which ones are seen: window and ends, each of them once."""
    shape = Windows.of(n)
    length = torch.tensor([n, n - 40, 200, 20])
    number = torch.arange(n)[None].expand(4, -1)
    assert torch.equal(shape.join(shape.split(number)), number)
    seen, hidden = shape.seen(number, length), shape.is_hidden(length)
    assert seen.shape == hidden.shape == (4, shape.n_blocks, 448)
    for sample, end in enumerate(length.tolist()):
        for block in range(shape.n_blocks):
            window = set(range(max(128 * (block - 1), 0), min(128 * (block + 2), end)))
            ends = {k for k in range(end) if k < 32 or k >= end - 32}
            found = seen[sample, block][~hidden[sample, block]].tolist()
            assert sorted(found) == sorted(window | ends)


def test_spans_within_a_window_score_as_in_one_block(monkeypatch):
    head = CopyHead(8, 4, -1.0)
    x = torch.randn(3, 50, 8)
    whole = head.read(x)
    monkeypatch.setattr(windows, "WINDOW", 16)
    blocks = head.read(x)
    assert blocks.continues.shape == (3, 4, 16, 32)
    sample = torch.tensor([0, 2, 2, 1])
    length = torch.randint(0, 17, (4, 50))
    start = torch.arange(50) - length
    at_start = torch.randn(4, 50)
    for part in ("continues", "ends"):
        expected = _of_stretches(at_start, getattr(whole, part), sample, start)
        found = _of_stretches(at_start, getattr(blocks, part), sample, start)
        torch.testing.assert_close(found, expected)
    fewer, rows = blocks.part(torch.tensor([0, 2]), 20), torch.tensor([0, 1, 1])
    expected = _of_stretches(
        at_start[:3, :20], whole.part(torch.tensor([0, 2]), 20).ends, rows, start[:3, :20]
    )
    found = _of_stretches(at_start[:3, :20], fewer.ends, rows, start[:3, :20])
    torch.testing.assert_close(found, expected)


def test_of_a_stretch_longer_than_a_block_the_last_part_counts(monkeypatch):
    head = CopyHead(8, 4, -1.0)
    x = torch.randn(1, 50, 8)
    whole = head.read(x).continues
    monkeypatch.setattr(windows, "WINDOW", 8)
    blocks = head.read(x).continues
    start, sample = torch.zeros(1, 50, dtype=torch.long), torch.tensor([0])
    found = _of_stretches(torch.zeros(1, 50), blocks, sample, start)
    expected = [whole[0, 0, max(last - 8, 0), last] for last in range(50)]
    torch.testing.assert_close(found[0], torch.stack(expected))
