"""A cell reports what the public classes predict, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from setlearn.estimators.base import SetPredictor
from setlearn.experiments.cell import ExperimentCell, pair_name, run_cell
from setlearn.experiments.samples import Samples, Split
from setlearn.experiments.systems import RULES
from setlearn.experiments.tables import TABLES
from setlearn.experiments.tables.defaults import MIX, YEAST_DEFAULT
from setlearn.experiments.tables.tasks import DECODER, SIGMOIDS
from setlearn.metrics import mean_f1
from setlearn.networks import Training
from setlearn.rules import LambdaSet, Margin
from tests.experiments.tiny import LABELS, SEQUENCES, one_system


def test_label_figures_are_those_of_set_classifier(tiny_run):
    results = tiny_run[2][1].results  # split 1
    split = Split.draw(LABELS.source.load(1), 1, 1.0)
    model = clone(LABELS.scorers[SIGMOIDS]).set_params(random_state=1)
    model.fit(split.train.X, split.train.sets)
    for rule in ("cut 0.5", "tuned cut", "Margin", "λ-CNN", "mean size"):
        predicted = model.with_rule(LABELS.rules[rule]).predict_sets(split.test.X)
        answer = results["answers"][pair_name(SIGMOIDS, rule)]
        assert answer["metrics"]["mean_f1"] == mean_f1(split.test.sets, predicted)
    assert results["answers"][pair_name(SIGMOIDS, "Margin")]["learned"]["λ"] == model.rule_.lam_


@pytest.mark.filterwarnings("ignore::setlearn.errors.TruncationWarning")
def test_sequence_figures_are_those_of_sequence_set_generator(tiny_run):
    results = tiny_run[2][2].results  # split 0
    split = Split.draw(SEQUENCES.source.load(0), 0, 1.0)
    model = clone(SEQUENCES.scorers[DECODER]).set_params(random_state=0)
    model.fit(split.train.X, split.train.sets)
    held_out = split.train.take(model.held_out_)
    for rule in ("cut 0.5", "Margin", "Margin, log scale", "λ-RNN"):
        under_rule = model.with_rule(SEQUENCES.rules[rule], held_out.X, held_out.sets)
        rankings = under_rule.predict_ranked(split.test.X)
        predicted = [frozenset(element for element, _ in ranking) for ranking in rankings]
        answer = results["answers"][pair_name(DECODER, rule)]
        assert answer["metrics"]["mean_f1"] == mean_f1(split.test.sets, predicted)
        assert answer["n_truncated"] == sum(ranking.truncated for ranking in rankings)


def test_a_network_that_holds_nothing_out_has_its_rules_fitted_on_training_samples():
    table = one_system()
    scorer = clone(table.scorers[DECODER]).set_params(training__validation=0)
    results = run_cell(ExperimentCell(replace(table, scorers={DECODER: scorer}), 0))
    [answer] = results["answers"].values()
    assert len(answer["learned"]["λ"]) > 1


class SmallSource:
    """Few samples with three labels, on which the default classifier is quick."""

    def load(self, split):
        X = np.random.default_rng(split).normal(size=(60, 3))
        return Samples(X, [frozenset("abc"[k] for k in range(3) if x[k] > 0) for x in X], "here")


def test_the_default_mixture_answers_under_every_rule_of_its_table():
    rules = {**RULES, "λ-set": LambdaSet(cut="tuned", training=Training(max_steps=3))}
    table = replace(YEAST_DEFAULT, source=SmallSource(), rules=rules)
    results = run_cell(ExperimentCell(table, 0))
    assert list(results["answers"]) == [pair_name(*pair) for pair in table.pairs()]
    assert results["scorers"][MIX]["history"] == []
    [gap] = results["scorers"][MIX]["gaps"]
    assert gap["lam"] == results["answers"][pair_name(MIX, "Margin")]["learned"]["λ"]
    assert results["examples"][0]["input"] == "test sample 0"


@pytest.mark.parametrize(
    ("rule", "has_gaps"), [("Margin, ρ = 0.3", True), ("Margin, log scale", False)]
)
def test_gaps_are_shown_for_a_lam_on_the_scale_of_probabilities(rule, has_gaps):
    table = one_system()
    system = replace(table.systems[0], rule=rule)
    results = run_cell(ExperimentCell(replace(table, systems=(system,)), 1))
    assert bool(results["scorers"][DECODER]["gaps"]) == has_gaps


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_scorers_are_public_predictors_that_are_not_fitted(table):
    for scorer in table.scorers.values():
        assert isinstance(scorer, SetPredictor)
        assert not hasattr(scorer, "rule_")
        assert scorer.random_state is None  # the split seeds everything


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_label_scorers_keep_scores_for_the_rules_that_need_them(table):
    for scorer, rule in table.pairs():
        predictor = table.scorers[scorer]
        if predictor.task == "labels" and table.rules[rule].needs_fit:
            assert predictor.rule == "auto" or isinstance(predictor.rule, Margin)
