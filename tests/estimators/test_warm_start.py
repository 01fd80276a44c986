"""A training that goes on with a network that is trained already."""

import numpy as np
import pytest

import setlearn
from setlearn import SequenceSetGenerator
from setlearn.errors import DataError, ParameterError, SetlearnWarning
from setlearn.networks import LSTM, Training, Transducer, Transformer, training_loop

X = [a + b for a in "abcdefg" for b in "abcdefg"]
Y = [{x, x[::-1]} for x in X]
NETWORKS = [LSTM(8, 8, 16), Transformer(16, 2, 1), Transducer(16, 2, 1)]


def fitted(network=NETWORKS[1], X=X, Y=Y, random_state=0, **training):
    training = Training(**{"max_steps": 30, "validation": 0.2, **training})
    model = SequenceSetGenerator(network, training=training, random_state=random_state)
    return model.fit(X, Y)


def briefly_fitted(**parameters):
    """A network that exists, for tests in which its answers do not matter."""
    return fitted(max_steps=2, **parameters)


def weights_of(model):
    return np.concatenate([w.numpy().ravel() for w in model.network_.state_dict().values()])


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: type(network).__name__)
def test_goes_on_from_the_trained_weights(network):
    model = fitted(network)
    before, loss = model.network_, model.history_[-1]["held_out_loss"]
    weights = weights_of(model)
    model.set_params(warm_start=True, training__max_steps=60).fit(X, Y)
    assert model.history_[-1]["step"] == 60
    assert model.history_[-1]["held_out_loss"] < loss
    assert model.network_ is not before  # so a fit that fails would leave it as it was
    assert not np.array_equal(weights_of(model), weights)


def test_one_tiny_step_hardly_changes_the_weights():
    model = fitted()
    weights = weights_of(model)
    model.set_params(warm_start=True, training__max_steps=1, training__learning_rate=1e-9)
    assert weights_of(model.fit(X, Y)) == pytest.approx(weights, abs=1e-6)


class TestHeldOutSamplesStayHeldOut:
    @pytest.mark.parametrize("random_state", [0, None])
    def test_same_samples(self, random_state):
        model = briefly_fitted(random_state=random_state)
        held_out = model.held_out_
        assert len(held_out) == 10
        model.set_params(warm_start=True, random_state=None).fit(X, Y)
        assert model.held_out_.tolist() == held_out.tolist()

    def test_in_another_order_and_with_others(self):
        model = briefly_fitted()
        held_out = {X[k] for k in model.held_out_}
        more = [x + "ab" for x in X]
        samples = [*more, *X[::-1]]
        model.set_params(warm_start=True).fit(samples, [{x} for x in samples])
        assert {samples[k] for k in model.held_out_} == held_out

    def test_of_repeated_inputs(self):
        model = briefly_fitted(X=X * 2, Y=Y * 2)
        held_out = model.held_out_
        model.set_params(warm_start=True).fit(X * 2, Y * 2)
        assert model.held_out_.tolist() == held_out.tolist()

    def test_numbers(self):
        numbers = np.random.RandomState(0).randn(50, 3)
        sets = [{"ab"} if row[0] > 0 else {"b"} for row in numbers]
        model = briefly_fitted(X=numbers, Y=sets)
        held_out = numbers[model.held_out_]
        model.set_params(warm_start=True).fit(numbers[::-1].copy(), sets[::-1])
        assert sorted(numbers[::-1][model.held_out_].tolist()) == sorted(held_out.tolist())

    def test_after_it_was_saved(self, tmp_path):
        model = briefly_fitted()
        setlearn.save(model, tmp_path / "model")
        loaded = setlearn.load(tmp_path / "model").set_params(warm_start=True).fit(X, Y)
        assert loaded.held_out_.tolist() == model.held_out_.tolist()

    def test_only_they_are_left(self):
        model = briefly_fitted().set_params(warm_start=True)
        samples = [X[k] for k in model.held_out_]
        with pytest.raises(DataError, match="all 10 samples of X were held out"):
            model.fit(samples, [{x} for x in samples])


class TestErrors:
    def test_new_tokens(self):
        model = briefly_fitted().set_params(warm_start=True)
        with pytest.raises(DataError, match="sample 1 of X holds the token 'z'"):
            model.fit(["ab", "az"], [{"ab"}, {"a"}])
        with pytest.raises(DataError, match="'az', which has a token never seen"):
            model.fit(["ab", "ac"], [{"ab"}, {"az"}])
        assert model.predict(["ab"])  # as before

    def test_another_network(self):
        model = briefly_fitted().set_params(warm_start=True, network=Transformer(32, 2, 1))
        with pytest.raises(ParameterError, match="which was trained, but network is now"):
            model.fit(X, Y)

    def test_no_network(self):
        model = SequenceSetGenerator("analogy", warm_start=True).fit(X, Y)
        with pytest.raises(ParameterError, match="a scorer without one"):
            model.fit(X, Y)


class KilledError(Exception):
    pass


class TestInterruptedRun:
    """A run that has a checkpoint may be given another length when it is resumed."""

    def interrupted(self, folder, monkeypatch, **training):
        class Stops(training_loop.Trainer):
            def _step(self, rows):
                if self._step_count == 20:
                    raise KilledError
                return super()._step(rows)

        monkeypatch.setattr(training_loop, "SAVE_EVERY", 5)
        with monkeypatch.context() as patched:
            patched.setattr("setlearn.estimators.sequence_training.Trainer", Stops)
            with pytest.raises(KilledError):
                fitted(checkpoint=folder, **training)

    def test_with_more_steps(self, tmp_path, monkeypatch):
        self.interrupted(tmp_path, monkeypatch)
        model = fitted(checkpoint=tmp_path, max_steps=45)
        assert model.history_[-1]["step"] == 45
        steps = [epoch["step"] for epoch in model.history_]
        assert steps == sorted(set(steps))

    def test_finishes_as_if_not_interrupted(self, tmp_path, monkeypatch):
        self.interrupted(tmp_path, monkeypatch)
        model = fitted(checkpoint=tmp_path)
        assert np.array_equal(weights_of(model), weights_of(fitted()))

    def test_with_fewer_steps_than_it_has(self, tmp_path, monkeypatch):
        self.interrupted(tmp_path, monkeypatch)
        with pytest.raises(ParameterError, match="has 20 steps already, but max_steps is 10"):
            fitted(checkpoint=tmp_path, max_steps=10)


def test_samples_are_held_out_even_if_none_were_before():
    model = briefly_fitted(X=X[:9], Y=Y[:9])
    assert len(model.held_out_) == 0
    model.set_params(warm_start=True).fit(X[:9] * 9, Y[:9] * 9)
    assert len(model.held_out_) == 0  # only nine different inputs
    letters = [a + b for a in "abcdefg" for b in "ab"]
    model = briefly_fitted(X=letters, Y=[{x, x[::-1]} for x in letters])
    assert len(model.held_out_) == 0
    model.set_params(warm_start=True).fit(X, Y)
    assert len(model.held_out_) == 10


def test_a_dropped_network_is_trained_anew():
    """One step makes no network worth keeping beside one that knows all the answers."""
    forms = [{x, x + "s"} for x in X]
    training = Training(max_steps=1, validation=0.3)
    model = SequenceSetGenerator(
        ["analogy", Transformer(16, 2, 1)], training=training, random_state=0
    ).fit(X, forms)
    held_out = model.held_out_
    assert not any("network" in part for part in model.facts()["mixture"])
    with pytest.warns(SetlearnWarning, match=r"only AnalogyScorer\(\), so training starts anew"):
        model.set_params(warm_start=True, training__max_steps=40).fit(X, forms)
    assert model.history_[-1]["step"] == 40
    np.testing.assert_array_equal(model.held_out_, held_out)
