"""What cannot be saved is refused with a reason, and what was there before stays."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import setlearn
from setlearn import SequenceSetGenerator, SetClassifier
from setlearn.errors import ModelError, NotFittedError, ParameterError, UntrustedModelError
from setlearn.learners import SetMixture
from setlearn.networks import LSTM, Training
from setlearn.nodes import Nodes, Step
from setlearn.persistence import check_can_save
from setlearn.rules import TopK
from tests.persistence.own_learner import OwnLearner, doubled
from tests.persistence.small_models import WORDS, label_case, quiet_answers

OWN = "tests.persistence.own_learner.OwnLearner"


def fitted(learner, **parameters):
    X, Y = [[0.0], [1.0], [2.0], [3.0]], [{"a"}, {"a", "b"}, {"b"}, set()]
    return SetClassifier(learner, TopK(1), **parameters).fit(X, Y)


def test_a_model_that_is_not_fitted(tmp_path):
    with pytest.raises(NotFittedError, match="call fit"):
        setlearn.save(SetClassifier(), tmp_path / "model")


@pytest.mark.parametrize("thing", [LogisticRegression(), {}, None, "model"])
def test_what_is_no_model(thing, tmp_path):
    with pytest.raises(ModelError, match="pass a fitted SetClassifier or SequenceSetGenerator"):
        setlearn.save(thing, tmp_path / "model")


def test_a_pipeline_around_a_model_says_how_to_turn_it_inside_out(tmp_path):
    X, Y = [[float(k), k % 3] for k in range(30)], [{"a"} if k < 15 else {"b"} for k in range(30)]
    around = make_pipeline(StandardScaler(), SetClassifier(rule=TopK(1), random_state=0)).fit(X, Y)
    for save in (partial(setlearn.save, path=tmp_path / "model"), check_can_save):
        with pytest.raises(ModelError) as caught:
            save(around)
        assert str(caught.value) == (
            "a Pipeline around a SetClassifier cannot be saved, only the SetClassifier itself; fit "
            "and save SetClassifier(make_pipeline(StandardScaler(), learner)), with all steps "
            "inside. Its default learner is setlearn.learners.SetMixture()"
        )
    inside = make_pipeline(StandardScaler(), SetMixture())
    model = SetClassifier(inside, TopK(1), random_state=0).fit(X, Y)
    setlearn.save(model, tmp_path / "model")
    assert setlearn.load(tmp_path / "model").predict(X) == model.predict(X) == around.predict(X)


@pytest.mark.parametrize("pipeline", [make_pipeline(StandardScaler()), Pipeline([])], ids=repr)
def test_other_pipelines_are_no_models(pipeline, tmp_path):
    with pytest.raises(ModelError, match="pass a fitted SetClassifier or SequenceSetGenerator"):
        setlearn.save(pipeline, tmp_path / "model")


def test_a_function_as_tokens(tmp_path):
    generator = SequenceSetGenerator(
        LSTM(2, 2, 2), tokens=str.split, training=Training(max_steps=1), random_state=0
    )
    model = generator.fit(WORDS, [{x} for x in WORDS])
    with pytest.raises(ModelError, match=r'a file cannot hold code; .* tokens="word"'):
        setlearn.save(model, tmp_path / "model")


def local_function():
    def doubled(X):  # hides the one of this module
        return X

    return doubled


class Words:
    """Methods that files cannot name."""

    @staticmethod
    def split(text):
        return text.split()

    @classmethod
    def split_all(cls, text):
        return text.split()


UNIMPORTABLE = {
    "lambda": lambda X: X,
    "local function": local_function(),
    "method of a builtin type": str.split,
    "operator of a builtin type": str.__len__,
    "bound builtin method": "a b".split,
    "static method": Words.split,
    "class method": Words.split_all,
}


@pytest.mark.parametrize("name", UNIMPORTABLE)
def test_functions_that_cannot_be_imported(name):
    vectorizer = CountVectorizer(tokenizer=UNIMPORTABLE[name])
    model = SetClassifier(make_pipeline(vectorizer, LogisticRegression()))
    for trusted in ((), ["builtins.method_descriptor", f"{__name__}.doubled"]):
        with pytest.raises(ModelError, match="cannot be imported by this name") as refused:
            check_can_save(model, trusted=trusted)
        assert "a file cannot hold code" in str(refused.value)
        assert "trusted" not in str(refused.value)


def test_a_function_that_cannot_be_imported_in_a_fitted_model(tmp_path):
    learner = make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression())
    with pytest.raises(ModelError, match=r"it holds .*<lambda>, which cannot be imported"):
        setlearn.save(fitted(learner), tmp_path / "model")


def test_a_class_inside_a_function(tmp_path):
    class Hidden(OwnLearner):
        """One that no other process can find."""

    name = "tests.persistence.test_save_errors.Hidden"
    with pytest.raises(ModelError, match=r"Hidden, which cannot be imported by this name"):
        setlearn.save(fitted(Hidden()), tmp_path / "model", trusted=[name])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "function", [doubled, len, partial(doubled)], ids=["own", "builtin", "partial"]
)
def test_functions_that_can_be_imported_may_be_trusted(function):
    model = SetClassifier(make_pipeline(FunctionTransformer(function), LogisticRegression()))
    with pytest.raises(UntrustedModelError) as refused:
        check_can_save(model)
    check_can_save(model, trusted=refused.value.types)


def test_types_of_ones_own_must_be_named(tmp_path):
    model = fitted(OwnLearner())
    for trusted in ((), ["some.other.Type"]):
        with pytest.raises(UntrustedModelError, match=rf"save\(model, path, trusted=\['{OWN}'\]\)"):
            setlearn.save(model, tmp_path / "model", trusted=trusted)
    assert list(tmp_path.iterdir()) == []
    setlearn.save(model, tmp_path / "model", trusted=[OWN])
    with pytest.raises(UntrustedModelError, match=rf"load\(path, trusted=\['{OWN}'\]\)"):
        setlearn.load(tmp_path / "model")
    with pytest.raises(UntrustedModelError, match=OWN):
        setlearn.load(tmp_path / "model", trusted=["some.other.Type"])
    loaded = setlearn.load(tmp_path / "model", trusted=[OWN])
    assert loaded.predict([[1.0]]) == model.predict([[1.0]])


def test_functions_of_ones_own_must_be_named(tmp_path):
    learner = make_pipeline(FunctionTransformer(doubled), LogisticRegression())
    name = "tests.persistence.own_learner.doubled"
    with pytest.raises(UntrustedModelError, match=r"own_learner\.doubled"):
        setlearn.save(fitted(learner), tmp_path / "model")
    setlearn.save(fitted(learner), tmp_path / "model", trusted=[name])
    with pytest.raises(UntrustedModelError, match=r"own_learner\.doubled"):
        setlearn.load(tmp_path / "model")
    assert setlearn.load(tmp_path / "model", trusted=[name]).predict([[0.0]]) == [{"a"}]


@pytest.mark.parametrize("everything", [True, "all", ["*"], [None], 1])
def test_there_is_no_way_to_trust_everything(everything, tmp_path):
    setlearn.save(fitted(OwnLearner()), tmp_path / "model", trusted=[OWN])
    with pytest.raises(ParameterError, match=r"full name|list of names"):
        setlearn.load(tmp_path / "model", trusted=everything)
    with pytest.raises(ParameterError, match=r"full name|list of names"):
        setlearn.save(fitted(OwnLearner()), tmp_path / "model", trusted=everything)
    with pytest.raises(ParameterError, match=r"full name|list of names"):
        check_can_save(fitted(OwnLearner()), trusted=everything)


def test_what_is_told_must_be_plain(tmp_path):
    with pytest.raises(ModelError, match="pass plain texts and numbers"):
        setlearn.save(fitted(None), tmp_path / "model", about={"when": object()})


def test_other_things_are_never_overwritten(tmp_path):
    model = fitted(LogisticRegression())
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes").write_text("mine")
    setlearn.save(model, tmp_path / "model")
    (tmp_path / "link").symlink_to(tmp_path / "model")
    for name, message in (("file", "is a file"), ("folder", "other things"), ("link", "symbolic")):
        with pytest.raises(ParameterError, match=message):
            setlearn.save(model, tmp_path / name)
    assert (tmp_path / "file").read_text() == (tmp_path / "folder" / "notes").read_text() == "mine"


@pytest.mark.parametrize(
    "manifest",
    ['{"manifest_version": 3}', "{}", "", '{"format": 1}', '{"format": 2, "files": {}}'],
)
def test_a_manifest_of_another_program_is_no_model(manifest, tmp_path):
    folder = tmp_path / "extension"
    (folder / "src").mkdir(parents=True)
    (folder / "manifest.json").write_text(manifest)
    (folder / "src" / "app.js").write_text("mine")
    with pytest.raises(ParameterError, match="other things than a setlearn model"):
        setlearn.save(fitted(LogisticRegression()), folder)
    assert (folder / "src" / "app.js").read_text() == "mine"
    assert (folder / "manifest.json").read_text() == manifest


@pytest.mark.parametrize("name", [".git", "notes.txt", "config.json"])
def test_what_stands_beside_a_model_is_not_lost(name, tmp_path):
    """A folder in place of a file of the model is not the model's either."""
    model, folder = fitted(LogisticRegression()), tmp_path / "model"
    setlearn.save(model, folder)
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()
    (folder / name / "work").write_text("mine")
    with pytest.raises(ParameterError, match=f"such as '{name}', which would be lost"):
        setlearn.save(model, folder)
    assert (folder / name / "work").read_text() == "mine"


def test_a_damaged_model_may_be_replaced(tmp_path):
    model, folder = fitted(LogisticRegression()), tmp_path / "model"
    setlearn.save(model, folder)
    (folder / "config.json").write_text("broken")
    (folder / "vocabulary.json").unlink()
    with pytest.raises(ModelError):
        setlearn.load(folder)
    setlearn.save(model, folder)
    assert setlearn.load(folder).predict([[0.0]]) == [{"a"}]


def test_an_empty_folder_and_missing_parents_are_fine(tmp_path):
    model = fitted(LogisticRegression())
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "some" / "where" / "[odd] *name?"):
        for _ in range(2):
            setlearn.save(model, path)
        assert setlearn.load(path).predict([[0.0]]) == [{"a"}]
    assert {entry.name for entry in tmp_path.iterdir()} == {"empty", "some"}


FULL_DISK = """
import resource, sys
import setlearn
model = setlearn.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    setlearn.save(model, sys.argv[2])
except setlearn.errors.ModelError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="files can be limited on POSIX systems alone")
def test_a_disk_that_is_full(tmp_path):
    """A limit on the size of files fails in the middle of writing, as a full disk does."""
    for seed, name in enumerate(("new", "old")):
        setlearn.save(label_case(seed).fit(), tmp_path / name)
    before = quiet_answers(setlearn.load(tmp_path / "old"), label_case(1))
    code = f"import setlearn.errors{FULL_DISK}"
    output = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "new", tmp_path / "old"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"could not be written to {tmp_path / 'old'} (File too large)" in output
    assert quiet_answers(setlearn.load(tmp_path / "old"), label_case(1)) == before
    assert {entry.name for entry in tmp_path.iterdir()} == {"new", "old"}


class OwnScorer:
    """A scorer of a user's own that likes all choices equally."""

    def start(self, X):
        return Step(Nodes.roots(np.full((len(X), 4), 0.6)))

    def advance(self, step, parent, token):
        nodes = step.nodes[parent]
        return Step(replace(nodes, depth=nodes.depth + 1, prefix_probability=None))


def test_a_scorer_of_ones_own_must_be_named(tmp_path):
    model = SequenceSetGenerator(OwnScorer(), TopK(1), random_state=0)
    model.fit(WORDS, [{x} for x in WORDS])
    name = f"{__name__}.OwnScorer"
    with pytest.raises(UntrustedModelError, match=rf"trusted=\['{name}'\]"):
        setlearn.save(model, tmp_path / "model")
    setlearn.save(model, tmp_path / "model", trusted=[name])
    with pytest.raises(UntrustedModelError, match=name):
        setlearn.load(tmp_path / "model")
    loaded = setlearn.load(tmp_path / "model", trusted=[name])
    assert isinstance(loaded.scorer_.scorer, OwnScorer)
