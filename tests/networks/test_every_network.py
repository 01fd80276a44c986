"""All exported networks, and one from outside the package, pass the same checks."""

import subprocess
import sys

import pytest
import torch
from torch import nn

import setlearn.networks
from setlearn import SequenceSetGenerator
from setlearn.errors import ParameterError
from setlearn.networks import LSTM, Training, network_named, network_names
from setlearn.networks.recipe import NetworkRecipe
from setlearn.networks.sequence_network import SequenceNetwork
from tests.checks.networks import CHECKS, exported_recipes


class MeanOfTokens(NetworkRecipe):
    """A network from outside: the mean of the input plus the mean of the prefix."""

    sizes = ("width",)
    suited_training = {"max_steps": 100, "learning_rate": 0.05}  # noqa: RUF012

    def __init__(self, width=8, *, loss="node"):
        self.width = width
        self.loss = loss

    def new_module(self, *, n_choices, n_tokens, n_features, copies):
        return MeanOfTokensNetwork(n_choices, n_tokens, n_features, self.width)


class MeanOfTokensNetwork(SequenceNetwork):
    def __init__(self, n_choices, n_tokens, n_features, width):
        super().__init__()
        self.n_choices = n_choices
        self.read = nn.Linear(n_features, width) if n_features else nn.Embedding(n_tokens, width)
        self.tokens = nn.Embedding(n_choices, width)
        self.output = nn.Linear(width, n_choices)

    def encode(self, values, length):
        inside = torch.arange(values.shape[1]) < length[:, None]
        return (self.read(values) * inside[..., None]).sum(1) / length[:, None]

    def start(self, memory):
        state = torch.zeros_like(memory)
        return self.output(torch.tanh(memory)), (state,)

    def advance(self, memory, sample, state, token):
        total = state[0] / 2 + self.tokens(token)
        return self.output(torch.tanh(memory[sample] + total)), (total,)


RECIPES = [*exported_recipes(), LSTM(8, 7, 6, loss="node"), MeanOfTokens()]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("recipe", RECIPES, ids=repr)
def test_network(recipe, check):
    with torch.no_grad():
        check(recipe)


def test_all_recipes_of_the_package_are_checked():
    assert {type(recipe).__name__.lower() for recipe in exported_recipes()} == set(network_names())


def test_a_network_from_outside_is_used_by_passing_its_recipe():
    X = ["ab", "cd", "ef"] * 5
    model = SequenceSetGenerator(MeanOfTokens(), training=Training(validation=0), random_state=0)
    model.fit(X, [{x[0]} for x in X])
    assert model.history_[-1]["step"] == 100  # its own suited_training
    assert model.scorer_.loss == "node"  # its own loss
    assert model.predict(["ab"]) == [{"a"}]


class TestNames:
    def test_a_name_stands_for_the_recipe_with_default_parameters(self):
        assert network_names() == ["lstm", "transducer", "transformer"]
        for name in network_names():
            recipe = network_named(name)
            assert type(recipe).__name__.lower() == name
            assert recipe.get_params() == type(recipe)().get_params()

    @pytest.mark.parametrize("name", ["gru", "LSTM", "training", "network_named", ""])
    def test_other_names_are_refused_with_a_list(self, name):
        with pytest.raises(
            ParameterError,
            match=f"network must be one of lstm, transducer, transformer .*got '{name}'",
        ):
            network_named(name)

    def test_a_recipe_that_the_package_exports_has_a_name(self, monkeypatch):
        monkeypatch.setattr(setlearn.networks, "__all__", [*setlearn.networks.__all__, "GatedCNN"])
        assert "gatedcnn" in network_names()
        module = type(sys)("setlearn.networks.gated_cnn")
        module.GatedCNN = MeanOfTokens
        monkeypatch.setitem(sys.modules, module.__name__, module)
        assert isinstance(network_named("gatedcnn"), MeanOfTokens)

    def test_an_unknown_attribute(self):
        with pytest.raises(AttributeError, match="no attribute 'GRU'"):
            setlearn.networks.GRU  # noqa: B018

    def test_names_are_known_without_torch(self):
        code = (
            "import sys, setlearn.networks as n; n.network_names(); dir(n); n.Training(); "
            "assert 'torch' not in sys.modules; "
            "n.LSTM(); assert 'torch' in sys.modules"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


class TestTraining:
    def test_checkpoints_are_refused_by_classes_that_write_none(self):
        from setlearn.learners import SigmoidNetwork

        model = SigmoidNetwork(training=Training(checkpoint="folder"))
        with pytest.raises(ParameterError, match="does not write checkpoints"):
            model.fit([[0.0], [1.0]], [[0], [1]])

    @pytest.mark.parametrize("share", [-0.1, 1.0, float("nan"), "half", True])
    def test_a_share_out_of_range(self, share):
        with pytest.raises(ParameterError, match="validation must be a number in"):
            Training(validation=share).held_out_share({})

    def test_what_was_left_open_is_filled_from_what_suits(self):
        suited = {"batch_size": 15, "validation": 0.1}
        assert Training().plan(suited).batch_size == 15
        assert Training(batch_size=4).plan(suited).batch_size == 4
        assert Training().held_out_share(suited) == 0.1
        assert Training(validation=0).held_out_share(suited) == 0
        assert Training().held_out_share({}) == 0

    @pytest.mark.parametrize("training", [{"max_steps": 5}, 100, Training])
    def test_another_type_is_refused(self, training):
        from setlearn.learners import SigmoidNetwork

        with pytest.raises(ParameterError, match=r"must be a setlearn.networks.Training or None"):
            SigmoidNetwork(training=training).fit([[0.0], [1.0]], [[0], [1]])

    def test_nested_parameters_are_set_while_training_is_none(self):
        from setlearn.learners import SigmoidNetwork

        model = SigmoidNetwork().set_params(training__max_steps=7, hidden=(3,))
        assert model.training.max_steps == 7
        assert model.get_params()["training__max_steps"] == 7
