"""``setlearn predict``: answers in the order of the rows, from anywhere to anywhere."""

import csv
import json
import tracemalloc

import numpy as np
import pytest

import setlearn
from tests.cli.files import tagged_texts, write_jsonl
from tests.cli.running import run


@pytest.fixture(scope="module")
def rows():
    return tagged_texts(3000, seed=1)


@pytest.fixture(scope="module")
def data(folder, rows):
    """More rows than a batch has."""
    return write_jsonl(folder / "more.jsonl", rows)


def test_one_answer_a_row_in_their_order(tagger, data, rows):
    ended = run("predict", tagger, data)
    assert ended.code == 0
    assert ended.err == ""
    right = [
        answer["prediction"] == row["tags"] for answer, row in zip(ended.answers, rows, strict=True)
    ]
    assert len(right) == 3000
    assert np.mean(right) > 0.9  # which answers of other rows would not be


def test_from_stdin_to_stdout(tagger, data):
    ended = run("predict", tagger, "-", "-o", "-", stdin=data.read_bytes())
    assert ended.err == "standard input looks like jsonl, and is read as such\n"
    assert ended.out == run("predict", tagger, data).out


def test_scores_and_the_row_itself(tagger, photos):
    first = run("predict", tagger, photos, "--scores", "--with-input").answers[0]
    assert list(first) == ["text", "tags", "prediction"]
    scores = [score for _, score in first["prediction"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("options", [(), ("--scores",), ("--top", 2), ("--json",)])
def test_sets_that_were_cut_off_are_reported(speller, words, folder, options):
    model = setlearn.load(speller)
    model.model.set_params(max_length=1)
    setlearn.save(model, folder / "cut-off")
    ended = run("predict", folder / "cut-off", words, *options)
    assert ended.code == 0
    assert ended.err.startswith("setlearn: warning: 16 predicted sets cut off at a limit")
    assert ended.err.count("cut off") == 1


def test_cut_off_sets_are_counted_over_all_batches(speller, words, folder, monkeypatch):
    monkeypatch.setattr("setlearn.records.answers.BATCH", 5)
    model = setlearn.load(speller)
    model.model.set_params(max_length=1)
    setlearn.save(model, folder / "cut-off")
    assert "16 predicted sets cut off" in run("predict", folder / "cut-off", words).err


class TestTop:
    def test_the_best_labels_whether_kept_or_not(self, tagger, photos):
        for answer in run("predict", tagger, photos, "--top", 3).answers:
            assert {label for label, _ in answer["prediction"]} == {"city", "night", "sea"}
            scores = [score for _, score in answer["prediction"]]
            assert scores == sorted(scores, reverse=True)

    def test_the_best_sequences(self, speller, words):
        first = run("predict", speller, words, "--top", 2).answers[0]["prediction"]
        assert len(first) == 2
        assert first[0][1] >= first[1][1]

    def test_at_least_one(self, tagger, photos):
        assert run("predict", tagger, photos, "--top", 0).code == 2


class TestAnotherRule:
    @pytest.mark.parametrize("verb", ["predict", "evaluate", "trace"])
    def test_a_rule_that_needs_no_fit(self, tagger, photos, verb):
        assert run(verb, tagger, photos, "--rule", "top-k:k=1").code == 0

    def test_it_decides(self, tagger, speller, photos, words):
        answers = run("predict", tagger, photos, "--rule", "top-k:k=1").answers
        assert {len(answer["prediction"]) for answer in answers} == {1}
        nothing = run("predict", speller, words, "--rule", "threshold:cut=0.999,min_size=0").answers
        assert not any(answer["prediction"] for answer in nothing)

    def test_it_decides_what_completes_a_set(self, tagger, tmp_path):
        rows = [{"text": "a boat on a wave", "known": ["sea"]}]
        data = write_jsonl(tmp_path / "rows.jsonl", rows)
        asked = ("complete", tagger, data, "--known", "known", "--rule")
        [few], [all_others] = (run(*asked, f"threshold:cut={cut}").answers for cut in (0.999, 0))
        assert few["prediction"] == []
        assert all_others["prediction"] == ["city", "night"]

    def test_the_trace_shows_it(self, tagger):
        asked = ("trace", tagger, "--text", "boat", "--json", "--rule", "top-k:k=2")
        assert len(run(*asked).document["result"]) == 2

    @pytest.mark.parametrize("lam", ["[0.1,0.2,0.3,0.4]", "(0.1, 0.2, 0.3, 0.4)"])
    def test_a_setting_may_hold_commas(self, speller, words, lam):
        ended = run("predict", speller, words, "--rule", f"margin:lam={lam},min_size=1")
        assert ended.code == 0, ended.err

    @pytest.mark.parametrize("settings", ["lam=0.1,0.2", "lam=[0.1,0.2", "lam=[0.1],min_size"])
    def test_settings_have_names(self, speller, words, settings):
        ended = run("predict", speller, words, "--rule", f"margin:{settings}")
        assert ended.code == 2
        assert "a setting of a rule is written name=value" in ended.err

    @pytest.mark.parametrize("rule", ["margin", "threshold:cut=tuned", "lambda-cnn", "auto"])
    def test_one_that_needs_a_fit_is_refused(self, tagger, photos, rule):
        ended = run("predict", tagger, photos, "--rule", rule)
        assert (ended.code, ended.out) == (2, "")
        assert f"the rule '{rule}' must be fitted on samples" in ended.err
        assert "choose a rule that needs no fit: expected-f" in ended.err

    @pytest.mark.parametrize(
        ("rule", "remedy"),
        [
            ("margin:lam=0.2,min_size=0", "give a number above 0 for min_size, or choose"),
            ("margin:min_size=0", "give a number above 0 for lam and for min_size, or choose"),
            ("threshold:cut=tuned", "give a number above 0 for cut, or choose"),
            ("lambda-cnn", "only possible in setlearn fit; choose"),
        ],
    )
    def test_the_settings_that_would_be_learned_are_named(self, tagger, rule, remedy):
        ended = run("trace", tagger, "--text", "boat", "--rule", rule)
        assert ended.code == 2
        assert remedy in ended.err

    def test_one_that_does_not_exist(self, tagger, photos):
        ended = run("predict", tagger, photos, "--rule", "magic")
        assert ended.code == 2
        assert "choose one of auto, expected-f" in ended.err


@pytest.mark.parametrize("name", ["answers.jsonl", "answers", "answers.txt", "answers.csv"])
def test_to_a_file(tagger, photos, tmp_path, name):
    out = tmp_path / name
    ended = run("predict", tagger, photos, "--out", out)
    assert (ended.code, ended.out) == (0, "")
    if name.endswith("csv"):
        with out.open(newline="") as file:
            answers = [row["prediction"].split(";") for row in csv.DictReader(file)]
    else:
        answers = [json.loads(line)["prediction"] for line in out.read_text().splitlines()]
    assert answers == [answer["prediction"] for answer in run("predict", tagger, photos).answers]


@pytest.mark.parametrize("suffix", ["xlsx", "XLS", "ods", "feather", "h5", "pkl", "xlsx.gz"])
def test_a_format_of_other_programs(tagger, photos, tmp_path, suffix):
    out = tmp_path / f"answers.{suffix}"
    ended = run("predict", tagger, photos, "--out", out)
    assert ended.code == 2
    assert "is another format; write one of jsonl, csv, tsv" in ended.err
    assert not out.exists()


@pytest.mark.parametrize("name", ["json", "parquet"])
def test_a_format_that_can_only_be_read(tagger, photos, tmp_path, name):
    ended = run("predict", tagger, photos, "--out", tmp_path / f"answers.{name}")
    assert ended.code == 2
    assert f"{name} can only be read; write one of jsonl" in ended.err
    assert "other formats are refused" in " ".join(run("predict", "--help").out.split())


class TestColumnsCalledAsThoseOfAnswers:
    @pytest.mark.parametrize(("name", "options"), [("prediction", ()), ("row", ("--skip-bad",))])
    def test_nothing_is_overwritten(self, tagger, tmp_path, name, options):
        data = write_jsonl(tmp_path / "rows.jsonl", [{"text": "a boat", name: "mine"}])
        ended = run("predict", tagger, data, "--with-input", *options)
        assert (ended.code, ended.out) == (2, "")
        assert f"rows.jsonl, line 1: there is a column '{name}'" in ended.err
        assert run("predict", tagger, data, *options).code == 0

    def test_a_name_that_is_free(self, tagger, tmp_path):
        data = write_jsonl(tmp_path / "rows.jsonl", [{"text": "a boat", "row": 7}])
        [answer] = run("predict", tagger, data, "--with-input").answers
        assert answer["row"] == 7


def test_one_document(tagger, photos, tmp_path):
    document = run("predict", tagger, photos, "--json").document
    assert document["n_answers"] == len(document["answers"]) == 90
    assert document["left_out"] == 0
    out = tmp_path / "answers.jsonl"
    told = run("predict", tagger, photos, "--json", "--out", out).document
    assert told == {"out": str(out), "n_answers": 90, "left_out": 0, "bad_rows": []}
    assert [json.loads(line) for line in out.read_text().splitlines()] == document["answers"]


class TestBadRows:
    @pytest.fixture
    def broken(self, tmp_path):
        rows = tagged_texts(8)
        rows[3:3] = ['{"text": ', {"text": [1, 2]}]
        return write_jsonl(tmp_path / "broken.jsonl", rows)

    def test_answers_before_the_bad_row_are_given(self, tagger, broken):
        ended = run("predict", tagger, broken)
        assert ended.code == 3
        assert len(ended.answers) == 3
        assert ended.err == (
            "setlearn: broken.jsonl, line 4: is not JSON: it is broken at character 8; "
            "correct it, or pass skip_bad=True to leave such rows out (--skip-bad)\n"
        )

    def test_a_row_that_the_model_cannot_read(self, tagger, broken):
        lines = broken.read_text().splitlines(keepends=True)
        broken.write_text("".join([*lines[:3], *lines[4:]]))
        ended = run("predict", tagger, broken)
        assert ended.code == 3
        assert len(ended.answers) == 3
        assert "broken.jsonl, line 4: column 'text' holds [1, 2]" in ended.err
        assert "--skip-bad" in ended.err

    def test_they_are_left_out_and_counted(self, tagger, broken):
        ended = run("predict", tagger, broken, "--skip-bad")
        assert ended.code == 0
        lines = [int(answer["row"].rpartition(" ")[2]) for answer in ended.answers]
        assert lines == [1, 2, 3, 6, 7, 8, 9, 10]
        assert ended.err.endswith("left out: 2 bad rows of broken.jsonl\n")
        document = run("predict", tagger, broken, "--skip-bad", "--json").document
        assert document["left_out"] == len(document["bad_rows"]) == 2

    def test_a_file_is_whole_or_as_it_was(self, tagger, broken, tmp_path):
        out = tmp_path / "answers.jsonl"
        out.write_text("of yesterday")
        assert run("predict", tagger, broken, "--out", out).code == 3
        assert out.read_text() == "of yesterday"
        assert sorted(path.name for path in tmp_path.iterdir()) == [out.name, broken.name]


class TestModelsSavedFromPython:
    def test_columns_are_guessed_and_said(self, bare):
        ended = run("predict", bare, "-", stdin=b'{"a": 3, "b": 0}\n{"a": -3, "b": 0}\n')
        assert [answer["prediction"] for answer in ended.answers] == [["high"], ["low"]]
        assert "inputs: a, b (all columns but the target)" in ended.err

    def test_columns_are_named(self, bare):
        rows = b'{"name": "n", "b": 0, "a": 3}'
        assert run("predict", bare, "-", stdin=rows).code == 3
        ended = run("predict", bare, "-", "--input", "a", "--input", "b", stdin=rows)
        assert ended.answers == [{"prediction": ["high"]}]

    def test_columns_need_no_name_where_the_model_knows_them(self, tagger, photos):
        ended = run("predict", tagger, photos, "--input", "text")
        assert ended.code == 2
        assert "this one reads text" in ended.err


def test_memory_does_not_grow_with_the_rows(tagger, tmp_path):
    def peak(n_rows):
        data = write_jsonl(tmp_path / "rows.jsonl", tagged_texts(n_rows))
        tracemalloc.start()
        try:
            assert run("predict", tagger, data, "--out", tmp_path / "answers.jsonl").code == 0
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few = peak(3_000)
    # An answer takes about 300 bytes: if all were kept, it would be 2.7 MB more.
    assert peak(12_000) < few + 500_000


def test_unseen_tokens_are_counted_over_all_batches(speller, folder, monkeypatch):
    monkeypatch.setattr("setlearn.records.answers.BATCH", 2)
    rows = [{"word": word} for word in ("ñab", "ab", "bñ", "ßa")]
    (folder / "unseen.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ended = run("predict", speller, folder / "unseen.jsonl")
    assert ended.code == 0
    assert "warning: 3 inputs with tokens never seen in training (2 different, " in ended.err
    assert ended.err.count("never seen in training") == 1


def test_new_categories_are_counted_over_all_batches(folder):
    train = [{"city": "Oslo", "tags": ["north"]}, {"city": "Rome", "tags": ["south"]}] * 30
    new = [{"city": "Oslo"}] * 1500 + [{"city": "Lima"}, {"city": None}, {"city": "Kyiv"}] * 300
    data = write_jsonl(folder / "cities.jsonl", train)
    assert run("fit", data, "-o", folder / "cities", "--target", "tags").code == 0
    for options in ((), ("--json",)):
        ended = run("predict", folder / "cities", write_jsonl(folder / "new.jsonl", new), *options)
        assert ended.code == 0
        [line] = ended.err.splitlines()
        assert line.startswith(
            "setlearn: warning: 600 rows with categories never seen in training: "
            "city ('Lima', 'Kyiv'); they have no features"
        )
