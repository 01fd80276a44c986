"""Tables are data: every name in them means something, and the paper's figures are right."""

from dataclasses import replace

import pytest

from setlearn.errors import ParameterError
from setlearn.experiments.reproduce import planned_cells, tables_named
from setlearn.experiments.systems import RULES, SIDE_BY_SIDE, System
from setlearn.experiments.table import MEAN_EDIT_DISTANCE, MEAN_F1
from setlearn.experiments.tables import TABLES

# As printed in the paper's two tables.
PAPER = {
    "yeast": {"Multi-label": 0.430, "SSG-RNN": 0.402, "SSG-CNN": 0.658},
    "scene": {"Multi-label": 0.455, "SSG-RNN": 0.378, "SSG-CNN": 0.605},
    "task1": {"Multi-label": 0.64, "SSG-S": 0.19, "SSG-RNN": 0.42, "SSG-CNN": 0.70},
    "task2": {"SSG-S": 8.10, "SSG-RNN": 3.75, "SSG-CNN": 2.00},
}


def test_the_papers_figures():
    printed = {
        name: {s.name: s.paper for s in table.systems if s.paper is not None}
        for name, table in TABLES.items()
    }
    assert {name: figures for name, figures in printed.items() if figures} == PAPER


def test_our_own_goals():
    goals = {name: TABLES[f"{name}-default"].systems[0].goal for name in PAPER}
    assert goals == {"yeast": 0.675, "scene": 0.815, "task1": 0.995, "task2": 0.95}


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_tables_show_the_same_scores_under_every_rule(name):
    table = TABLES[name]
    for scorer in table.compared:
        assert {(scorer, rule) for rule in SIDE_BY_SIDE} <= set(table.pairs())
    assert len(table.pairs()) == len(set(table.pairs()))
    assert table.yardsticks


def test_side_tables_have_fewer_splits_and_no_curve():
    cells = planned_cells([TABLES["parts"], TABLES["scene-default"]], n_splits=5)
    of_parts = [cell for cell in cells if cell.table is TABLES["parts"]]
    assert [(cell.split, cell.share) for cell in of_parts] == [(0, 1.0), (1, 1.0), (2, 1.0)]
    assert len(cells) - len(of_parts) == 5 + 3  # and three points of the curve


def test_the_leading_figures():
    leading = {name: TABLES[name].metric for name in PAPER}
    assert leading == dict.fromkeys(("yeast", "scene", "task1"), MEAN_F1) | {
        "task2": MEAN_EDIT_DISTANCE
    }
    assert MEAN_F1.reaches(0.5, 0.5)
    assert MEAN_EDIT_DISTANCE.reaches(1.9, 2.0)
    assert not MEAN_EDIT_DISTANCE.reaches(2.1, 2.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": (System("SSG-S", "abacus", "Margin"),)}, "scorer 'abacus'"),
        ({"compared": {"abacus": ("Margin",)}}, "scorer 'abacus'"),
        ({"yardsticks": ("a coin",)}, "yardstick 'a coin'"),
        ({"curve": "SSG-X"}, "system 'SSG-X'"),
        ({"traced": "SSG-X"}, "system 'SSG-X'"),
    ],
)
def test_unknown_names_are_refused(change, message):
    with pytest.raises(ParameterError, match=message):
        replace(TABLES["task2"], **change)


def test_an_unknown_rule_is_refused():
    system = System("SSG-S", next(iter(TABLES["task2"].compared)), "dice")
    with pytest.raises(
        ParameterError, match="rule 'dice', which it does not define; choose one of"
    ):
        replace(TABLES["task2"], systems=(system,))


def test_tables_by_name():
    assert [table.name for table in tables_named(["task2", "yeast"])] == ["yeast", "task2"]
    assert [table.name for table in tables_named([])] == list(TABLES)
    with pytest.raises(ParameterError, match="no table 'tasks'; choose among yeast"):
        tables_named(["tasks"])


def test_the_plan_is_every_split_and_three_smaller_sizes():
    cells = planned_cells([TABLES["yeast"], TABLES["task2"]], 2)
    assert [(c.table.name, c.split) for c in cells if c.share == 1] == [
        ("yeast", 0),
        ("task2", 0),
        ("yeast", 1),
        ("task2", 1),
    ]
    assert [c.share for c in cells if c.table.name == "yeast" and c.share < 1] == [0.5, 0.25, 0.125]


def test_cuts_of_lambda_networks_are_tuned():
    assert RULES["λ-RNN"].cut == RULES["λ-CNN"].cut == "tuned"


def test_systems_named_leave_out_all_others():
    tables = tables_named(["yeast", "task2"], ["SSG-CNN", "SSG-S"])
    assert [[system.name for system in table.systems] for table in tables] == [
        ["SSG-CNN"],
        ["SSG-S", "SSG-CNN"],
    ]
    assert list(tables[0].scorers) == ["sigmoid network"]
    assert tables[0].pairs() == [("sigmoid network", "λ-CNN")]
    assert [table.name for table in tables_named([], ["SSG-S"])] == ["task1", "task2"]
    with pytest.raises(ParameterError, match="no system 'SSG-X'; choose among 'Multi-label'"):
        tables_named([], ["SSG-X"])
