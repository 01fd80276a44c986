"""Plans for records with lists of candidates."""

import pytest

from setlearn import SetClassifier, SetSelector
from setlearn.errors import DataError, ParameterError
from setlearn.files import Row
from setlearn.records import plan_records
from setlearn.rules import Threshold
from tests.cli.files import orders

ORDERS = orders(120)
JOINED = [
    {**row, "listed": "; ".join(row["listed"]), "chosen": "; ".join(row["chosen"])}
    for row in ORDERS
]


@pytest.mark.parametrize("records", [ORDERS, JOINED], ids=["lists", "texts"])
def test_candidates_are_found(records):
    plan = plan_records(records, target="chosen")
    assert plan.task == "candidates"
    assert [column.note for column in plan.inputs] == [
        "ask: text",
        "listed: candidates (3.9 per row)",
    ]
    [(query, listed)] = plan.reader.read([Row("", records[0])])
    assert query == ORDERS[0]["ask"]
    assert listed == ORDERS[0]["listed"]


@pytest.mark.parametrize(
    "listed",
    [
        [row["chosen"] for row in ORDERS],
        [["tea", *row["chosen"], "tea"] for row in ORDERS],
        [["tea", "salt"] for row in ORDERS],
        [sorted({word for row in ORDERS for word in row["listed"]})] * len(ORDERS),
        [row["ask"] for row in ORDERS],
    ],
    ids=["the chosen ones", "repetitions", "not the chosen ones", "always the same", "texts"],
)
def test_columns_that_are_no_candidates(listed):
    records = [{**row, "listed": cell} for row, cell in zip(ORDERS, listed, strict=True)]
    assert plan_records(records, target="chosen", task=None).task == "labels"
    with pytest.raises(DataError, match="no column has lists that hold all elements of the sets"):
        plan_records(records, target="chosen", task="candidates")


def test_targets_are_split_as_they_were_for_the_guess():
    """Several words are one answer, not several."""
    choices = [[f"{a} {b} {c}" for c in ("one", "two", "six")] for a in "abc" for b in "xyz"]
    records = [
        {"question": f"what is {k}", "choices": each, "answer": each[k % 3]}
        for k, each in enumerate(choices * 3)
    ]
    plan = plan_records(records, target="answer")
    assert plan.notes[0].startswith(
        "choices: holds all chosen elements, so they are chosen from it"
    )
    assert plan.problem_with(Row("", records[0])) is None


def test_some_sets_may_have_errors():
    """They are named, instead of a guess that something else is meant."""
    records = [{**row, "chosen": [f"{c} " for c in row["chosen"]]} for row in ORDERS[:12]]
    plan = plan_records([*records, *ORDERS[12:]], target="chosen")
    assert plan.task == "candidates"
    assert "is chosen, but it is not among" in str(
        [plan.problem_with(Row("", record)) for record in records]
    )


def test_texts_that_may_hold_several_candidates_are_mentioned():
    records = [{"ask": f"item {k}", "shown": f"{k} {k + 1}", "bought": str(k)} for k in range(20)]
    plan = plan_records(records, target="bought", candidates="shown")
    assert "shown: each text is one candidate; if it holds several, give the separator" in str(
        plan.notes
    )
    split = plan_records(records, target="bought", candidates="shown", separator=" ")
    assert split.problem_with(Row("", records[3])) is None


def test_a_column_named_candidates_is_taken_first():
    records = [{"pool": row["listed"], **row, "candidates": row["listed"]} for row in ORDERS]
    plan = plan_records(records, target="chosen", inputs=["ask"])
    assert plan.inputs[-1].name == "candidates"


def test_the_column_may_be_given():
    few = [{"ask": ask, "listed": [ask], "chosen": [ask]} for ask in ("tea", "salt", "tea")]
    with pytest.raises(DataError, match="no column has lists"):
        plan_records(few, target="chosen", task="candidates")
    assert plan_records(few, target="chosen", candidates="listed").task == "candidates"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"candidates": "chosen"}, "column 'chosen' is the target, so it cannot hold"),
        ({"candidates": "list"}, "there is no column 'list'"),
        ({"candidates": "listed", "task": "labels"}, "the task is 'labels'; leave one of them"),
        ({"candidates": "listed", "text": "words"}, "text is for labels or sequences"),
        ({"tokens": "char"}, "tokens is for labels or sequences, but sets are chosen from"),
        ({"kinds": {"ask": "ignored"}}, "there is no column with the query"),
        ({"kinds": {"ask": "vector"}}, "a query is a text or one list of tokens, but .* ask"),
        ({"inputs": ["chosen"]}, "'chosen'"),
        ({"task": "sets"}, "task must be one of labels, sequences, candidates, got 'sets'"),
    ],
)
def test_wrong_plans(asked, message):
    with pytest.raises((DataError, ParameterError), match=message):
        plan_records(ORDERS, target="chosen", **asked)


def test_several_columns_are_one_query():
    records = [{**row, "also": row["ask"]} for row in ORDERS]
    plan = plan_records(records, target="chosen", inputs=["ask", "also"])
    assert "query: joined into one text, in this order: ask, also" in plan.notes
    [(query, _)] = plan.reader.read([Row("", records[0])])
    assert query.count("please") == 2


def test_tokens_are_a_query():
    records = [{**row, "ask": row["ask"].split()} for row in ORDERS]
    plan = plan_records(records, target="chosen", inputs=["ask"])
    [(query, _)] = plan.reader.read([Row("", records[0])])
    assert query == records[0]["ask"]


def test_a_chosen_element_that_is_no_candidate_is_named():
    plan = plan_records(ORDERS, target="chosen")
    wrong = Row("data.jsonl, line 7", {**ORDERS[0], "chosen": ["pizza"]})
    assert "data.jsonl, line 7: 'pizza' is chosen, but it is not among the" in plan.problem_with(
        wrong
    )
    assert plan.problem_with(Row("", ORDERS[0])) is None


def test_it_is_fitted_as_planned():
    plan = plan_records(ORDERS, target="chosen")
    model = plan.fit(ORDERS, SetSelector(rule=Threshold(0.5), cv=2, random_state=0, verbose=False))
    assert model.score(ORDERS) > 0.8
    assert model.predict([{"ask": "please", "listed": []}]) == [frozenset()]
    with pytest.raises(DataError, match="there is no column 'listed'"):
        model.predict([{"ask": "please"}])
    with pytest.raises(ParameterError, match="the elements are candidates, but a SetClassifier"):
        plan.fit(ORDERS, SetClassifier())
