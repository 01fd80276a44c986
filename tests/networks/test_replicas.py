"""Replicas on shares of a batch get the weights that one process gets on the whole batch."""

import json

import pytest
import torch
from safetensors.torch import load_file

from setlearn.networks.checkpoint import copies
from tests.networks.replica_processes import CASES, fitted, learned_f1, run_in_processes


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """The folder with what all processes got: starting them takes longer than what they do."""
    folder = tmp_path_factory.mktemp("replicas")
    run_in_processes(folder)
    return folder


def outcomes_of(folder, name):
    return [json.loads(file.read_text()) for file in sorted(folder.glob(f"{name}-*.json"))]


@pytest.mark.parametrize("name", CASES)
def test_weights_are_those_of_one_process(name, outcomes):
    case = CASES[name]
    expected = copies(fitted(case).network_.state_dict())
    for rank in range(case.n_replicas):
        weights = load_file(outcomes / f"{name}-{rank}.safetensors")
        assert weights.keys() == expected.keys()
        for part, weight in weights.items():
            torch.testing.assert_close(weight, expected[part], rtol=0, atol=case.tolerance)


def test_they_learn_as_much_as_one_process(outcomes):
    first, second = outcomes_of(outcomes, "learned")
    assert first == second
    assert first > 0.9
    assert learned_f1() > 0.9


def test_a_time_limit_ends_all_at_the_same_step(outcomes):
    first, second = outcomes_of(outcomes, "timed")
    assert first == second


def test_they_resume_from_the_checkpoint_of_the_first(outcomes):
    first, second = outcomes_of(outcomes, "resumed")
    assert first["resumed"] == first["uninterrupted"] == second["resumed"]
    assert first["has checkpoint"]
    assert not second["has checkpoint"]


def test_other_data_are_refused_by_all(outcomes):
    first, second = outcomes_of(outcomes, "other_data")
    assert first == second
    assert first.startswith("DataError: replica 1 trains on other data or with other parameters")
    assert "n_rows" in first


def test_an_error_of_the_first_reaches_the_others(outcomes):
    first, second = outcomes_of(outcomes, "failed_evaluation")
    assert first == "ZeroDivisionError: division by zero"
    assert second.startswith("SetlearnError: the first replica of this training has failed: Zero")


def test_nobody_waits_for_a_replica_that_has_failed(outcomes):
    first, second = outcomes_of(outcomes, "failed")
    assert first.startswith("LostReplicaError: another process of this training has ended")
    assert second.startswith("MemoryError")


def test_nobody_waits_for_a_replica_that_has_ended(outcomes):
    (first,) = outcomes_of(outcomes, "ended")
    assert first.startswith("LostReplicaError: another process of this training has ended")
