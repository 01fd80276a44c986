"""A refused input: which one it is, which column, and why, but none of its values."""

import pytest

from setlearn import SetClassifier
from setlearn.persistence import read_model, save
from setlearn.records import plan_records
from setlearn.rules import TopK
from setlearn.server.served_model import Ask, Refusal, ServedModel
from tests.server.live_server import CANARY

GOOD = {"price": 3.5, "city": "Oslo", "added": "2024-01-05"}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    rows = [
        {
            "price": 1.5 * k,
            "city": ["Oslo", "Rome"][k % 2],
            "added": f"2024-01-{k + 10}",
            "tags": ["a"] if k % 2 else ["b"],
        }
        for k in range(20)
    ]
    model = plan_records(rows, target="tags").fit(rows, SetClassifier(rule=TopK(1), random_state=0))
    folder = tmp_path_factory.mktemp("served") / "model"
    save(model, folder)
    return ServedModel(read_model(folder))


BAD = {
    "a missing field": (
        {"city": CANARY, "added": "2024-01-05", f"price{CANARY}": 1},
        "inputs[1]: there is no column 'price'; ",
    ),
    "no number": (
        {**GOOD, "price": CANARY},
        "inputs[1]: column 'price' holds a value which is not a finite number; ",
    ),
    "no date": (
        {**GOOD, "added": CANARY},
        "inputs[1]: column 'added' holds a value which is not a date such as 2024-05-31, ",
    ),
    "no text": (
        {**GOOD, "city": [CANARY]},
        "inputs[1]: column 'city' holds a value which is not a text; ",
    ),
    "a bare text": (
        CANARY,
        "inputs[1]: it is a single value, but the columns price, city, added are needed; ",
    ),
}


@pytest.mark.parametrize(("value", "said"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("operation", [Ask.predict, Ask.rank, Ask.trace])
def test_the_input_and_the_column_are_named(served, operation, value, said):
    good, refusal = served.answer([Ask(operation, [GOOD]), Ask(operation, [GOOD, value])])
    assert len(good.entries) == 1
    assert isinstance(refusal, Refusal)
    assert refusal.message.startswith(said)
    assert "the model reads price (number), city (category), added (date): send" in refusal.message
    assert CANARY not in refusal.message


def test_inputs_are_not_blamed_for_known_elements(served):
    [refusal] = served.answer([Ask(Ask.complete, [GOOD], known=[[CANARY]])])
    assert refusal.message.startswith("an input or a known element does not fit the model; ")
    assert CANARY not in refusal.message
