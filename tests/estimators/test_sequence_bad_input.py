"""What `SequenceSetGenerator.fit` cannot use is refused before training, and named."""

import numpy as np
import pytest

from setlearn import SequenceSetGenerator
from setlearn.errors import DataError, KindError, ParameterError, SetlearnError
from setlearn.networks import LSTM, Training
from setlearn.rules import Margin


class WrongShapes:
    """A recipe whose network answers one choice too many."""

    def build(self, *, n_choices, n_tokens, n_features, copies):
        return LSTM(4, 4, 4).build(
            n_choices=n_choices + 1, n_tokens=n_tokens, n_features=n_features
        )


class Broken:
    """A recipe that cannot even build."""

    def build(self, *, n_choices, n_tokens, n_features, copies):
        raise RuntimeError("no such thing")


@pytest.mark.parametrize(
    ("X", "Y", "parameters", "error", "message"),
    [
        (["a"], ["abc"], {}, KindError, "sample 0 of y is the str 'abc'"),
        (["a"], [{1}], {}, KindError, "sample 0 of y holds the int 1, which is not a sequence"),
        (["a", "b"], [{"a"}, {""}], {}, DataError, "sample 1 of y holds an empty sequence"),
        (["a"], [{()}], {}, DataError, "sample 0 of y holds an empty sequence"),
        (["a"], [{frozenset()}], {}, DataError, "sample 0 of y holds an empty sequence"),
        (["a", "b"], [{"ab"}, {"abcd"}], {"max_length": 3}, DataError, "sample 1 .* 4 tokens"),
        (["a", "b"], [{"ab"}, {("a", "b")}], {}, KindError, "sample 1 holds the tuple"),
        ([], [], {}, DataError, "there is no training data: X holds 0 samples; pass"),
        (["a"], [{"a"}, {"b"}], {}, DataError, "X has 1 samples but y has 2 sets"),
        ("abc", [{"a"}] * 3, {}, KindError, "X is the str"),
        ({"a": 1}, [{"a"}], {}, KindError, "X is the dict"),
        (["a"], {"a"}, {}, KindError, "y is the set"),
        ([1, 2], [{"a"}] * 2, {}, KindError, "sample 0 of X is the int 1"),
        ([[[]]], [{"a"}], {}, KindError, "sample 0 of X holds a token that cannot be hashed"),
        (["a"], [[[["a"], "b"]]], {}, KindError, "cannot be hashed"),
        ([[0.1, 2], [0.3, 0.5]], [{"a"}] * 2, {}, DataError, r"\[0.1, 2\].*pass a numeric array"),
        ([[[0.1], [0.2]]], [{"a"}], {}, DataError, "pass a numeric array"),
        (["a"], np.zeros((1, 2)), {}, KindError, "y is a matrix"),
        (["a"], [{"a"}], {"network": "gru"}, ParameterError, "network must be one of"),
        (["a"], [{"a"}], {"network": 3}, ParameterError, "a scorer with the methods start"),
        (["a"], [{"a"}], {"network": LSTM}, ParameterError, "a scorer with the methods start"),
        (["a"], [{"a"}], {"network": LSTM(0)}, ParameterError, "embedding must be"),
        (["a"], [{"a"}], {"network": Broken()}, DataError, "RuntimeError: no such thing"),
        (["a"], [{"abc"}], {"rule": Margin([0.1, 0.2])}, ParameterError, "lam has 2 values"),
        (["a"], [{"a"}], {"training__checkpoint": "folder"}, ParameterError, "set random_state"),
        (["a"], [{"a"}], {"training": {"max_steps": 1}}, ParameterError, "training must be a"),
        (["a"], [{"a"}], {"training__max_seconds": "5"}, ParameterError, "a number, got '5'"),
        (list("abcdefgh"), [{"a"}] * 8, {"training__validation": 0.99}, ParameterError, "all 8"),
        (["a"], [{"a"}], {"network": WrongShapes()}, DataError, "logits of shape"),
        (["a"], [{"a"}], {"rule": "margin"}, ParameterError, "rule must be one of"),
        (["a"], [{"a"}], {"tokens": "syllable"}, ParameterError, "tokens must be"),
        (["a"], [{"a"}], {"tokens": ("char",)}, ParameterError, "tokens must be one way"),
        (["a"], [{"a b"}], {"tokens": lambda t: [t[0]]}, DataError, "cannot be joined"),
        (["a"], [{"a"}], {"max_size": 0}, ParameterError, "max_size must be"),
        (["a"], [{"a"}], {"max_length": 0}, ParameterError, "max_length must be"),
        (["a"], [{"a"}], {"training__batch_size": 0}, ParameterError, "batch_size must be"),
        (["a"], [{"a"}], {"training__validation": 1.5}, ParameterError, "validation must be"),
        (["a"], [{"a"}], {"training__device": "abacus"}, ParameterError, "device 'abacus'"),
    ],
)
def test_bad_input_is_refused_before_training(X, Y, parameters, error, message):
    model = SequenceSetGenerator(training=Training(max_steps=1)).set_params(**parameters)
    with pytest.raises(error, match=message) as caught:
        model.fit(X, Y)
    assert isinstance(caught.value, SetlearnError)
    assert isinstance(caught.value, ValueError | TypeError)
