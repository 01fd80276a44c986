"""Evidence from the roles of tokens: which tokens are alike, and what follows for inputs."""

import random

import numpy as np
import pytest
from scipy import sparse

from setlearn import SequenceSetGenerator
from setlearn.metrics import mean_f1
from setlearn.rules import ExpectedF
from setlearn.scorers import AnalogyScorer
from setlearn.scorers.token_roles import TokenRoles

COW, HORSE, SHARK, EATS, HAS = range(1, 6)
GRASS, FISH, HOOF = (6,), (7,), (8,)
ANSWERS = [GRASS, FISH, HOOF]


def roles(X, Y):
    labels = sparse.csr_array([[float(answer in y) for answer in ANSWERS] for y in Y])
    return TokenRoles.fit(X, labels, ANSWERS, np.random.RandomState(0))


def shares(fitted, x):
    log_odds = fitted.score([x], np.zeros((1, 3)))[0][0]
    return 1 / (1 + np.exp(-log_odds))


def test_tokens_with_the_same_answers_are_alike():
    X = [(COW, EATS), (SHARK, EATS), (HORSE, EATS), (HORSE, HAS)]
    fitted = roles(X, [[GRASS], [FISH], [GRASS], [HOOF]])
    cow = dict(zip(fitted.token.tolist(), fitted.similarity[0, :-1].tolist(), strict=True))
    assert cow[COW] == 1
    assert cow[HORSE] > cow[SHARK] + 0.1
    assert shares(fitted, (COW, HAS)).argmax() == 2


def test_an_unknown_token_says_nothing():
    fitted = roles([(COW, EATS), (HORSE, EATS), (COW, HAS)], [[GRASS], [FISH], [HOOF]])
    grass, fish, hoof = shares(fitted, (99, EATS))
    assert grass == pytest.approx(fish)
    assert hoof < 0.1


def test_a_token_that_was_in_answers_only_is_known():
    X = [(COW, HAS), (SHARK, HAS), (COW, EATS), (6, EATS), (8, EATS)]
    fitted = roles(X, [[GRASS, FISH], [HOOF], [HOOF], [GRASS], [FISH]])
    alike = dict(zip(fitted.token.tolist(), fitted.similarity.T[:-1], strict=True))
    row = fitted.token.tolist().index(FISH[0])
    assert FISH[0] not in {token for x in X for token in x}
    assert alike[GRASS[0]][row] > alike[HOOF[0]][row] + 0.1
    assert shares(fitted, (*FISH, EATS)).argmax() == 0


def test_inputs_of_different_lengths():
    fitted = roles([(COW,), (COW, EATS), (HORSE, EATS)], [[HOOF], [GRASS], [GRASS]])
    assert shares(fitted, (COW,)).argmax() == 2
    assert shares(fitted, (HORSE, EATS)).argmax() == 0
    assert shares(fitted, (HORSE, EATS, HAS)).argmax() == 0


@pytest.mark.parametrize(
    ("x", "answers", "applies"),
    [
        ((1, 2), [(3,)], True),
        ((1, 2), [()], False),
        ((1,), [(3,)], False),
        (range(9), [(3,)], False),
    ],
)
def test_it_applies_to_short_inputs_with_listed_answers(x, answers, applies):
    labels = sparse.csr_array([[1.0]])
    assert TokenRoles.apply_to([tuple(x)], labels, answers) is applies


def fitted_generator(facts, train):
    X, Y = [list(x) for x in train], [facts[x] for x in train]
    return SequenceSetGenerator(AnalogyScorer(), ExpectedF(min_size=1)).fit(X, Y)


def test_heads_that_were_answers_only():
    """Those of class b are answers together; what they eat follows for one that is no head."""
    likes = {(f"a{i}", "likes"): {(f"b{j}",) for j in range(7) if i != j} for i in range(7)}
    likes |= {(f"c{i}", "likes"): {(f"a{j}",) for j in range(7) if i != j} for i in range(7)}
    eats = {(f"a{i}", "eats"): {("fish",), ("worms",)} for i in range(7)}
    eats |= {(f"b{i}", "eats"): {("grass",)} for i in range(7)}
    facts = likes | eats
    never_heads = [f"b{i}" for i in range(3, 7)]
    model = fitted_generator(facts, [x for x in facts if x[0] not in never_heads])
    assert model.predict([[head, "eats"] for head in never_heads]) == [{("grass",)}] * 4


def preferences(seed):
    """What a person buys in a shop and a month depends on hidden classes of all three."""
    rng = random.Random(seed)
    people, shops, months = (
        {f"{kind}{i}": rng.randrange(k) for i in range(n)}
        for kind, n, k in (("person", 20, 4), ("shop", 10, 3), ("month", 6, 2))
    )
    goods: dict = {}
    facts = {}
    for x in ((p, s, m) for p in people for s in shops for m in months):
        classes = people[x[0]], shops[x[1]], months[x[2]]
        some = goods.setdefault(classes, rng.sample(range(40), rng.randint(1, 6)))
        facts[x] = {("good", f"number{n}") for n in some}
    return facts


def test_three_tokens_with_hidden_classes():
    """Most test inputs differ from all samples in two tokens."""
    facts = preferences(0)
    order = random.Random(1).sample(sorted(facts), 400)
    train, test = order[:250], order[250:]
    model = fitted_generator(facts, train)
    assert mean_f1([facts[x] for x in test], model.predict([list(x) for x in test])) > 0.95
