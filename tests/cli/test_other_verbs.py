"""``evaluate``, ``complete``, ``trace``, ``inspect`` and ``doctor``."""

import json
import re

import pandas as pd
import pytest

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.metrics import set_report
from setlearn.rules import TopK
from setlearn.scorers import AnalogyScorer
from tests.cli.files import WORDS, tagged_texts, write_csv, write_jsonl
from tests.cli.running import run


@pytest.fixture(scope="module")
def judged(folder):
    """Texts with their true tags, one of which no model knows."""
    rows = tagged_texts(40, seed=2)
    rows[5]["tags"] = ["city", "night", "sea", "dragon"]
    return write_jsonl(folder / "judged.jsonl", rows)


class TestEvaluate:
    def test_for_people(self, tagger, judged):
        ended = run("evaluate", tagger, judged)
        assert ended.code == 0
        parts = ("mean F1", "exact match", "each label", "macro mean", "sizes of sets")
        for part in (
            *parts,
            "worst answers",
            "never seen in training, so never predicted: 'dragon'",
        ):
            assert part in ended.out
        assert "judged.jsonl, line 6: " in ended.out

    def test_for_programs(self, tagger, judged):
        document = run("evaluate", tagger, judged, "--json", "--worst", 1).document
        assert document["report"]["n_samples"] == 40
        assert len(document["labels"]["labels"]) == 4
        assert document["never_seen_in_training"] == ["dragon"]
        [worst] = document["worst"]
        assert worst["place"] == "judged.jsonl, line 6"
        assert "dragon" in worst["missed"]

    @pytest.mark.parametrize("separator", [", ", ";", "|", " "])
    def test_a_model_from_python_knows_its_labels_in_joined_texts(self, tmp_path, separator):
        rows = tagged_texts(60)
        table = pd.DataFrame({"text": [row["text"] for row in rows], "size": range(7, 67)})
        model = SetClassifier(rule=TopK(2), random_state=0).fit(table, [r["tags"] for r in rows])
        setlearn.save(model, tmp_path / "model")
        lists = table.assign(tags=[row["tags"] for row in rows]).to_dict("records")
        joined = [{**row, "tags": separator.join(row["tags"])} for row in lists]
        expected, got = (
            run("evaluate", tmp_path / "model", write(data, some), "--json").document
            for write, data, some in [
                (write_jsonl, tmp_path / "lists.jsonl", lists),
                (write_csv, tmp_path / "joined.csv", joined),
            ]
        )
        assert got["report"] == expected["report"]
        assert got["never_seen_in_training"] == []

    def test_another_column(self, tagger, tmp_path):
        rows = [{"text": row["text"], "truth": row["tags"]} for row in tagged_texts(5)]
        data = write_jsonl(tmp_path / "rows.jsonl", rows)
        assert run("evaluate", tagger, data).code == 3
        assert run("evaluate", tagger, data, "--target", "truth").code == 0

    def test_one_column_a_label(self, tagger, tmp_path):
        rows = [
            {"text": row["text"], **{tag: int(tag in row["tags"]) for tag in WORDS}}
            for row in tagged_texts(20)
        ]
        data = write_csv(tmp_path / "flags.csv", rows)
        some = ("evaluate", tagger, data, "--target", "sea", "--target", "cit*")
        judged = run(*some, "--target", "night", "--json").document
        assert judged["report"]["mean_f1"] > 0.9
        assert judged["never_seen_in_training"] == []
        refused = run(*some)
        assert refused.code == 3
        assert "night" in refused.err

    def test_another_separator(self, tagger, tmp_path):
        rows = [{**row, "tags": "/".join(row["tags"])} for row in tagged_texts(20)]
        data = write_csv(tmp_path / "slashes.csv", rows)
        document = run("evaluate", tagger, data, "--separator", "/", "--json").document
        assert document["report"]["mean_f1"] > 0.9

    def test_rows_without_truth_are_left_out(self, tagger, tmp_path):
        data = write_jsonl(tmp_path / "rows.jsonl", [*tagged_texts(5), {"text": "no truth"}])
        document = run("evaluate", tagger, data, "--skip-bad", "--json").document
        assert (document["report"]["n_samples"], document["left_out"]) == (5, 1)

    def test_means_of_many_labels(self, tmp_path):
        rows = [{"size": n % 40, "tags": [f"tag{n % 40}"]} for n in range(120)]
        data = write_jsonl(tmp_path / "rows.jsonl", rows)
        model = tmp_path / "model"
        options = ("--learner", "neighbours", "--rule", "top-k:k=1", "--task", "labels")
        assert run("fit", data, *options, "-o", model).code == 0
        lines = run("evaluate", model, data).out.splitlines()
        assert sum(line.startswith("tag") for line in lines) == 30
        assert "… 10 more labels; --json has all" in lines
        [micro] = [line for line in lines if line.startswith("micro mean")]
        assert micro.split()[-2:] == ["120", "120"]
        assert any(line.startswith("macro mean") for line in lines)

    def test_inputs_of_the_worst_answers_have_names(self, bare, tmp_path):
        data = write_jsonl(tmp_path / "rows.jsonl", [{"a": 3, "b": 0, "labels": ["low"]}])
        assert "rows.jsonl, line 1: a=3, b=0\n" in run("evaluate", bare, data).out

    def test_edit_distances_count_the_tokens_of_the_model(self, tmp_path):
        rows = [{"x": word, "y": ["turn left"]} for word in ("ab", "cd", "ef", "gh")]
        data = write_jsonl(tmp_path / "rows.jsonl", rows)
        command = ("fit", data, "--task", "sequences", "--network", "analogy", "--target", "y")
        for tokens, n_tokens in (("char,word", 1), ("char", 4)):
            ended = run(*command, "--tokens", tokens, "-o", tmp_path / "model")
            assert ended.code == 0, ended.err
            others = write_jsonl(tmp_path / "others.jsonl", [{"x": "ab", "y": ["turn right"]}])
            report = run("evaluate", tmp_path / "model", others, "--json").document["report"]
            assert report["matched_edit_distance"] == report["mean_edit_distance"] == n_tokens
            model = setlearn.load(tmp_path / "model").model
            in_python = set_report(
                [{"turn right"}], model.predict(["ab"]), sequences=True, tokens=model.tokens_[1]
            )
            assert in_python.to_dict() == report

    def test_sequences(self, speller, words):
        document = run("evaluate", speller, words, "--json").document
        assert document["labels"] is None
        assert document["report"]["mean_edit_distance"] is not None


class TestComplete:
    def test_known_elements_are_not_repeated(self, tagger, photos):
        for answer in run("complete", tagger, photos, "--known", "tags").answers:
            assert not set(answer["known"]) & set(answer["prediction"])

    def test_ranked_suggestions(self, tagger, photos):
        command = ("complete", tagger, photos, "--known", "tags")
        plain = run(*command).answers
        for scored, answer in zip(run(*command, "--scores").answers, plain, strict=True):
            assert sorted(element for element, _ in scored["prediction"]) == answer["prediction"]
        model = setlearn.load(tagger)
        n_labels = len(model.elements_)
        for answer in run(*command, "--top", 2).answers:
            elements, scores = zip(*answer["prediction"], strict=True)
            assert len(elements) == min(2, n_labels - len(answer["known"]))
            assert not set(answer["known"]) & set(elements)
            assert list(scores) == sorted(scores, reverse=True)

    def test_elements_that_the_model_does_not_know(self, tagger, tmp_path):
        rows = tagged_texts(5)
        rows[2]["tags"] = ["dragon"]
        data = write_jsonl(tmp_path / "rows.jsonl", rows)
        command = ("complete", tagger, data, "--known", "tags")
        ended = run(*command)
        assert ended.code == 3
        assert "rows.jsonl, line 3: " in ended.err
        assert "'dragon'; leave them out, or set unknown=\"ignore\"" in ended.err
        assert ended.err.endswith("or leave such rows out (--unknown ignore, --skip-bad)\n")
        assert len(ended.answers) == 2
        ignored = run(*command, "--unknown", "ignore")
        assert len(ignored.answers) == 5
        assert ignored.err.startswith("setlearn: warning: 1 element(s) of known")
        skipped = run(*command, "--skip-bad", "--json").document
        assert (skipped["n_answers"], skipped["left_out"]) == (4, 1)

    def test_a_column_that_is_not_there(self, tagger, photos):
        ended = run("complete", tagger, photos, "--known", "tag")
        assert ended.code == 3
        assert "did you mean 'tags'? the columns are tags, text" in ended.err


class TestTrace:
    def test_a_text(self, tagger):
        ended = run("trace", tagger, "--text", "a boat on a wave")
        assert ended.code == 0
        assert "stopped: " in ended.out
        document = run("trace", tagger, "--text", "a boat on a wave", "--json").document
        assert document["result"] == ["sea"]

    def test_a_record(self, tagger):
        text = json.dumps({"text": "a boat on a wave"})
        assert run("trace", tagger, "--text", text, "--json").document["result"] == ["sea"]

    def test_a_row_of_a_file(self, tagger, photos):
        ended = run("trace", tagger, photos, "--row", 3, "--known", "night", "--json")
        assert ended.document["known"] == ["night"]
        too_far = run("trace", tagger, photos, "--row", 91)
        assert too_far.code == 3
        assert "photos.csv has 90 rows, so there is no row 91" in too_far.err

    def test_sequences(self, speller):
        assert run("trace", speller, "--text", "ab").code == 0

    def test_elements_that_the_model_does_not_know(self, tagger):
        asked = ("trace", tagger, "--text", "a boat", "--known", "dragon")
        ended = run(*asked)
        assert ended.code == 3
        assert "'dragon'; leave them out, or set" in ended.err
        again = run(*asked, "--unknown", "ignore")
        assert again.code == 0
        assert "they were ignored" in again.err

    @pytest.mark.parametrize(
        ("text", "options"),
        [
            ('{"a": 3, "b": 0}', ()),
            ('{"name": "n", "b": 0, "a": 3}', ("--input", "a", "--input", "b")),
            ('{"x": [3, 0]}', ()),
            ("[3, 0]", ()),
        ],
    )
    def test_models_saved_from_python(self, bare, text, options):
        ended = run("trace", bare, "--text", text, *options, "--json")
        assert ended.document["result"] == ["high"]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("[" * 99999, "lists and objects are nested more than 200 deep"),
            ('{"text": "a boat", "text": "a wave"}', "an object has the same key twice"),
            ("[NaN, 0]", "NaN and Infinity are not JSON"),
        ],
        ids=["deep", "repeated key", "nan"],
    )
    def test_json_that_cannot_be_read(self, tagger, text, reason):
        ended = run("trace", tagger, "--text", text)
        assert ended.code == 2
        assert f"setlearn: --text is JSON that cannot be read: {reason}" in ended.err

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "a boat",
                "the model reads 2 columns, but --text is the single value 'a boat'; write a JSON "
                'object: {"text": ..., "price": ...}',
            ),
            ('{"text": "a boat"}', "--text: there is no column 'price'"),
            ('{"text": "a boat", "price": "x"}', "--text: column 'price' holds 'x'"),
        ],
    )
    def test_record_that_the_model_cannot_read(self, tmp_path, text, message):
        rows = [
            {"text": row["text"], "price": 0.5 * number, "tags": row["tags"]}
            for number, row in enumerate(tagged_texts(9))
        ]
        data = write_jsonl(tmp_path / "rows.jsonl", rows)
        assert run("fit", data, "--learner", "logistic", "-o", tmp_path / "model").code == 0
        ended = run("trace", tmp_path / "model", "--text", text)
        assert ended.code in (2, 3)
        assert ended.err.startswith(f"setlearn: {message}")

    @pytest.mark.parametrize("text", ["[blurred] a boat on a wave", "{boat} wave", "NaN", "1e999"])
    def test_what_is_not_a_record_is_a_text(self, tagger, text):
        assert run("trace", tagger, "--text", text).code == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--row", 2), "--row 2 is for a file"),
            (("--input", "text"), "--input names columns"),
        ],
    )
    def test_options_that_a_text_has_no_use_for(self, tagger, options, message):
        ended = run("trace", tagger, "--text", "a boat", *options)
        assert ended.code == 2
        assert message in ended.err

    def test_columns_of_a_bare_value(self, bare):
        ended = run("trace", bare, "--text", "[3, 0]", "--input", "a")
        assert ended.code == 2
        assert "--input names columns, but --text is not a record: [3, 0]" in ended.err


class TestInspect:
    def test_labels(self, tagger):
        document = run("inspect", tagger, "--json").document
        assert document["elements"] == ["city", "night", "sea"]
        assert document["about"]["data"]["file"] == "photos.csv"
        assert len(document["about"]["data"]["sha256"]) == 64
        assert "weights.safetensors" in document["files"]
        shown = run("inspect", tagger).out
        for part in ("λ", "city, night, sea", "guesses", "versions", "scikit-learn"):
            assert part in shown
        assert "\nrules tried\n  Margin() " in shown
        assert document["rules tried"]["Margin()"] in shown
        assert re.fullmatch(
            r"[01]\.\d+ ± 0\.\d+ \(.*λ .* ± .*\)", document["rules tried"]["Margin()"]
        )

    def test_sequences(self, speller):
        assert run("inspect", speller, "--json").document["task"] == "sets of sequences"

    def test_the_parts_of_a_mixture(self, tmp_path):
        words = [a + b + c for a in "bdgkt" for b in "aeiou" for c in "lmns"]
        parts = [AnalogyScorer(), AnalogyScorer(smoothing=5.0)]
        mixture = SequenceSetGenerator(parts, random_state=0)
        mixture.fit(words, [{word, word + "s"} for word in words])
        setlearn.save(mixture, tmp_path / "model")
        shown = run("inspect", tmp_path / "model").out
        for part in mixture.facts()["mixture"]:
            assert "AnalogyScorer" in shown
            assert str(part["weight in the mixture"]) in shown


def test_doctor():
    ended = run("doctor", "--json")
    assert ended.code == 0
    assert ended.document["well"] is True
    assert ended.document["packages"]["numpy"]
    shown = run("doctor").out
    assert "pip install 'setlearn[" in shown or "missing" not in shown
