"""Sequence models of every kind that users save: elements, inputs, networks, losses, rules."""

from functools import cache, partial
from itertools import product

import numpy as np

from setlearn import SequenceSetGenerator
from setlearn.networks import LSTM, Training, Transformer
from setlearn.rules import (
    ExpectedF,
    LambdaCNN,
    LambdaRNN,
    LambdaSet,
    Margin,
    RiskControl,
    Threshold,
    TopK,
)
from setlearn.scorers import AlignedTrees, AnalogyScorer, JointNgrams
from tests.persistence.cases import Case

WORDS = ["ab", "bc", "ca", "abc", "b", "cab"] * 4
SETS = [{x, x[::-1]} for x in WORDS]
LITTLE = {
    "training": Training(max_steps=12),
    "random_state": 0,
    "max_nodes": 60,
    "max_size": 8,
}
NETWORKS = {
    "lstm": LSTM(8, 8, 8),
    "transformer": Transformer(width=16, heads=2, encoder_layers=1),
}
OTHER_LOSS = {
    "lstm": LSTM(8, 8, 8, loss="node"),
    "transformer": Transformer(width=16, heads=2, encoder_layers=1, loss="sequence"),
}


def case(network="lstm", rule=None, *, X=WORDS, Y=SETS, known=None, **parameters):
    known = Y[:5] if known is None else known
    parameters = {**LITTLE, **parameters}
    recipe = NETWORKS[network] if isinstance(network, str) else network
    return Case(lambda: SequenceSetGenerator(recipe, rule, **parameters).fit(X, Y), X[:5], known)


def elements():
    by_token = {
        "char": SETS,
        "tuple": [{(1, "a", None)[: len(x)], ((2, x), 1.5)} for x in WORDS],
        "frozenset": [{frozenset(x), frozenset({1, x})} for x in WORDS],
    }
    for (name, sets), network in product(by_token.items(), NETWORKS):
        yield f"elements {name} {network}", case(network, Y=sets)
    spaced = [" ".join(x) for x in WORDS]
    for network in NETWORKS:
        yield (
            f"elements word {network}",
            case(network, X=spaced, Y=[{x, f"{x} z"} for x in spaced], tokens="word"),
        )
        yield f"elements both {network}", case(network, X=spaced, tokens=("word", "char"))
    yield "no elements", case(Y=[set() for _ in WORDS])


def inputs():
    numbers = np.random.default_rng(0).random((len(WORDS), 3))
    steps = np.random.default_rng(0).random((len(WORDS), 2, 3))
    lists = [[1, (2, letter), letter] for word in WORDS for letter in word[:1]]
    for (name, X), network in product(
        {"vectors": numbers, "steps": steps, "lists": lists}.items(), NETWORKS
    ):
        yield f"inputs {name} {network}", case(network, X=X)


def rules():
    small = {"training": Training(max_steps=12), "random_state": 0}
    choices = [
        *(Margin(), Margin(space="log"), Margin(0.3, min_size=1), Threshold("tuned"), TopK(2)),
        *(ExpectedF(), RiskControl(0.5), RiskControl(precision=0.05)),
        *(LambdaCNN(**small), LambdaRNN(**small), LambdaSet(**small)),
    ]
    yield "lstm node", case(OTHER_LOSS["lstm"])
    yield "transformer sequence", case(OTHER_LOSS["transformer"])
    for network, loss in (("lstm", "sequence"), ("transformer", "node")):
        base = case(network)
        fit = cache(base.fit)  # once for all rules
        yield f"{network} {loss}", Case(fit, base.X, base.known)
        for rule in choices:
            if isinstance(rule, ExpectedF) and loss == "sequence":
                continue  # it needs probabilities of another kind
            again = partial(with_rule, fit, rule)
            yield f"{network} {loss} {rule}", Case(again, base.X, base.known)
    yield (
        "validation",
        case("transformer", Margin(), training=Training(max_steps=12, validation=0.4, clip=0.5)),
    )
    yield "RandomState", case("lstm", random_state=np.random.RandomState(3))


def scorers():
    yield "aligned trees", case(AlignedTrees(n_trees=3))
    yield "joint n-grams", case(JointNgrams())
    yield "analogy", case(AnalogyScorer())
    words = [" ".join(x) for x in WORDS]
    sets = [{("c", x[0])} if x[0] == "a" else set() for x in words]
    yield "analogy of words", case(AnalogyScorer(), ExpectedF(), X=words, Y=sets, tokens="word")


def with_rule(fit, rule):
    return fit().with_rule(rule, WORDS, SETS)


def sequence_cases():
    """All of them, by name."""
    return dict([*elements(), *inputs(), *rules(), *scorers()])
