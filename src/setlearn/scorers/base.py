"""What a scorer is: a model of P(next choice | x, prefix), in batches."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from setlearn.nodes import IntArray, Step

__all__ = ["Scorer"]


@runtime_checkable
class Scorer(Protocol):
    """Scores choice points in batches: the roots first, then what lies below kept choices.

    Any object with these two methods can be passed to `SequenceSetGenerator` as ``network``,
    trained or not. Choices are numbered: 0 is the end symbol, and token k of the vocabulary has
    the number k + 1. These further members are used where they exist:

    ``vocabulary``
        A `setlearn.vocabulary.Vocabulary`, or an object with the same methods, that turns
        sequences into numbers and back. By default it is learned from the training sets.
    ``fit(X, trie)``
        Trains the scorer on inputs and the prefix trees of their sets (`setlearn.trie.Trie`). It
        is called on a copy unless the scorer is fitted already, which is decided as scikit-learn
        does: by ``__sklearn_is_fitted__`` or attributes that end with an underscore.
    ``gives_marginals``
        True if the membership of a finished sequence is its own probability to be in the set.
        False, the default, if the choices of a prefix share a probability of 1.

    Examples
    --------
    A scorer that knows two tokens, "a" and "b", and likes sequences of two of them:

    >>> import numpy as np
    >>> from setlearn.nodes import Nodes, Step
    >>> class TwoTokens:
    ...     def start(self, X):
    ...         return Step(Nodes.roots(np.tile([0.0, 0.6, 0.4], (len(X), 1))))
    ...     def advance(self, step, parent, token):
    ...         nodes = step.nodes
    ...         depth = nodes.depth[parent] + 1
    ...         row = np.where(depth[:, None] < 2, [0.0, 0.6, 0.4], [1.0, 0.0, 0.0])
    ...         way = nodes.membership[parent, token]
    ...         return Step(Nodes(nodes.sample[parent], depth, row, prefix_probability=way))
    >>> isinstance(TwoTokens(), Scorer)
    True
    """

    def start(self, X: Any) -> Step:
        """Score the root of every sample."""
        ...

    def advance(self, step: Step, parent: IntArray, token: IntArray) -> Step:
        """Score the points below: each takes one choice ``token`` at row ``parent`` of ``step``.

        Parameters
        ----------
        step : Step
            What ``start`` or ``advance`` returned for the level above.
        parent : array of int, shape (m,)
            The row of ``step.nodes`` that each new prefix continues.
        token : array of int, shape (m,)
            The choice that leads there, never the end symbol.

        Returns
        -------
        Step
            One row per new prefix, in the same order.
        """
        ...
