"""Several workers give the sets of one process, and each row exactly once, whatever fails."""

import gzip
import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

import pytest

import setlearn
from setlearn import scale
from setlearn.errors import DataError, ModelError, ParameterError, TruncationWarning
from setlearn.files.plain_values import plain
from setlearn.rules import TopK
from tests.cli.files import write_csv, write_jsonl
from tests.cli.running import run
from tests.scale.models import KINDS, samples
from tests.scale.sessions import children_named, kill, processes_in, result, start, until

pytestmark = pytest.mark.usefixtures("ray")

PREDICT = """
import sys
from setlearn import scale
scale.predict(*sys.argv[1:4], rows_per_part=int(sys.argv[4]))
"""

COMMAND = "import sys; from setlearn.cli import main; main()"


def answers(predicted):
    """The predictions of all parts."""
    lines = (line for part in predicted.parts for line in part.read_text().splitlines())
    return [json.loads(line)["prediction"] for line in lines]


def expected(model, rows):
    return plain(setlearn.load(model).predict(rows))


def identities(folder, names):
    """What changes when a file is written again."""
    return {
        name: ((folder / name).stat().st_ino, (folder / name).stat().st_mtime_ns) for name in names
    }


def finished_parts(folder):
    return [path.name.removesuffix(".report.json") for path in folder.glob("*.report.json")]


@pytest.mark.parametrize("kind", KINDS)
def test_the_sets_are_those_of_one_process(models, kind, tmp_path):
    rows = samples(kind, 250, seed=1)
    data = write_jsonl(tmp_path / "rows.jsonl", rows)
    predicted = scale.predict(models[kind], data, tmp_path / "out", rows_per_part=40)
    assert answers(predicted) == expected(models[kind], rows)
    assert (predicted.n_answers, predicted.n_bad, len(predicted.parts)) == (250, 0, 7)


def test_scores_and_another_rule(models, tmp_path):
    rows = samples("labels", 50, seed=1)
    data = write_jsonl(tmp_path / "rows.jsonl", rows)
    model = setlearn.load(models["labels"])
    predicted = scale.predict(models["labels"], data, tmp_path / "a", scores=True)
    assert answers(predicted) == plain(model.predict_ranked(rows))
    predicted = scale.predict(model, data, tmp_path / "b", rule=TopK(2), with_input=True)
    assert answers(predicted) == plain(model.with_rule(TopK(2)).predict(rows))
    [first, *_] = predicted.parts[0].read_text().splitlines()
    assert json.loads(first).items() >= rows[0].items()


def test_files_of_all_formats_in_a_folder(models, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    from pyarrow import parquet

    groups = [samples("labels", 60, seed=seed) for seed in range(4)]
    data = tmp_path / "data"
    data.mkdir()
    write_jsonl(data / "a.jsonl", groups[0])
    packed = write_jsonl(tmp_path / "b.jsonl", groups[1]).read_bytes()
    (data / "b.jsonl.gz").write_bytes(gzip.compress(packed))
    write_csv(data / "c.csv", groups[2])
    parquet.write_table(pyarrow.Table.from_pylist(groups[3]), data / "d.parquet")
    (data / "_SUCCESS").write_text("")
    (data / "README.md").write_text("Photos")
    predicted = scale.predict(models["labels"], data, tmp_path / "out", rows_per_part=25)
    assert answers(predicted) == expected(
        models["labels"], [row for group in groups for row in group]
    )
    assert [part.name for part in predicted.parts] == [
        f"part-{file:05d}-{part:05d}.jsonl"
        for file, n_parts in enumerate((3, 1, 1, 3))
        for part in range(n_parts)
    ]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "manifest.json",
        *(part.name for part in predicted.parts),
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_killed_workers_lose_no_row_and_repeat_none(models, tmp_path):
    rows = samples("labels", 4000, seed=1)
    data = write_jsonl(tmp_path / "rows.jsonl", rows)
    out, killed = tmp_path / "out", []

    def kill_workers():
        until(lambda: len(finished_parts(out)) >= 2)
        while not killed and len(finished_parts(out)) < 70:
            for process in children_named("ray::answer_part"):
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    killer = threading.Thread(target=kill_workers)
    killer.start()
    predicted = scale.predict(models["labels"], data, out, rows_per_part=50)
    killer.join()
    assert killed
    assert answers(predicted) == expected(models["labels"], rows)


def test_a_killed_call_goes_on_where_it_stopped(models, tmp_path):
    rows = samples("labels", 4000, seed=1)
    data = write_jsonl(tmp_path / "rows.jsonl", rows)
    out = tmp_path / "out"
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        process = start(PREDICT, Path(folder), models["labels"], data, out, 50)
        assert until(lambda: len(finished_parts(out)) >= 3), process.communicate()
        kill(process)
        assert until(lambda: not processes_in(Path(folder, "tmp")))
    names = finished_parts(out)
    before = identities(out, names)
    assert 3 <= len(names) < 80
    predicted = scale.predict(models["labels"], data, out, rows_per_part=50)
    assert answers(predicted) == expected(models["labels"], rows)
    assert identities(out, names) == before
    assert not list(out.glob(".*"))
    after = identities(out, os.listdir(out))
    assert scale.predict(models["labels"], data, out, rows_per_part=50) == predicted
    assert {**after, "manifest.json": None} == {
        **identities(out, os.listdir(out)),
        "manifest.json": None,
    }


class TestParts:
    @pytest.fixture
    def data(self, tmp_path):
        folder = tmp_path / "data"
        folder.mkdir()
        for number in range(3):
            write_jsonl(folder / f"{number}.jsonl", samples("labels", 30, seed=number))
        return folder

    def test_that_cannot_be_read_are_named_and_the_others_go_on(self, models, data, tmp_path):
        out = tmp_path / "out"
        (data / "3.parquet").write_bytes(b"PAR1 and nothing else")
        lines = (data / "1.jsonl").read_text().splitlines()
        write_jsonl(data / "1.jsonl", [*lines[:15], "{", *lines[16:]])
        with pytest.raises(DataError, match="2 of 7 parts") as caught:
            scale.predict(models["labels"], data, out, rows_per_part=20)
        assert "1.jsonl, line 16: is not JSON" in str(caught.value)
        assert "3.parquet cannot be read as Parquet" in str(caught.value)
        names = finished_parts(out)
        before = identities(out, [name for name in names if not name.startswith("part-00001")])
        assert len(names) == 5
        # Corrected, the same call ends, and only the file that has changed is answered again.
        write_jsonl(data / "1.jsonl", lines)
        (data / "3.parquet").unlink()
        write_jsonl(data / "3.jsonl", samples("labels", 30))
        with pytest.raises(ParameterError, match="for other files"):
            scale.predict(models["labels"], data, out, rows_per_part=20)
        (data / "3.jsonl").rename(data / "3.parquet")
        reading = {"format": "jsonl"}
        with pytest.raises(ParameterError, match="its format was None, now it is 'jsonl'"):
            scale.predict(models["labels"], data, out, rows_per_part=20, reading=reading)
        with pytest.raises(DataError, match="1 of 7 parts"):
            scale.predict(models["labels"], data, out, rows_per_part=20)
        assert identities(out, before) == before

    def test_with_bad_rows_can_leave_them_out(self, models, data, tmp_path):
        lines = (data / "1.jsonl").read_text().splitlines()
        write_jsonl(data / "1.jsonl", [*lines[:15], "{", *lines[15:]])
        predicted = scale.predict(models["labels"], data, tmp_path / "out", skip_bad=True)
        assert (predicted.n_answers, predicted.n_bad) == (90, 1)
        assert predicted.bad[0].startswith("1.jsonl, line 16: is not JSON")

    def test_of_another_call_are_not_mixed_with_these(self, models, data, tmp_path):
        out = tmp_path / "out"
        scale.predict(models["labels"], data, out)
        for change in ({"scores": True}, {"rule": TopK(1)}, {"rows_per_part": 7}):
            with pytest.raises(ParameterError, match="of another call"):
                scale.predict(models["labels"], data, out, **change)
        with pytest.raises(ParameterError, match="its model was"):
            scale.predict(models["candidates"], data, out)
        with pytest.raises(ParameterError, match="holds other files than predictions"):
            scale.predict(models["labels"], data, data)

    def test_of_a_file_that_has_changed_are_made_again(self, models, data, tmp_path):
        out = tmp_path / "out"
        first = scale.predict(models["labels"], data, out, rows_per_part=20)
        before = identities(out, [part.name for part in first.parts])
        rows = samples("labels", 15, seed=9)
        write_jsonl(data / "1.jsonl", rows)
        second = scale.predict(models["labels"], data, out, rows_per_part=20)
        assert [part.name for part in second.parts] == [
            *("part-00000-00000.jsonl", "part-00000-00001.jsonl", "part-00001-00000.jsonl"),
            *("part-00002-00000.jsonl", "part-00002-00001.jsonl"),
        ]
        kept = [part.name for part in second.parts if "part-00001" not in part.name]
        assert identities(out, kept) == {name: before[name] for name in kept}
        assert answers(second)[30:45] == expected(models["labels"], rows)


def test_what_the_model_warns_of_arrives(models, tmp_path):
    model = setlearn.load(models["sequences"])
    model.model.set_params(max_length=1)
    data = write_jsonl(tmp_path / "rows.jsonl", samples("sequences", 20))
    with pytest.warns(TruncationWarning):
        scale.predict(model, data, tmp_path / "out")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Ray Data itself
@pytest.mark.parametrize("name", ["workers", "batch_size", "rows_per_part"])
@pytest.mark.parametrize("value", [0, "2", 1.5])
def test_counts_are_checked_before_anything_is_written(models, tmp_path, name, value):
    with pytest.raises(ParameterError, match=f"{name} must be a whole number of at least 1"):
        scale.predict(models["labels"], tmp_path / "x.jsonl", tmp_path / "out", **{name: value})
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Ray Data itself
def test_wrong_calls_say_what_to_do(models, tmp_path, ray):
    data = write_jsonl(tmp_path / "rows.jsonl", samples("labels", 5))
    with pytest.raises(ParameterError, match="pass it as out="):
        scale.predict(models["labels"], data)
    with pytest.raises(DataError, match="does not exist"):
        scale.predict(models["labels"], tmp_path / "none.jsonl", tmp_path / "out")
    with pytest.raises(DataError, match="matches no file"):
        scale.predict(models["labels"], tmp_path / "*.csv", tmp_path / "out")
    with pytest.raises(DataError, match="by one process only"):
        scale.predict(models["labels"], "-", tmp_path / "out")
    with pytest.raises(ModelError, match="does not exist"):
        scale.predict(tmp_path / "none", data, tmp_path / "out")
    with pytest.raises(ParameterError, match="leave out= out"):
        scale.predict(models["labels"], ray.data.range(3), tmp_path / "out")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Ray Data itself
@pytest.mark.parametrize("kind", KINDS)
def test_a_dataset_gets_a_column(models, kind, ray, tmp_path):
    rows = samples(kind, 60, seed=1)
    dataset = ray.data.from_items(rows, override_num_blocks=4)
    predicted = scale.predict(models[kind], dataset, ordered=True, batch_size=16, workers=1)
    assert [row["prediction"] for row in predicted.take_all()] == expected(models[kind], rows)


class TestCommand:
    def test_the_answers_are_those_of_one_process(self, models, tmp_path):
        rows = samples("labels", 50, seed=1)
        data = write_jsonl(tmp_path / "rows.jsonl", [*rows, "{"])
        for options in ((), ("--scores",), ("--with-input", "--json"), ("--quiet", "--top", 1)):
            command = ("predict", models["labels"], data, *options, "--skip-bad")
            alone, shared = run(*command), run(*command, "--ray")
            assert (shared.code, shared.out, shared.err) == (0, alone.out, alone.err)
        for name in ("answers.csv", "answers.jsonl.gz"):
            run(*command, "-o", tmp_path / f"alone-{name}")
            run(*command, "-o", tmp_path / name, "--ray")
            assert (tmp_path / name).read_bytes() == (tmp_path / f"alone-{name}").read_bytes()
        assert not list(tmp_path.glob(".*"))

    def test_a_folder_gets_parts(self, models, tmp_path):
        data = write_jsonl(tmp_path / "rows.jsonl", samples("labels", 50))
        command = ("predict", models["labels"], data, "--ray", "--json", "-o", f"{tmp_path}/out/")
        assert run(*command).document["n_answers"] == 50
        assert sorted(os.listdir(tmp_path / "out")) == ["manifest.json", "part-00000-00000.jsonl"]
        again = run(*command)
        assert "1 of 1 parts" in again.err

    def test_bad_data_is_exit_code_3(self, models, tmp_path):
        good = write_jsonl(tmp_path / "good.jsonl", samples("labels", 50))
        bad = write_jsonl(tmp_path / "bad.jsonl", ["{"])
        out = tmp_path / "out" / "answers.jsonl"
        for data in (bad, tmp_path):
            ended = run("predict", models["labels"], data, "--ray", "-o", out)
            assert ended.code == 3
            assert "bad.jsonl, line 1: is not JSON" in ended.err
            assert "(--skip-bad)" in ended.err
            assert not out.exists()
        assert run("predict", models["labels"], good, "--workers", 2).code == 2

    def test_sigterm_leaves_nothing_behind_either(self, models, tmp_path):
        data = write_jsonl(tmp_path / "rows.jsonl", samples("labels", 50) * 400)
        with tempfile.TemporaryDirectory(prefix="t-") as name:
            folder = Path(name)
            command = ("predict", models["labels"], "--ray", data, "--workers", 2)
            process = start(COMMAND, folder, *command)
            assert until(lambda: list((folder / "tmp").glob("setlearn-answers-*/part-*")))
            process.terminate()
            process.communicate(timeout=60)
            assert process.returncode == 130
            assert until(lambda: not processes_in(folder))
            assert until(lambda: not list((folder / "tmp").iterdir()))

    def test_it_leaves_nothing_behind(self, models, tmp_path):
        data = write_jsonl(tmp_path / "rows.jsonl", samples("labels", 50))
        with tempfile.TemporaryDirectory(prefix="t-") as name:
            folder = Path(name)
            command = ("predict", models["labels"], "--ray", data, "--workers", 2)
            out = result(start(COMMAND, folder, *command))
            assert out == run("predict", models["labels"], data).out
            assert not list((folder / "home").iterdir())
            assert not list((folder / "tmp").iterdir())
            assert not processes_in(folder)
