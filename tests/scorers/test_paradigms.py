"""Evidence from paradigms: what a sample does counts where all of it applies."""

from array import array

import numpy as np
import pytest

from setlearn import SequenceSetGenerator
from setlearn.rules import ExpectedF
from setlearn.scorers import AnalogyScorer
from setlearn.scorers.paradigms import Paradigms

ADD_D, ADD_ED, ADD_ING, DROP_E_ADD_ING = range(10, 14)
ALL, ENDING = 0, 1


def keys(*values):
    return array("Q", values)


def shares(fitted, chain, steps):
    """Of the steps that are possible with one input."""
    steps = np.array(steps, dtype=np.uint64)
    return fitted.shares([chain], np.zeros(len(steps), np.intp), steps)


BAKE, TALK = keys(ADD_D, DROP_E_ADD_ING), keys(ADD_ED, ADD_ING)


def test_only_paradigms_that_apply_have_a_share():
    fitted = Paradigms.fit([BAKE, BAKE, BAKE, TALK], [keys(ALL)] * 4, 1.0)
    assert shares(fitted, keys(ALL), [ADD_D, ADD_ED, ADD_ING]).tolist() == [0, 1, 1]
    share = shares(fitted, keys(ALL), [ADD_D, ADD_ED, ADD_ING, DROP_E_ADD_ING])
    # One sample counts for what is assumed before: both paradigms alike.
    assert share == pytest.approx([0.7, 0.3, 0.3, 0.7])


def test_samples_with_the_same_ending_count_more():
    chains = [keys(ALL), keys(ALL), keys(ALL), keys(ALL, ENDING)]
    fitted = Paradigms.fit([BAKE, BAKE, BAKE, TALK], chains, 1.0)
    assert shares(fitted, keys(ALL, ENDING), [*BAKE, *TALK])[2] == pytest.approx((1 + 0.3) / 2)


def test_where_no_paradigm_applies_nothing_is_said():
    fitted = Paradigms.fit([BAKE], [keys(ALL)], 1.0)
    assert np.isnan(shares(fitted, keys(ALL), [ADD_D])).all()
    fitted = Paradigms.fit([keys()], [keys(ALL)], 1.0)
    assert np.isnan(shares(fitted, keys(ALL), [ADD_D])).all()


def test_several_inputs_at_once_are_as_each_alone():
    chains = [keys(ALL), keys(ALL), keys(ALL), keys(ALL, ENDING)]
    fitted = Paradigms.fit([BAKE, BAKE, BAKE, TALK], chains, 1.0)
    asked = [(keys(ALL), [*BAKE]), (keys(ALL, ENDING), [*BAKE, *TALK]), (keys(ALL), [ADD_D])]
    row = np.repeat(np.arange(3), [len(steps) for _, steps in asked])
    steps = np.array([step for _, steps in asked for step in steps], dtype=np.uint64)
    together = fitted.shares([chain for chain, _ in asked], row, steps)
    alone = np.concatenate([shares(fitted, *pair) for pair in asked])
    np.testing.assert_array_equal(together, alone)


def test_verbs_without_e_do_not_get_a_d():
    """No verb that ends in r is known."""
    in_e = ["bake", "dine", "hope", "like", "move", "pile", "rate", "tune", "vote", "wave"]
    others = ["talk", "find", "help", "jump", "lean", "mash"]
    forms = {v: {v, f"{v}s", f"{v}d", f"{v[:-1]}ing"} for v in in_e}
    forms |= {v: {v, f"{v}s", f"{v}ed", f"{v}ing"} for v in others}
    model = SequenceSetGenerator(AnalogyScorer(), ExpectedF(min_size=1)).fit(
        list(forms), list(forms.values())
    )
    assert model.predict(["stir"]) == [{"stir", "stirs", "stired", "stiring"}]
