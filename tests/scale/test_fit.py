"""Models that are fitted in several Ray workers are those of one process, whatever happens."""

import json
import os
import signal
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from setlearn import SequenceSetGenerator, SetClassifier, SetSelector
from setlearn.errors import ClusterError, ConvergenceWarning, DataError, ParameterError
from setlearn.networks import LSTM, Training, Transducer
from setlearn.networks.checkpoint import CHECKPOINT_NAME
from setlearn.rules import Threshold
from setlearn.scale import fit
from setlearn.scale.runtime import ray_session
from tests.cli.running import run
from tests.scale.sessions import kill, processes_in, result, start, until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    # Ray warns of itself when it is imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
]

WORDS = ["abc", "bca", "cab", "bbc", "aab", "acb", "bac", "cca"] * 10
SETS = [{word[:1], word[::-1]} for word in WORDS]


def small_model(**training):
    training = Training(**{"max_steps": 60, "validation": 0, "verbose": 0, **training})
    network = LSTM(8, 8, 16, loss="node")
    return SequenceSetGenerator(network, Threshold(0.3), training=training, random_state=0)


@pytest.fixture(scope="module")
def ray():
    """A local Ray for all tests in this file but those that end its process."""
    with ray_session(workers=2) as ray:
        yield ray


# These come first: later a Ray is running, which is used instead of any address.


def test_no_workers():
    with pytest.raises(ParameterError, match="workers must be a whole number of at least 1, got 0"):
        fit(small_model(), WORDS, SETS, workers=0)


def test_workers_are_for_ray(tmp_path):
    ended = run("fit", tmp_path / "data.csv", "--workers", 2)
    assert ended.code
    assert "--workers is for --ray" in ended.err


def test_an_address_that_does_not_answer(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,labels\n" + "1,a\n2,b\n" * 8)
    ended = run("fit", data, "--ray", "127.0.0.1:1", "-o", tmp_path / "model")
    assert ended.code
    assert "no Ray cluster answers at 127.0.0.1:1" in ended.err
    assert "Traceback" not in ended.err


class TestNetworks:
    def test_two_workers_fit_what_one_process_does(self, ray, capsys):
        network = Transducer(width=8, heads=2, layers=1, dropout=0)
        model = small_model(validation=0.2, verbose=2, max_steps=40)
        model.set_params(network=["analogy", network], rule=None)
        with warnings.catch_warnings(record=True) as caught:  # Ray warns of itself too
            warnings.simplefilter("always")
            fitted = fit(model, WORDS, iter(SETS), workers=2)
        assert [w.filename for w in caught if w.category is ConvergenceWarning] == [__file__]
        assert capsys.readouterr().err.count("inputs by characters") == 1  # of the first worker
        assert not hasattr(model, "scorer_")
        assert fitted.training is model.training
        alone = model.fit(WORDS, SETS)
        assert fitted.predict(WORDS) == alone.predict(WORDS)
        assert [epoch["step"] for epoch in fitted.history_] == [e["step"] for e in alone.history_]
        losses = [[epoch["loss"] for epoch in m.history_] for m in (fitted, alone)]
        assert losses[0] == pytest.approx(losses[1], abs=1e-4)

    def test_workers_go_on_with_a_fitted_model_and_raise_its_errors(self, ray):
        model = small_model(max_steps=5).set_params(warm_start=True).fit(WORDS, SETS)
        with pytest.raises(DataError, match="the token 'x', which the trained network does not"):
            fit(model, [*WORDS, "x"], [*SETS, {"a"}])

    def test_a_lost_worker_is_replaced_and_training_resumes(self, ray, tmp_path):
        model = small_model(max_steps=1500, checkpoint=tmp_path / "state", patience=1000)
        killer = threading.Thread(target=kill_a_worker, args=(tmp_path / "state",))
        killer.start()
        fitted = fit(model, WORDS, SETS, workers=2)
        killer.join()
        assert (tmp_path / "state" / "killed").exists()
        assert fitted.history_[-1]["step"] == 1500
        # What was done before is in the history of the one model that came back.
        before = json.loads((tmp_path / "state" / "killed").read_text())
        assert before
        assert fitted.history_[: len(before)] == before

    def test_more_workers_than_cores(self, ray):
        with pytest.raises(ClusterError, match="9 workers to start, but the Ray cluster has 3"):
            fit(small_model(), WORDS, SETS, workers=9)


class TestLabels:
    X = np.random.default_rng(0).random((120, 4))
    Y = tuple({k for k in range(4) if x[k] > 0.5} for x in X)

    @pytest.mark.parametrize(
        "learner", [None, LogisticRegression(), RandomForestClassifier(5)], ids=repr
    )
    def test_labels_are_learned_as_without_ray(self, ray, learner):
        model = SetClassifier(learner, cv=3, random_state=0)
        fitted = fit(model, self.X, self.Y, workers=2)
        assert (
            fitted.predict_proba(self.X) == model.fit(self.X, self.Y).predict_proba(self.X)
        ).all()

    def test_candidates_are_learned_as_without_ray(self, ray):
        lists = list(self.X.reshape(40, 3, 4))
        chosen = [set(np.flatnonzero(rows[:, 0] > 0.5).tolist()) for rows in lists]
        model = SetSelector(LogisticRegression(), random_state=0)
        fitted = fit(model, lists, chosen, workers=2)
        assert fitted.predict(lists) == model.fit(lists, chosen).predict(lists)

    def test_an_error_in_a_task_is_raised_here(self, ray):
        with pytest.raises(ValueError, match="max_iter"):
            fit(SetClassifier(LogisticRegression(max_iter=-1), cv=3), self.X, self.Y)

    def test_files_give_a_model_that_reads_records(self, ray, tmp_path):
        for part in range(2):
            records = [{"text": f"a {w}", "labels": [w]} for w in ("boat", "tree") * 8]
            lines = "\n".join(map(json.dumps, records))
            (tmp_path / f"{part}.jsonl").write_text(lines)
        paths = sorted(tmp_path.glob("*.jsonl"))
        for data in (paths, ray.data.read_json([str(path) for path in paths])):
            model = fit(SetClassifier(LogisticRegression(), cv=2, random_state=0), data)
            assert model.predict([{"text": "a boat"}]) == [{"boat"}]


class TestCommand:
    def test_it_makes_the_model_that_it_makes_without_ray(self, ray, tmp_path):
        data = tmp_path / "words.jsonl"
        rows = [{"word": word, "y": sorted(Y)} for word, Y in zip(WORDS, SETS, strict=True)]
        data.write_text("\n".join(map(json.dumps, rows)))
        learner = ["--task", "labels", "--learner", "logistic"]
        assert run("fit", data, *learner, "-o", tmp_path / "one").code == 0
        ended = run("fit", data, *learner, "--ray", "--workers", 2, "-o", tmp_path / "two")
        assert ended.code == 0, ended.err
        one, two = (run("predict", tmp_path / name, data, "--scores") for name in ("one", "two"))
        assert one.answers == two.answers

    def test_networks_keep_checkpoints_as_without_ray(self, ray, tmp_path):
        data = tmp_path / "words.jsonl"
        data.write_text("\n".join(json.dumps({"word": w, "y": [w, w[::-1]]}) for w in WORDS))
        out = tmp_path / "model"
        arguments = ["fit", data, "--task", "sequences", "--network", "lstm", "--max-steps", 10]
        ended = run(*arguments, "-o", out, "--ray")
        assert ended.code == 0, ended.err
        assert "inputs by characters" in ended.err
        assert run("predict", out, data).code == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "words.jsonl"]


@pytest.fixture
def short_folder():
    """A temporary folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        yield Path(folder)


def kill_a_worker(checkpoint):
    """Kill the second worker as soon as there is a checkpoint, and keep the history in that."""
    state = checkpoint / CHECKPOINT_NAME
    assert until(state.exists)
    os.kill(training_workers()[-1], signal.SIGKILL)
    (checkpoint / "killed").write_text(json.dumps(state_in(checkpoint)["history"]))


def state_in(checkpoint):
    with safe_open(checkpoint / CHECKPOINT_NAME, framework="np") as file:
        return json.loads(file.metadata()["about"])


def training_workers():
    """The processes of this Ray that train, in the order of their ids."""
    return sorted(p for p in processes_in("ray::RayTrainWorker") if is_ours(p))


def is_ours(process):
    while process > 1:
        if process == os.getpid():
            return True
        with open(f"/proc/{process}/stat") as file:
            process = int(file.read().rpartition(")")[2].split()[1])
    return False


INTERRUPTED = """
import sys
from tests.scale.test_fit import SETS, WORDS, small_model
from setlearn.scale import fit
model = small_model(max_steps=int(sys.argv[2]), checkpoint=sys.argv[1], patience=10**6)
print([epoch["seconds"] for epoch in fit(model, WORDS, SETS).history_], flush=True)
"""


def test_a_killed_call_leaves_nothing_behind_and_the_next_one_resumes(short_folder):
    folder = short_folder
    checkpoint = folder / "state"
    first = start(INTERRUPTED, folder, checkpoint, 10**6)
    assert until(lambda: (checkpoint / CHECKPOINT_NAME).exists() or first.poll() is not None)
    kill(first)
    assert until(lambda: not processes_in(str(folder)))
    assert until(lambda: not list((folder / "tmp").iterdir()))
    about = state_in(checkpoint)
    second = start(INTERRUPTED, folder, checkpoint, about["step"] + 100)
    seconds = json.loads(result(second))
    before = [epoch["seconds"] for epoch in about["history"]]
    assert seconds[: len(before)] == before
    assert len(seconds) > len(before)
