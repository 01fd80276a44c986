"""Algorithms 3 and 4 of the paper, written to be compared with the page, not to be fast.

Readings (docs/paper.md): A starts with the empty prefix; per prefix, tokens are picked until a
repeat; the end symbol closes a sequence; the closed sequences are returned.
"""

import math

from tests.reference.labels import algorithm_1, algorithm_1_robust

END = 0


def algorithm_4(P, lam, max_length, known=(), rho=0.0):
    """Algorithm 4, one sample. ``P(prefix)`` gives the probabilities of all choices.

    ``lam[j]`` is the penalty at position j, the last one also beyond. ``known`` sequences are in
    the memory of every node that they pass, and are not returned.
    """

    def pick(P, penalty, Z):
        return algorithm_1_robust(P, penalty, rho, Z) if rho else algorithm_1(P, penalty, Z)

    A = {()}
    closed = set()
    for j in range(max_length + 1):
        grown = set()
        for prefix in A:
            given = {
                (sequence[j] if len(sequence) > j else END)
                for sequence in known
                if sequence[:j] == prefix
            }
            scores = P(prefix).copy()
            if given and not prefix:
                scores[END] = 0  # whoever knows an element knows that the set is not empty
            penalty = lam[min(j, len(lam) - 1)]
            Z = pick(scores, penalty, given)
            # Known choices are followed only where they would be picked without being known.
            Z -= given - pick(scores, penalty, set())
            for token in Z:
                if token != END:
                    grown.add((*prefix, token))
                elif prefix and prefix not in known:
                    closed.add(prefix)
        A = grown if j < max_length else set()
    return closed


def path_probability(P, sequence):
    """The product of all choices on the way, the end included."""
    steps = [P(sequence[:j])[token] for j, token in enumerate((*sequence, END))]
    return math.prod(steps)


def trie_nodes(sets):
    """Every choice point of the true sets and its right choices with their counts, by hand.

    Maps (sample, prefix) to {choice: number of sequences that take it}.
    """
    nodes = {}
    for sample, sequences in enumerate(sets):
        nodes[sample, ()] = {} if sequences else {END: 1}
        for sequence in sequences:
            for j in range(len(sequence) + 1):
                choice = sequence[j] if j < len(sequence) else END
                counts = nodes.setdefault((sample, tuple(sequence[:j])), {})
                counts[choice] = counts.get(choice, 0) + 1
    return nodes


def algorithm_3_terms(P, sets):
    """For each position j the scores and right choices of all nodes there, as rows."""
    rows = {}
    for (sample, prefix), choices in trie_nodes(sets).items():
        rows.setdefault(len(prefix), []).append((P(sample, prefix), set(choices)))
    return rows
