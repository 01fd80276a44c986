"""Labels that a learner lists: the same answers as from a table of all labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import setlearn
from setlearn import SetClassifier
from setlearn.errors import DataError, ParameterError
from setlearn.learners import ManyLabels, SetMixture
from setlearn.records import plan_records
from setlearn.rules import Auto, ExpectedF, Margin, Threshold, TopK

N, LABELS = 80, 7
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)).round(3)
Y = X @ RNG.normal(size=(4, LABELS)) + 0.3 * RNG.normal(size=(N, LABELS)) > 0.8
SETS = [frozenset(f"label {k}" for k in np.flatnonzero(row)) for row in Y]
PARENTS = {"label 1": "label 0", "label 2": ["label 1"], "label 4": ["label 0", "label 3"]}


class Table(ClassifierMixin, BaseEstimator):
    """Probabilities of all labels; of those below ``least`` it is 0 instead."""

    def __init__(self, least=0.0):
        self.least = least

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X, y):
        y = y.toarray() if sparse.issparse(y) else y
        self.classes_ = np.arange(y.shape[1])
        self.neighbours_ = KNeighborsClassifier(9).fit(X, y.astype(int))
        return self

    def predict_proba(self, X):
        P = np.stack([p[:, -1] for p in self.neighbours_.predict_proba(X)], axis=1)
        P = 0.02 + 0.96 * P + 0.001 * np.arange(P.shape[1])
        return np.where(self.least <= P, P, 1e-12)


class Lists(Table):
    """The same as a list of labels for each row."""

    def predict_listed(self, X):
        P = self.predict_proba(X)
        return sparse.csr_array(np.where(P > 1e-12, P, 0.0))


def fitted(learner, rule=None, **parameters):
    model = SetClassifier(learner, rule, cv=3, random_state=0, **parameters)
    return model.fit(X[:60], SETS[:60])


RULES = [
    *(Margin(), Threshold("tuned"), TopK(2), ExpectedF(), ExpectedF(calibrate=True)),
    Auto([Margin(), Threshold("tuned", min_size=None), ExpectedF(min_size=None)]),
]


class TestAListOfAllLabelsIsATable:
    @pytest.mark.parametrize("hierarchy", [None, PARENTS])
    @pytest.mark.parametrize("rule", RULES, ids=repr)
    def test_all_verbs_agree(self, rule, hierarchy):
        table = fitted(Table(), rule, hierarchy=hierarchy)
        lists = fitted(Lists(), rule, hierarchy=hierarchy)
        new, known = X[60:], [set(sorted(s)[:1]) for s in SETS[60:]]
        assert lists.predict(new) == table.predict(new)
        assert sparse.issparse(lists.predict_proba(new))
        np.testing.assert_allclose(lists.predict_proba(new).toarray(), table.predict_proba(new))
        assert lists.predict_ranked(new) == table.predict_ranked(new)
        assert lists.predict_ranked(new, top=3) == table.predict_ranked(new, top=3)
        assert lists.complete(new, known) == table.complete(new, known)
        assert lists.complete_ranked(new, known) == table.complete_ranked(new, known)
        best = [model.complete_ranked(new, known, top=2) for model in (lists, table)]
        assert best[0] == best[1]
        assert lists.score(new, SETS[60:]) == table.score(new, SETS[60:])
        for x, z in zip(new[:5], known, strict=False):
            assert lists.trace(x, known=z).to_dict() == table.trace(x, known=z).to_dict()
        other = [model.with_rule(Threshold("tuned"), new, SETS[60:]) for model in (lists, table)]
        assert other[0].rule_.cut_ == other[1].rule_.cut_
        if rule.needs_fit:  # else no scores were kept
            other = [model.with_rule(Margin()) for model in (lists, table)]
        assert other[0].predict(new) == other[1].predict(new)

    @pytest.mark.parametrize("kind", ["dense", "sparse"])
    def test_indicators(self, kind):
        targets = Y.astype(int) if kind == "dense" else sparse.csr_array(Y.astype(int))
        models = [SetClassifier(kind(), ExpectedF()).fit(X, targets) for kind in (Lists, Table)]
        lists, table = (model.predict(X) for model in models)
        assert type(lists) is type(table)
        assert abs(lists - table).sum() == 0
        assert lists.dtype == table.dtype

    def test_folds_that_leave_rows_out_or_are_empty(self):
        folds = [(np.arange(30), np.arange(30, 50)), (np.arange(30), np.arange(0))]
        for cv in (KFold(4), folds):
            models = [SetClassifier(kind(), Threshold("tuned"), cv=cv) for kind in (Lists, Table)]
            lists, table = (model.fit(X, SETS).rule_ for model in models)
            assert lists.cut_ == table.cut_

    def test_prefit_with_other_labels_is_refused(self):
        lists = Lists().fit(X, Y)
        with pytest.raises(DataError, match="answers for 7 labels but Y has 5"):
            SetClassifier(lists, Margin(), cv="prefit").fit(X, Y[:, :5])

    def test_prefit_and_pipelines(self):
        table, lists = Table().fit(X, Y), Lists().fit(X, Y)
        models = [SetClassifier(m, Margin(), cv="prefit").fit(X, Y) for m in (table, lists)]
        assert np.array_equal(models[0].predict(X), models[1].predict(X))
        steps = [make_pipeline(StandardScaler(), kind()) for kind in (Table, Lists)]
        of_steps = [fitted(step, Margin()).predict(X) for step in steps]
        assert of_steps[0] == of_steps[1]


class TestShortLists:
    def test_a_label_that_is_not_listed_counts_as_missed(self):
        # Nothing is listed for many rows, and the rule is fitted on all of them.
        lists, table = (
            fitted(Lists(0.5), Threshold("tuned")),
            fitted(Table(0.5), Threshold("tuned")),
        )
        assert lists.predict(X) == table.predict(X)
        nodes, right = lists.choice_points(X, SETS)
        assert right.sum() == Y.sum()
        assert (nodes.probabilities[right] == 0).any()

    def test_no_label_at_all_is_listed(self):
        model = fitted(Lists(0.5), Threshold(0.3))
        model.scorer_.model_.least = 1.0
        assert model.predict(X[:3]) == [frozenset()] * 3
        assert model.predict_ranked(X[:3], top=2) == [[], [], []]
        assert model.trace(X[0]).result == frozenset()
        assert model.complete(X[:1], [{"label 3"}]) == [frozenset()]

    def test_known_labels_are_kept_out_of_the_answer_though_they_are_not_listed(self):
        model = fitted(Lists(0.5), Threshold(0.3))
        known = [{"label 6"}] * 20
        answers = model.complete(X[60:], known)
        plain = model.predict(X[60:])
        assert answers == [sets - {"label 6"} for sets in plain]
        assert all("label 6" in model.trace(x, known={"label 6"}).result for x in X[:3])

    @pytest.mark.parametrize("name", ["conditional", "softmax", "per label"])
    def test_what_needs_all_labels_is_refused(self, name):
        parameters = {
            "conditional": {"conditional": True},
            "softmax": {"scores": "softmax"},
            "per label": {"rule": Threshold("per label")},
        }[name]
        model = SetClassifier(Lists(), **parameters)
        with pytest.raises(ParameterError, match=r"scores of all labels.*Lists lists only"):
            model.fit(X, SETS)

    def test_a_rule_that_needs_all_labels_is_refused_later_too(self):
        for rule in (Threshold("per label"), ExpectedF(joint=True)):
            with pytest.raises(ParameterError, match="scores of all labels"):
                fitted(Lists(), Margin()).with_rule(rule)

    def test_unknown_entries_are_refused(self):
        targets = Y.astype(float)
        targets[0, 0] = np.nan
        with pytest.raises(ParameterError, match=r"unknown \(NaN\), and Lists needs to know"):
            SetClassifier(Lists()).fit(X, targets)


def words(n=300, n_labels=400, seed=0):
    """Sparse counts of words: each label has three words of its own."""
    rng = np.random.default_rng(seed)
    owned = rng.integers(0, 500, size=(n_labels, 3))
    share = 1 / np.arange(1, n_labels + 1)
    sets = [rng.choice(n_labels, 2, replace=False, p=share / share.sum()) for _ in range(n)]
    rows = np.repeat(np.arange(n), 6)
    columns = owned[np.array(sets)].reshape(-1)
    counts = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, 500))
    return counts, [frozenset(s.tolist()) for s in sets]


class TestDefaultLearner:
    def test_it_is_the_one_for_many_labels_above_a_size_and_says_so(self, monkeypatch, capfd):
        inputs, sets = words()
        few = SetClassifier(random_state=0).fit(inputs, sets)
        assert isinstance(few.scorer_.estimator, SetMixture)
        monkeypatch.setattr("setlearn.estimators.default_learner.ENTRIES_OF_WORDS", 10_000)
        monkeypatch.setattr("setlearn.estimators.default_learner.MANY_LABELS", 100)
        capfd.readouterr()
        many = SetClassifier(random_state=0, verbose=2).fit(inputs, sets)
        assert isinstance(many.scorer_.estimator, ManyLabels)
        assert many.facts()["learner"] == "ManyLabels"
        n = len(many.classes_)
        dense = SetClassifier(random_state=0).fit(inputs[:60].toarray(), sets[:60])
        assert isinstance(dense.scorer_.estimator, SetMixture)
        monkeypatch.setattr("setlearn.estimators.default_learner.SAMPLES_PER_LABEL", 1)
        frequent = SetClassifier(random_state=0).fit(inputs, sets)
        assert isinstance(frequent.scorer_.estimator, SetMixture)
        said = f"{n} labels for 300 samples: using the learner for many labels, ManyLabels()"
        assert said in capfd.readouterr().err

    def test_records_with_texts_get_it_too(self, monkeypatch):
        monkeypatch.setattr("setlearn.estimators.default_learner.ENTRIES_OF_WORDS", 10_000)
        monkeypatch.setattr("setlearn.estimators.default_learner.MANY_LABELS", 100)
        inputs, sets = words()
        texts = [
            " ".join(f"word{k}" for k in part)
            for part in np.split(inputs.indices, inputs.indptr[1:-1])
        ]
        records = [
            {"text": text, "size": len(text), "tags": ";".join(map(str, labels))}
            for text, labels in zip(texts, sets, strict=True)
        ]
        plan = plan_records(records, target="tags", kinds={"text": "text", "size": "number"})
        model = plan.fit(records, SetClassifier(random_state=0))
        assert isinstance(model.model.scorer_.estimator, ManyLabels)

    def test_what_it_cannot_do_is_left_to_the_mixture(self, monkeypatch):
        monkeypatch.setattr("setlearn.estimators.default_learner.MANY_ENTRIES", 10)
        monkeypatch.setattr("setlearn.estimators.default_learner.MANY_LABELS", 3)
        conditional = SetClassifier(conditional=True, random_state=0).fit(X, SETS)
        assert isinstance(conditional.scorer_.estimator, SetMixture)
        targets = Y.astype(float)
        targets[0, 0] = np.nan
        partly_known = SetClassifier(random_state=0).fit(X, targets)
        assert isinstance(partly_known.scorer_.estimator, SetMixture)
        for rule in (Threshold("per label"), ExpectedF(joint=True)):
            model = SetClassifier(rule=rule, random_state=0).fit(X, SETS)
            assert isinstance(model.scorer_.estimator, SetMixture)
        classes = SetClassifier(random_state=0).fit(X, np.arange(N) % 5)
        assert isinstance(classes.scorer_.estimator, SetMixture)

    def test_saved_models_answer_the_same(self, tmp_path):
        inputs, sets = words()
        model = SetClassifier(ManyLabels(), random_state=0).fit(inputs[:250], sets[:250])
        setlearn.save(model, tmp_path / "model")
        loaded = setlearn.load(tmp_path / "model")
        assert loaded.predict(inputs) == model.predict(inputs)
        assert loaded.predict_ranked(inputs[:3], top=5) == model.predict_ranked(inputs[:3], top=5)
        assert model.score(inputs[250:], sets[250:]) > 0.3
