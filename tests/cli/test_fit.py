"""``setlearn fit``: files as they are, guesses that are said, and options that overrule them."""

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import setlearn
from setlearn import SequenceSetGenerator
from setlearn.networks import LSTM, Training
from tests.cli.files import tagged_texts, word_forms, write_csv, write_jsonl
from tests.cli.running import run

LOGISTIC = ("--learner", "logistic")


def fitted(*arguments):
    ended = run("fit", *arguments)
    assert ended.code == 0, ended.err
    return ended


def test_all_but_the_target_is_guessed_and_said(photos, tmp_path):
    ended = fitted(photos, "--target", "tags", "-o", tmp_path / "model")
    assert ended.err.splitlines() == [
        'tags: labels, separated by ";" (3 different)',
        "text: text (by TF-IDF of words and their parts)",
        "learner: a mixture, or many-labels if there are very many (by default)",
    ]
    assert ended.out.startswith(f"model: {tmp_path / 'model'} (labels, from 90 rows, rule ")
    assert run("fit", photos, "--quiet", *LOGISTIC, "-o", tmp_path / "model").err == ""


def test_the_target_is_known_by_its_name(photos, tmp_path):
    ended = fitted(photos, *LOGISTIC, "-o", tmp_path / "model", "--json")
    assert ended.err.startswith("target: tags (by its name)\n")
    assert ended.document["guesses"] == ended.err.splitlines()
    assert ended.document["rows"] == 90
    assert ended.document["left_out"] == 0
    assert ended.document["validation"] is None


@pytest.mark.parametrize("write", [write_csv, write_jsonl])
def test_columns_with_the_targets_are_noticed(write, tmp_path):
    rows = [
        {**row, "copy": row["tags"], "sea": int("sea" in row["tags"])} for row in tagged_texts(60)
    ]
    data = write(tmp_path / "data", rows).rename(tmp_path / f"data.{write.__name__[6:]}")
    ask = (data, "--target", "tags", *LOGISTIC, "-o", tmp_path / "model")
    told = fitted(*ask).err
    assert "warning: the inputs have 2 columns with the targets themselves: 'copy', 'sea'; " in told
    assert "(--kind " in told
    assert "warning" not in fitted(*ask, "--kind", "copy=ignored", "--kind", "sea=ignored").err


def test_guesses_are_overruled(photos, tmp_path):
    asked = ("--separator", "", "--text", "chars", "--rule", "top-k:k=1", "--kind", "text=text")
    ended = fitted(photos, *LOGISTIC, *asked, "-o", tmp_path / "model")
    assert "tags: labels, each value one element (6 different)" in ended.err
    assert "text: text (by TF-IDF of characters)" in ended.err
    assert "TopK" in ended.out


def test_a_precision_is_guaranteed(photos, tmp_path):
    rule = "risk-control:precision=0.8,confidence=0.95"
    ended = fitted(photos, *LOGISTIC, "--rule", rule, "-o", tmp_path / "model")
    assert "rule RiskControl(confidence=0.95, precision=0.8)" in ended.out
    stopped = run("trace", tmp_path / "model", "--text", "boat").out
    assert "the lowest one that guarantees a precision of 0.8 with confidence 0.95" in stopped
    refused = run("fit", photos, "--rule", "risk-control:precision=0.99", "-o", tmp_path / "other")
    assert refused.code == 3
    assert "from 90 calibration sample(s)" in refused.err
    assert "hold out at least 230" in refused.err


def test_the_metric_by_which_rules_are_chosen(photos, tmp_path):
    fitted(photos, *LOGISTIC, "--rule", "auto:metric=exact", "-o", tmp_path / "model")
    tried = run("inspect", tmp_path / "model", "--json").document["rules tried"]
    assert "Threshold(cut='tuned', metric='exact', min_size=None)" in tried
    assert "Threshold(min_size=None)" in tried


def test_a_table_of_numbers_categories_and_flags(tmp_path):
    rng = random.Random(0)
    rows = [
        {"id": n, "size": rng.random(), "colour": rng.choice(["red", "blue"])} for n in range(60)
    ]
    for row in rows:
        row |= {"is_big": int(row["size"] > 0.5), "is_red": int(row["colour"] == "red")}
    data = write_csv(tmp_path / "things.csv", rows)
    ended = fitted(data, "--target", "is_*", *LOGISTIC, "-o", tmp_path / "model")
    assert "is_big, is_red: labels, one column per label (2 in use)" in ended.err
    assert "id: ignored" in ended.err
    refused = run("fit", data, "--target", "is_*", "--separator", ";", "-o", tmp_path / "model")
    assert refused.code == 2
    assert (
        "is for a column that holds sets, but there is one column per label (is_big, is_red)"
        in refused.err
    )
    assert "colour: category" in ended.err
    row = json.dumps({"size": 0.9, "colour": "red"}).encode()
    [answer] = run("predict", tmp_path / "model", "-", stdin=row).answers
    assert answer == {"prediction": ["is_big", "is_red"]}


def test_gzipped_lines_with_vectors(tmp_path):
    rng = random.Random(0)
    points = [[rng.random(), rng.random()] for _ in range(60)]
    rows = [{"x": [a, b], "y": [n for n, v in (("a", a), ("b", b)) if v > 0.5]} for a, b in points]
    plain = write_jsonl(tmp_path / "points.jsonl", rows)
    data = tmp_path / "points.jsonl.gz"
    data.write_bytes(gzip.compress(plain.read_bytes()))
    ended = fitted(data, *LOGISTIC, "-o", tmp_path / "model")
    assert "x: vector" in ended.err
    [answer] = run("predict", tmp_path / "model", "-", stdin=b'{"x": [0.9, 0.1]}').answers
    assert answer == {"prediction": ["a"]}


def test_svmlight(tmp_path):
    data = tmp_path / "songs.svm"
    data.write_text("".join(f"{n % 2},{2 + n % 3} {n % 2}:1 {5 + n % 3}:0.5\n" for n in range(60)))
    fitted(data, *LOGISTIC, "-o", tmp_path / "model")
    ended = run("evaluate", tmp_path / "model", data, "--json")
    assert ended.document["report"]["mean_f1"] > 0.9


def test_arff_of_mulan(tmp_path):
    found = [*Path(os.environ.get("SETLEARN_DATA", "nowhere")).rglob("flags*train*.arff")]
    if not found:
        pytest.skip("SETLEARN_DATA names no folder with the flags data set")
    ended = fitted(found[0], *LOGISTIC, "-o", tmp_path / "model", "--json")
    assert ended.document["task"] == "labels"
    assert len(run("inspect", tmp_path / "model", "--json").document["elements"]) == 7


class TestArffWithoutLabels:
    @pytest.fixture
    def flowers(self, tmp_path):
        lines = [f"{n},{n % 7},{'red' if n % 2 else 'blue'},{'xyz'[n % 3]}" for n in range(60)]
        names = ("@attribute size numeric", "@attribute age numeric", "@attribute hue {red,blue}")
        head = ("@relation flowers", *names, "@attribute class {x,y,z}", "@data")
        data = tmp_path / "flowers.arff"
        data.write_text("\n".join([*head, *lines]))
        return data

    def test_a_category_as_the_target(self, flowers, tmp_path):
        fitted(flowers, "--target", "class", *LOGISTIC, "-o", tmp_path / "model")
        elements = run("inspect", tmp_path / "model", "--json").document["elements"]
        assert elements == ["x", "y", "z"]

    def test_categories_that_are_not_asked_for(self, flowers, tmp_path):
        asked = ("--target", "class", "--input", "size", "--input", "age")
        fitted(flowers, *asked, *LOGISTIC, "-o", tmp_path / "model")
        row = b'{"size": 1, "age": 2}'
        assert run("predict", tmp_path / "model", "-", stdin=row).code == 0


def test_a_mixture_of_one_s_own(tmp_path):
    data = write_jsonl(tmp_path / "words.jsonl", word_forms(40))
    command = (data, "--target", "forms", "--task", "sequences", "-o", tmp_path / "model")
    parts = ("--network", "analogy", "--network", "transformer:width=16,heads=2")
    document = run("fit", *command, *parts, "--max-steps", 2, "--json", "-q").document
    assert "AnalogyScorer" in document["scorers"][0]
    ended = run("fit", *command, *parts, "--width", 8)
    assert ended.code == 2
    assert "--width is a setting of one network, but there are 2" in ended.err
    fast = ("--network", "analogy", "--network", "trees", "--max-steps", 8)
    assert "analogy and trees are not" in run("fit", *command, *fast).err


def test_two_networks_leave_no_checkpoints_behind(tmp_path):
    data = write_jsonl(tmp_path / "words.jsonl", word_forms(24))
    command = (data, "--target", "forms", "--task", "sequences", "-o", tmp_path / "model")
    parts = ("transformer:width=16,heads=2", "transducer:width=16,heads=2,layers=1")
    networks = [word for part in parts for word in ("--network", part)]
    other = tmp_path / "model.checkpoint" / "mine" / "checkpoint.safetensors"
    for steps in (3, 2):
        fitted(*command, *networks, "--max-steps", steps)
        assert not (tmp_path / "model.checkpoint").exists()
    other.parent.mkdir(parents=True)
    other.write_bytes(b"of another program")
    fitted(*command, *networks, "--max-steps", 2)
    assert other.read_bytes() == b"of another program"


def test_sequences(tmp_path):
    data = write_jsonl(tmp_path / "words.jsonl", word_forms(16))
    command = (data, "--target", "forms", "--max-steps", 2, "-o", tmp_path / "model")
    ended = fitted(*command, "--task", "sequences", "--tokens", "char")
    assert "network: a mixture that suits the data (by default)" in ended.err
    assert "elements: by characters" in ended.err
    assert not (tmp_path / "model.checkpoint").exists()


def test_a_fit_of_labels_does_not_import_torch(photos, tmp_path):
    code = (
        f"import sys; sys.argv = ['setlearn', 'fit', {str(photos)!r}, '--learner', 'logistic']\n"
        f"sys.argv += ['--validation', '0.2', '--out', {str(tmp_path / 'model')!r}]\n"
        "from setlearn.cli import main\n"
        "try: main()\n"
        "except SystemExit as ending: assert not ending.code\n"
        "print('torch' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "False"


def test_rows_held_out(photos, tmp_path):
    command = (photos, *LOGISTIC, "--validation", 0.2, "--examples", 2, "-o", tmp_path / "model")
    ended = fitted(*command)
    assert "from 72 rows" in ended.out
    assert "rows held out" in ended.out
    document = fitted(*command, "--json").document
    assert document["validation"]["report"]["n_samples"] == 18
    about = run("inspect", tmp_path / "model", "--json").document["about"]
    assert about["figures"]["mean_f1"] == document["validation"]["report"]["mean_f1"]
    assert [list(example) for example in about["examples"]] == [["text"], ["text"]]


def test_rows_without_a_usable_set_are_left_out_and_counted(tmp_path):
    rows = tagged_texts(30)
    rows[3:3] = [{"text": "no tags"}, {"text": "odd", "tags": {"a": 1}}, '{"text": ']
    data = write_jsonl(tmp_path / "rows.jsonl", rows)
    refused = run("fit", data, *LOGISTIC, "-o", tmp_path / "model")
    assert refused.code == 3
    assert not (tmp_path / "model").exists()
    ended = fitted(data, *LOGISTIC, "--skip-bad", "-o", tmp_path / "model", "--json")
    assert ended.document["left_out"] == 3
    assert ended.document["rows"] == 30
    places = sorted(told.split(": ")[0] for told in ended.document["bad_rows"])
    assert places == [f"rows.jsonl, line {number}" for number in (4, 5, 6)]
    assert "left out: 3 bad rows of rows.jsonl" in ended.err


class TestInputsThatCannotBeRead:
    @pytest.fixture
    def people(self, tmp_path):
        rows = [{"age": n % 80, "tags": "young" if n % 80 < 30 else "old"} for n in range(60)]
        rows[40]["age"] = "unclear"
        return write_csv(tmp_path / "people.csv", rows)

    def test_they_are_left_out_and_counted(self, people, tmp_path):
        command = (people, "--kind", "age=number", *LOGISTIC, "-o", tmp_path / "model")
        assert run("fit", *command).code == 3
        document = fitted(*command, "--skip-bad", "--json").document
        assert (document["rows"], document["left_out"]) == (59, 1)
        [told] = document["bad_rows"]
        assert told.startswith("people.csv, line 42: ")

    def test_not_one_can_be_read(self, people, tmp_path):
        people.write_text("age,tags\n" + "unclear,old\nunknown,young\n" * 3)
        asked = ("--kind", "age=number", "--skip-bad", *LOGISTIC)
        ended = run("fit", people, *asked, "-o", tmp_path / "model")
        assert ended.code == 3
        assert "people.csv has no usable rows: 6 rows left out" in ended.err


def test_quiet_also_where_there_is_nothing_to_resume(words, tmp_path):
    command = ("fit", words, "--target", "forms", "--task", "sequences", "--max-steps", 2)
    command += ("--network", "lstm", "--resume", "-o", tmp_path / "model")
    assert "training starts at the beginning" in run(*command).err
    assert run(*command, "--quiet").err == ""


def test_says_that_a_model_will_be_replaced(photos, tmp_path):
    command = (photos, *LOGISTIC, "-o", tmp_path / "model")
    said = f"{tmp_path / 'model'}: the model in this folder will be replaced"
    (tmp_path / "model").mkdir()
    assert said not in fitted(*command).err
    assert said in fitted(*command).err.splitlines()
    assert fitted(*command, "--quiet").err == ""


class TestEmptyCellsOfSequences:
    """An empty target is an empty set; without an input nothing can be learned or predicted."""

    COMMAND = ("--target", "forms", "--task", "sequences", "--network", "analogy")

    @pytest.fixture
    def table(self, tmp_path):
        lines = [f"{word},{word};{word}s" for word in ("walk", "talk", "jump", "play")]
        path = tmp_path / "words.csv"
        path.write_text("\n".join(["word,forms", *lines, "fold,", " ,lost", "bark,bark;barks"]))
        return path

    def test_fit(self, table, tmp_path):
        command = (table, *self.COMMAND, "-o", tmp_path / "model")
        ended = run("fit", *command)
        assert ended.code == 3
        assert "words.csv, line 7: there is no input, because column 'word' is empty" in ended.err
        assert ended.err.endswith("leave the row out (--skip-bad)\n")
        ended = fitted(*command, "--skip-bad")
        assert "left out: 1 bad row" in ended.err
        assert "from 6 rows" in ended.out

    def test_other_verbs(self, table, tmp_path):
        model = tmp_path / "model"
        fitted(table, *self.COMMAND, "--skip-bad", "-o", model)
        for verb in ("predict", "evaluate"):
            ended = run(verb, model, table)
            assert ended.code == 3
            assert ended.err.count("words.csv, line 7: there is no input") == 1
            assert "leave the row out (--skip-bad)\n" in ended.err
        document = run("evaluate", model, table, "--skip-bad", "--json").document
        assert (document["left_out"], document["report"]["n_empty_true"]) == (1, 1)


def test_a_checkpoint_that_cannot_be_used(words, tmp_path):
    """The message names the options to change."""
    state = tmp_path / "state"
    command = ("fit", words, "--target", "forms", "--task", "sequences", "--network", "lstm")
    command += ("--checkpoint", state, "-o", tmp_path / "model")
    state.write_text("")
    ended = run(*command, "--max-steps", 2)
    assert ended.code == 2
    assert f"{state} is a file (--checkpoint FOLDER)" in ended.err
    state.unlink()

    training = Training(max_steps=5, checkpoint=state)
    SequenceSetGenerator(LSTM(2, 2, 2), training=training, random_state=0).fit(["a"], [{"b"}])
    ended = run(*command, "--max-steps", 2, "--resume")
    assert ended.code == 2
    assert "is from another run" in ended.err
    assert "(--checkpoint FOLDER)" in ended.err


def test_settings_of_the_network_and_of_its_training(words, tmp_path):
    sizes = ("--network", "transducer:window=2", "--width", 8, "--layers", 1, "--members", 2)
    training = ("--max-steps", 3, "--max-seconds", 60, "--batch-size", 4, "--device", "cpu")
    target = ("--target", "forms", "--task", "sequences", "--learning-rate", 0.01)
    fitted(words, *target, *sizes, *training, "-o", tmp_path / "model")
    model = setlearn.load(tmp_path / "model").model
    assert repr(model.network) == "Transducer(layers=1, members=2, width=8, window=2)"
    assert (model.training.max_steps, model.training.batch_size) == (3, 4)
    assert (model.training.max_seconds, model.training.device) == (60.0, "cpu")
    assert model.training.learning_rate == 0.01


class TestContinue:
    def test_goes_on_with_the_model(self, words, tmp_path):
        target = ("--target", "forms", "--task", "sequences", "--network", "lstm")
        fitted(words, *target, "--max-steps", 3, "-o", tmp_path / "model")
        before = setlearn.load(tmp_path / "model")
        command = (words, "--continue", tmp_path / "model", "--max-steps", 7)
        ended = fitted(*command, "-o", tmp_path / "model")
        assert f"continues {tmp_path / 'model'}" in ended.err
        after = setlearn.load(tmp_path / "model")
        assert after.model.history_[-1]["step"] == 7
        assert after.model.held_out_.tolist() == before.model.held_out_.tolist()
        assert after.reader.columns == before.reader.columns

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            (("--target", "forms"), "--target is decided by the model"),
            (("--input", "word"), "--input is decided by the model"),
            (("--network", "lstm"), "--network is decided by the model"),
            (("--width", "8"), "--width is decided by the model"),
            (("--learner", "forest"), "--learner is for labels"),
        ],
    )
    def test_what_the_model_decides(self, words, speller, tmp_path, asked, message):
        ended = run("fit", words, "--continue", speller, *asked, "-o", tmp_path / "model")
        assert ended.code == 2
        assert message in ended.err

    def test_a_model_that_has_no_steps(self, words, tmp_path):
        target = ("--target", "forms", "--task", "sequences", "--network", "analogy")
        fitted(words, *target, "-o", tmp_path / "model")
        ended = run("fit", words, "--continue", tmp_path / "model", "-o", tmp_path / "other")
        assert ended.code == 2
        assert "--continue is for models whose training can be continued" in ended.err

    def test_new_tokens(self, speller, tmp_path):
        others = write_jsonl(tmp_path / "others.jsonl", [{"word": "zz", "forms": ["a"]}] * 3)
        ended = run("fit", others, "--continue", speller, "-o", tmp_path / "model")
        assert ended.code == 3
        assert "the token 'z', which the trained network does not know" in ended.err
        assert "(without --continue)" in ended.err


def test_a_scorer_that_is_no_network(words, tmp_path):
    target = ("--target", "forms", "--task", "sequences", "--network", "analogy")
    fitted(words, *target, "-o", tmp_path / "model")
    assert run("predict", tmp_path / "model", words, "--quiet").code == 0


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--network", "lstm"), "--network is for sequences"),
        (("--resume",), "--resume is for models whose training can be resumed"),
        (("--checkpoint", "x"), "--checkpoint is for models whose training can be resumed"),
        (("--max-steps", "5"), "--max-steps is for sequences"),
        (("--learner", "magic"), "learner must be one of forest, logistic"),
        (
            ("--task", "sequences", "--network", "magic"),
            "network must be one of analogy, lstm, ngrams",
        ),
        (("--task", "sequences", "--network", "lstm", "--width", "8"), "--width is not a setting"),
        (
            ("--task", "sequences", "--members", "2"),
            "--members is a setting of a network, but no network is named; add --network "
            "transducer, or leave it out",
        ),
        (
            ("--task", "sequences", "--width", "8"),
            "add --network transducer or --network transformer, or leave it out",
        ),
        (
            ("--task", "sequences", "--network", "transformer", "--members", "2"),
            "or use --network transducer\n",
        ),
        (("--task", "sequences", "--max-seconds", "-1"), "got -1.0 (--max-seconds NUMBER)"),
        (
            ("--task", "sequences", "--network", "transducer", "--dropout", "7"),
            "got 7.0 (--dropout SHARE)",
        ),
        (
            ("--task", "sequences", "--network", "lstm", "--members", "2"),
            "--members is not a setting of the network",
        ),
        (
            ("--task", "sequences", "--network", "transformer", "--width", "33"),
            "width must be a multiple of heads, got 33 and 4 (--width NUMBER)",
        ),
        (("--task", "sequences", "--network", "lstm:depth=8"), "lstm has no setting 'depth'"),
        (
            ("--task", "sequences", "--network", "transducer:width=8", "--width", "8"),
            "width is given twice",
        ),
        (
            ("--task", "sequences", "--network", "analogy", "--device", "cpu"),
            "--device is for networks that are trained in steps, but analogy is not",
        ),
        (
            ("--task", "sequences", "--network", "analogy", "--resume"),
            "--resume is for models whose training can be resumed",
        ),
        (("--width", "8"), "--width is for sequences"),
        (("--rule", "magic"), "choose one of auto, expected-f"),
        (("--rule", "threshold:cut"), "name=value"),
        (("--rule", "threshold:height=3"), "the rule threshold has no setting 'height'"),
        (
            ("--target", "tags", "--rule", "risk-control:precision=0.9,recall=0.8"),
            "recall=0.8 and precision=0.9 were both given",
        ),
        (
            ("--target", "tags", "--rule", "risk-control:precision=90"),
            "precision must lie between 0 and 1, both excluded, got 90",
        ),
        (("--rule", "auto:metric=accuracy"), "metric must be one of ['exact', 'f1'"),
        (("--rule", "margin:choice_floor=2"), "choice_floor must be None (learned) or lie in"),
        (("--kind", "text"), "--kind is written column=kind"),
        (("--kind", "text=colour"), "must be one of number, category"),
        (("--task", "sequences", "--tokens", "letters"), "--tokens is char, word or text"),
        (("--task", "sequences", "--conditional"), "--conditional is for labels"),
        (("--task", "sequences", "--jobs", "2"), "--jobs is for labels"),
    ],
)
def test_options_that_do_not_fit(photos, tmp_path, asked, message):
    ended = run("fit", photos, *asked, "-o", tmp_path / "model")
    assert ended.code == 2
    assert message in ended.err
    assert ended.out == ""


def test_a_hierarchy_of_labels(photos, tmp_path):
    parents = tmp_path / "parents.json"
    parents.write_text('{"sea": "water", "city": "land"}')
    fitted(photos, *LOGISTIC, "--hierarchy", parents, "-o", tmp_path / "model")
    answers = [
        answer["prediction"] for answer in run("predict", tmp_path / "model", photos).answers
    ]
    assert any("sea" in labels for labels in answers)
    assert all("water" in labels for labels in answers if "sea" in labels)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        ("{", "is not a JSON file"),
        ('["sea"]', "must be a mapping from labels to their parents"),
        ('{"a": "b", "b": "a"}', "an ancestor of itself"),
    ],
)
def test_a_hierarchy_that_is_none(photos, tmp_path, content, message):
    parents = tmp_path / "parents.json"
    if content is not None:
        parents.write_text(content)
    ended = run("fit", photos, *LOGISTIC, "--hierarchy", parents, "-o", tmp_path / "model")
    assert ended.code == 3
    assert message in ended.err
