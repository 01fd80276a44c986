"""A scorer that predicts by analogy: what similar training inputs did, applied to a new one."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit

from setlearn.errors import ParameterError
from setlearn.nodes import ExampleSets, FloatArray, IntArray
from setlearn.ordering import canonical_rank
from setlearn.parameter_checks import check_count
from setlearn.savable import savable
from setlearn.scorers.analogy_evidence import Evidence, Samples
from setlearn.scorers.applied_operations import Applied, Made
from setlearn.scorers.candidates import Candidate, Listing
from setlearn.scorers.edit_operations import Add, EditedInput, Edits, Layout, Numbers, Operation
from setlearn.scorers.evidence_weights import learned_weights
from setlearn.scorers.input_keys import InputKeys, describe, drop_key, vowels_of
from setlearn.scorers.listing import ListingScorer
from setlearn.scorers.operation_learning import learn_operations
from setlearn.scorers.substitution import Substitution
from setlearn.scorers.token_roles import TokenRoles
from setlearn.trie import END, Trie

__all__ = ["AnalogyScorer"]

MOST_OPERATIONS = 4096
FEW_OPERATIONS = 512
"""With more operations than this, those seen once are dropped."""

LEAST_CANDIDATES = 40
PER_ELEMENT = 4
"""How many candidates an input has: so many times the size of the largest training set."""

BATCH = 64
SCORES_TOGETHER = 262_144
"""Scores of operations of each kind that are computed together, for `BATCH` inputs at least."""

MOST_HELD_OUT = 1600
"""Samples on which the weights of evidence are learned."""

DECIMALS = 10

LEAST_OF_BEST, MOST_IMPROBABLE = 1e-3, 10
"""Candidates whose probability is a smaller share of the best one's are left out, unless they are
among this number of best candidates."""

LEAST_SAMPLES = 8
"""With fewer samples the weights are not learned."""

MOST_IN_FOLDS = 6000
"""With more samples a part is held out once, instead of all in turn."""


@savable(names=("input_tokens_",), parts={"layout_": (Layout,), "evidence_": (Evidence,)})
class AnalogyScorer(ListingScorer):
    """Predict the elements of a set from what similar training inputs did.

    Each training element is explained by operations: a constant, or an edit of the input such as
    "copy all but the last token, add i, n, g". For a new input, the operations of the training
    data are applied to it. How probable each result is depends on what the inputs with the same
    last tokens, first tokens, context and sounds did, on what the samples did all of whose
    operations apply, and on a ridge regression. For short inputs it also depends on what the
    samples did that differ in a single token, or whose tokens play similar roles. A logistic
    regression on out-of-fold evidence turns all this into a calibrated probability.

    It needs few samples and little time, and is at its best on inflection and on closed
    catalogues of answers. Where outputs are neither edits of the input nor answers seen before,
    it says that nothing is probable.

    Parameters
    ----------
    max_candidates : int, optional
        How many candidates an input may have. By default four times the size of the largest
        training set, and 40 at least.
    smoothing : float, default=1.0
        How many samples with the same ending a share among samples with shorter endings counts
        for.
    penalty : float, default=0.1
        The penalty of the ridge regression.
    random_state : int or RandomState, default=0
        Draws the folds.

    Attributes
    ----------
    operations_ : list of operations
        What the training data show that can be done, the most frequent first.
    layout_ : Layout
        Which part of the inputs is edited, and which part is context.
    weights_ : array
        The weight of each kind of evidence, the last one of the constant 1.

    Examples
    --------
    >>> from setlearn import SequenceSetGenerator
    >>> from setlearn.scorers import AnalogyScorer
    >>> verbs = ["walk", "bake", "talk", "make", "cook", "like", "bark", "rake", "look", "wake"]
    >>> forms = [{v, v.removesuffix("e") + "ing"} for v in verbs]
    >>> model = SequenceSetGenerator(AnalogyScorer()).fit(verbs, forms)
    >>> sorted(model.predict(["lake"])[0])
    ['lake', 'laking']
    """

    short_name: ClassVar[str] = "analogy"

    def __init__(
        self,
        *,
        max_candidates: int | None = None,
        smoothing: float = 1.0,
        penalty: float = 0.1,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.max_candidates = max_candidates
        self.smoothing = smoothing
        self.penalty = penalty
        self.random_state = random_state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "evidence_")

    def _learn(self, X: list[Sequence[Any]], trie: Trie, rng: np.random.RandomState) -> None:
        """Learn operations, and the evidence for them."""
        vocabulary = self.vocabulary_
        seen = {token for tokens in X for token in tokens}
        if vocabulary.inputs is not None:  # also held-out inputs: they have no stand-ins
            seen.update(vocabulary.inputs.seen)
        self.input_tokens_ = tuple(sorted(seen - {*vocabulary.tokens}, key=canonical_rank))
        inputs = self._numbered(X)
        sets = trie.as_sets()
        self.layout_, explained = learn_operations(inputs, sets, self._separators())
        labels = self._choose_operations(explained)
        some = inputs[:: -(-len(inputs) // MOST_HELD_OUT)]
        stems = [x[slice(*self.layout_.stem(x))] for x in some]
        self.vowels_ = vowels_of(stems)
        self.largest_ = max(map(len, sets), default=0)
        samples = self._samples(inputs, labels)
        self.weights_ = self._learned_weights(samples, sets, rng)
        self.evidence_ = Evidence.fit(samples, self.smoothing, self.penalty, rng)

    def candidates(self, X: Any) -> list[list[Candidate]]:
        """List the results of operations on each input."""
        return self.listing(X).candidates

    def example_sets(self, X: Any) -> list[ExampleSets]:
        """List whole sets that each input may have, by what similar training samples have.

        A training sample is an example if all of its operations can be applied to the input. The
        weight of a set is the share of such samples among those with the same last tokens.

        Parameters
        ----------
        X : list of strings or of token lists

        Returns
        -------
        list of ExampleSets
        """
        return self.listing(X).example_sets(np.arange(len(X)))

    def listing(self, X: Any) -> Listing:
        """Apply operations to inputs, for candidates and for whole sets.

        Parameters
        ----------
        X : list of strings or of token lists

        Returns
        -------
        Listing
        """
        evidence, inputs = self.evidence_, self._numbered(self._token_lists(X))
        found: list[list[Candidate]] = [[] for _ in inputs]
        batches = []
        for first, keys, scores, applied in self._applied(evidence, inputs, self._keys(inputs)):
            batches.append((first, keys, applied))
            features = evidence.features(keys, scores, applied)
            logit = (features * self.weights_[:-1]).sum(axis=1) + self.weights_[-1]
            probability = expit(logit).round(DECIMALS)
            samples = first + applied.row[applied.first]
            kept = _probable(samples, probability)
            columns = (kept.tolist(), samples[kept].tolist(), probability[kept].tolist())
            for k, sample, p in zip(*columns, strict=True):
                found[sample].append((applied.candidates[k], p))

        def example_sets(places: IntArray) -> list[ExampleSets]:
            sets: list[dict[frozenset[Numbers], float]] = [{} for _ in inputs]
            for first, keys, applied in batches:
                rows = np.unique(places[(places >= first) & (places < first + len(keys))]) - first
                own = applied.of_rows(rows)
                for k, candidates, share in evidence.whole_sets([keys[r] for r in rows], own):
                    # The empty sequence stands for the empty set.
                    elements = frozenset(sequence for sequence in candidates if sequence)
                    of_input = sets[first + rows[k]]
                    of_input[elements] = of_input.get(elements, 0.0) + share
            return [sets[place] for place in places]

        return Listing(found, example_sets)

    def _check_parameters(self) -> None:
        if self.max_candidates is not None:
            check_count("max_candidates", self.max_candidates)
        for name in ("smoothing", "penalty"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
                raise ParameterError(f"{name} must be a positive number, got {value!r}")

    def _numbered(self, lists: list[Sequence[Any]]) -> list[Numbers]:
        """Tokens as numbers: their choice, that of a stand-in, or a number above all choices."""
        vocabulary, number = self.vocabulary_, self._numbers()
        first_stand_in = vocabulary.n_choices - vocabulary.n_stand_ins
        first_other = vocabulary.n_choices + len(self.input_tokens_)
        numbered = []
        for tokens, stand_ins in zip(lists, vocabulary.stand_ins(lists), strict=True):
            unseen = dict.fromkeys(token for token in tokens if token not in number)
            own = {token: k for k, token in enumerate(unseen, first_other)}
            own |= {token: k for k, token in enumerate(stand_ins, first_stand_in)}
            numbered.append(tuple(own.get(token) or number[token] for token in tokens))
        return numbered

    def _numbers(self) -> dict[Any, int]:
        """The numbers of tokens seen in training: of elements first, then of inputs only."""
        vocabulary = self.vocabulary_
        of_elements = {token: k for k, token in enumerate(vocabulary.tokens, END + 1)}
        of_inputs = {token: k for k, token in enumerate(self.input_tokens_, vocabulary.n_choices)}
        return of_elements | of_inputs

    def _separators(self) -> frozenset[int]:
        """Tokens that may separate the parts of an input: not single letters and digits."""
        return frozenset(
            number
            for token, number in self._numbers().items()
            if not (isinstance(token, str) and len(token) == 1 and token.isalnum())
        )

    def _choose_operations(self, explained: list[list[Operation]]) -> sparse.csr_array:
        """Set ``operations_``, and return which of them each sample uses, (n, n_operations)."""
        support = Counter(operation for operations in explained for operation in operations)
        frequent = support.most_common(MOST_OPERATIONS)
        if len(support) > FEW_OPERATIONS:
            frequent = [pair for pair in frequent if pair[1] > 1] or frequent[:FEW_OPERATIONS]
        self.operations_ = [operation for operation, _ in frequent]
        column = {operation: index for index, operation in enumerate(self.operations_)}
        pairs = [
            (row, column[operation])
            for row, operations in enumerate(explained)
            for operation in operations
            if operation in column
        ]
        row, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        shape = (len(explained), len(self.operations_))
        return sparse.csr_array((np.ones(len(row)), (row, columns)), shape=shape)

    def _keys(self, inputs: Sequence[Numbers]) -> list[InputKeys]:
        return [describe(x, self.layout_, self.vowels_) for x in inputs]

    def _samples(self, inputs: list[Numbers], labels: sparse.csr_array) -> Samples:
        """Training samples with all that evidence is computed from."""
        drops, paradigms = [], []
        edits = Edits(self.operations_, self.layout_)
        for row, x in enumerate(inputs):
            used = sorted(labels.indices[labels.indptr[row] : labels.indptr[row + 1]].tolist())
            edited = edits.on(x)
            made = [(k, edited.apply(k)) for k in used]
            keys = [(r[0], drop_key(k, r[1])) for k, r in made if r is not None]
            drops.append(array("Q", (key for _, key in keys)))
            # Of several operations that explain an element, the most frequent one comes first.
            paradigms.append(array("Q", dict(reversed(keys)).values()))
        answers = [
            tuple(token for part in operation if isinstance(part, Add) for token in part.tokens)
            if all(isinstance(part, Add) for part in operation)
            else ()
            for operation in self.operations_
        ]
        places = Substitution.places(inputs)
        has_roles = TokenRoles.apply_to(inputs, labels, answers)
        return Samples(
            inputs, self._keys(inputs), labels, drops, paradigms, answers, places, has_roles
        )

    def _learned_weights(
        self, samples: Samples, sets: list[frozenset[Numbers]], rng: np.random.RandomState
    ) -> FloatArray:
        """The weight of each kind of evidence, learned from samples that it is not taken from."""
        usual = samples.default_weights()
        features: list[FloatArray] = [np.empty((0, len(usual) - 1))]
        owner: list[IntArray] = [np.empty(0, dtype=np.intp)]
        right: list[bool] = []
        for train, test in _folds(samples.inputs, rng):
            evidence = Evidence.fit(samples.take(train), self.smoothing, self.penalty, rng)
            inputs, keys = [samples.inputs[i] for i in test], [samples.keys[i] for i in test]
            for first, of_batch, scores, applied in self._applied(evidence, inputs, keys):
                features.append(evidence.features(of_batch, scores, applied))
                owner.append(test[first + applied.row[applied.first]])
                for sample, y in zip(owner[-1].tolist(), applied.candidates, strict=True):
                    right.append(y in sets[sample] if y else not sets[sample])
        is_right = np.array(right, dtype=bool)
        return learned_weights(np.concatenate(features), is_right, np.concatenate(owner), usual)

    def _applied(
        self, evidence: Evidence, inputs: Sequence[Numbers], keys: Sequence[InputKeys]
    ) -> Iterator[tuple[int, Sequence[InputKeys], list[FloatArray], Applied]]:
        """Apply the most promising operations to inputs, batch by batch.

        Yields the number of the first input, the keys of the inputs, the scores of all operations,
        and what was applied.
        """
        most = self.max_candidates or max(PER_ELEMENT * self.largest_, LEAST_CANDIDATES)
        size = max(SCORES_TOGETHER // max(len(self.operations_), 1), BATCH)
        edits = Edits(self.operations_, self.layout_)
        for first in range(0, len(inputs), size):
            batch, of_batch = inputs[first : first + size], keys[first : first + size]
            scores = evidence.score(batch, of_batch)
            best = np.argsort(-evidence.rough(scores), axis=1, kind="stable")[:, : 2 * most]
            made = [self._made(row, edits.on(x), most) for row, x in zip(best, batch, strict=True)]
            if any(made):
                yield first, of_batch, scores, Applied.of(made)

    def _made(self, operations: IntArray, edited: EditedInput, most: int) -> Made:
        """The results of operations, each with the operations that lead to it, the best first."""
        made: Made = {}
        for index in operations.tolist():
            result = edited.apply(index)
            if result is None:
                continue
            sequence, dropped = result
            if self.vocabulary_.kind is frozenset:
                sequence = tuple(sorted(set(sequence)))
            made.setdefault(sequence, []).append((index, dropped))
            if len(made) == most:
                break
        return made


def _probable(sample: IntArray, probability: FloatArray) -> IntArray:
    """The candidates without most of the improbable ones, by sample and best first.

    Parameters
    ----------
    sample : array of int, shape (n_candidates,)
        Ascending.
    probability : array of shape (n_candidates,)

    Returns
    -------
    array of int
    """
    order = np.lexsort((-probability, sample))
    owner, sorted_p = sample[order], probability[order]
    first = np.searchsorted(owner, owner)  # where the candidates of each one's sample begin
    kept = (np.arange(len(order)) - first < MOST_IMPROBABLE) | (
        sorted_p >= LEAST_OF_BEST * sorted_p[first]
    )
    return order[kept]


def _folds(
    inputs: Sequence[Numbers], rng: np.random.RandomState
) -> Iterator[tuple[IntArray, IntArray]]:
    """Parts to take evidence from, and parts to learn its weights on: more where data are few.

    Samples with the same input are always in the same part.
    """
    first: dict[Numbers, int] = {}
    group = np.array([first.setdefault(x, k) for k, x in enumerate(inputs)], dtype=np.intp)
    order = rng.permutation(np.unique(group))
    if len(order) < LEAST_SAMPLES:
        return
    if len(order) > MOST_IN_FOLDS:
        asked = np.isin(group, order[:MOST_HELD_OUT])
        yield np.flatnonzero(~asked), np.flatnonzero(asked)
        return
    n_folds = 20 if len(order) < 200 else 8 if len(order) < 1000 else 4
    for fold in range(min(n_folds, len(order))):
        held_out = order[fold::n_folds]
        asked = np.isin(group, held_out[: MOST_HELD_OUT // n_folds])
        yield np.flatnonzero(~np.isin(group, held_out)), np.flatnonzero(asked)
