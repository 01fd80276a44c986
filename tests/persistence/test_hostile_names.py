"""Names are the user's own: words, labels, columns and features may be called anything."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import setlearn
from setlearn import SetClassifier
from setlearn.records import plan_records
from setlearn.rules import TopK

pytestmark = pytest.mark.filterwarnings("ignore:a label of y is 'nan'")

RESERVED = [
    *("file", "content", "key_types", "type", "shape", "attrs", "args", "func", "obj"),
    *("__loader__", "__id__", "__class__", "__module__", "__reduce__", "protocol"),
    *("schema.json", "1.npy", "NdArrayNode", "DictNode", "JsonNode", "is_json"),
    *("!object", "!tensor", "!sklearn", "!vocabulary", "!network", "SetClassifier", "rule_"),
    *("a.b", "a/b", "..", "0", "-1", "None", "nan", "true", "profiles", "ʼ", "\u202e", "💥"),
]
"""What means something to skops, to our own format, or to a file system."""

NAMES = st.sampled_from(RESERVED) | st.text(
    st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=8
)
LISTS = st.lists(NAMES, min_size=3, max_size=6, unique=True)

slow = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def same_after_saving(model, X, folder):
    setlearn.save(model, folder / "model")
    assert setlearn.load(folder / "model").predict(X) == model.predict(X)


@pytest.mark.parametrize("word", ["file", "profiles", "__loader__", "__id__", "content"])
@pytest.mark.parametrize("analyzer", ["word", "char_wb"])
def test_a_vocabulary_with_a_word_that_skops_uses(word, analyzer, tmp_path):
    X = [f"a {word}", f"the {word}", "an apple", "the apple"]
    learner = make_pipeline(TfidfVectorizer(analyzer=analyzer), LogisticRegression())
    model = SetClassifier(learner, TopK(1)).fit(X, [{"a"}, {"a", "b"}, {"b"}, {"b"}])
    same_after_saving(model, X, tmp_path)


@slow
@given(LISTS)
def test_words_of_a_vocabulary(tmp_path, words):
    X = [" ".join(words[:2]), " ".join(words[1:]), words[0], words[-1]]
    vectoriser = CountVectorizer(token_pattern=r"[^ ]+", lowercase=False)
    model = SetClassifier(make_pipeline(vectoriser, LogisticRegression()), TopK(1))
    same_after_saving(model.fit(X, [{"a"}, {"a", "b"}, {"b"}, set()]), X, tmp_path)


@slow
@given(LISTS)
def test_names_of_features(tmp_path, names):
    X = [{name: float(k + row) for k, name in enumerate(names)} for row in range(4)]
    model = SetClassifier(make_pipeline(DictVectorizer(), LogisticRegression()), TopK(1))
    same_after_saving(model.fit(X, [{"a"}, {"a", "b"}, {"b"}, set()]), X, tmp_path)


@slow
@given(LISTS)
def test_labels_and_classes(tmp_path, labels):
    X = [[0.0], [1.0], [2.0], [3.0]]
    learner = LogisticRegression()
    Y = [set(labels[:1]), set(labels[:2]), set(labels[1:]), set()]
    same_after_saving(SetClassifier(learner, TopK(2)).fit(X, Y), X, tmp_path)
    plain = SetClassifier(learner, scores="softmax").fit(X, [*labels[:2], *labels[:2]])
    setlearn.save(plain, tmp_path / "plain")
    assert setlearn.load(tmp_path / "plain").predict(X).tolist() == plain.predict(X).tolist()


@slow
@given(LISTS)
def test_columns_and_categories_of_records(tmp_path, names):
    columns = [name for name in names if name.strip() == name]
    records = [
        {
            **{name: names[(k + row) % len(names)] for k, name in enumerate(columns)},
            "y": [["a", "b"][row % 2]],
        }
        for row in range(12)
    ]
    if "y" in columns or not columns:
        return
    kinds = dict.fromkeys((name.replace("[", "[[]") for name in columns), "category")
    plan = plan_records(records, target="y", kinds=kinds, task="labels")
    model = plan.fit(records, SetClassifier(LogisticRegression(), TopK(1)))
    same_after_saving(model, records, tmp_path)
