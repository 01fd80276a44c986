"""What a fitted generator of sequence sets answers: predict, rank, complete, trace, score."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, ClassVar

from setlearn.copied_tokens import stand_ins_of, unseen_tokens
from setlearn.errors import (
    DataError,
    KindError,
    ParameterError,
    TruncationWarning,
    UnknownLabelWarning,
    UnseenTokenWarning,
    warn_user,
)
from setlearn.estimators.argument_checks import (
    check_both,
    check_not_empty,
    check_same_length,
    check_top,
    check_unknown,
)
from setlearn.estimators.base import InputLayout, Ranking, Task, Unknown
from setlearn.estimators.candidate_lists import rule_data, scored_trees
from setlearn.estimators.rule_holder import RuleHolder
from setlearn.estimators.sequence_parameters import (
    FEW,
    as_list,
    check_bounds,
    check_rule,
)
from setlearn.estimators.sequence_trace import Growth, SequenceTrace
from setlearn.generate import Bounds, Generated, Watch, generate
from setlearn.nodes import Mask, Nodes
from setlearn.rules import Rule, TopK
from setlearn.scorers.base import TokenScorer
from setlearn.sequence_inputs import token_lists
from setlearn.set_reading import LabelSets, check_one_kind
from setlearn.token_guesses import split_phrase
from setlearn.trie import END, Trie
from setlearn.vocabulary import Split, StandIns, Vocabulary, read_elements

__all__ = ["SequencePredictor", "check_targets"]


class SequencePredictor(RuleHolder):
    """The verbs of `SequenceSetGenerator` once it is fitted: a scorer, a rule, and bounds."""

    scorer_: TokenScorer
    learned_bounds_: Bounds
    max_length: int | None
    max_size: int | None
    max_nodes: int | None

    elements_recur: ClassVar[bool] = False

    @property
    def task(self) -> Task:
        return "sequences"

    @property
    def elements_(self) -> None:
        """None: the sequences that a set may hold cannot be listed."""
        return

    @property
    def element_split(self) -> Split | None:
        """How elements that are texts are split into tokens; None if they are none."""
        vocabulary = self.vocabulary_
        return vocabulary.tokeniser.split if vocabulary.kind is str else None

    @property
    def vocabulary_(self) -> Vocabulary:
        """The tokens of the sequences."""
        return self.scorer_.vocabulary

    @property
    def network_(self) -> Any:
        """The trained network."""
        if not hasattr(self.scorer_, "network"):
            raise AttributeError(
                "network_ is for models with a single network; facts() says what this one has, "
                "and scorer_ is all of it"
            )
        return self.scorer_.network

    def predict(self, X: Any) -> list[frozenset[Any]]:
        """The set of each input."""
        return self.predict_sets(X)

    def predict_sets(self, X: Any) -> list[frozenset[Any]]:
        return [_as_set(ranking) for ranking in self._rankings(X)]

    def predict_ranked(self, X: Any, *, top: int | None = None) -> list[Ranking]:
        check_top(top)
        if top is None:
            return list(self._rankings(X))
        self._check_fitted()
        return self._best(top, as_list(X, "X"))

    def complete(self, X: Any, known: Any, *, unknown: Unknown = "error") -> list[frozenset[Any]]:
        return [_as_set(ranking) for ranking in self.complete_ranked(X, known, unknown=unknown)]

    def complete_ranked(
        self, X: Any, known: Any, *, top: int | None = None, unknown: Unknown = "error"
    ) -> list[Ranking]:
        self._check_fitted()
        check_top(top)
        X, sets = as_list(X, "X"), self._read_known(known)
        check_same_length(len(X), len(sets), "known")
        sets = self._without_unseen(sets, stand_ins_of(X, self.vocabulary_), unknown)
        return list(self._rankings(X, sets)) if top is None else self._best(top, X, sets)

    def _best(self, top: int, X: Any, known: LabelSets | None = None) -> list[Ranking]:
        """The best sequences of each input that are not known, whatever the rule keeps."""
        rule = TopK(top)
        bounds = self._bounds(rule, max(map(len, known or ()), default=0), X=X)
        bounds = replace(bounds, max_size=max(bounds.max_size, top))
        return list(self._rankings(X, known, rule=rule, bounds=bounds))

    def trace(self, x: Any, known: Any = (), *, unknown: Unknown = "error") -> SequenceTrace:
        self._check_fitted()
        stand_ins = stand_ins_of([x], self.vocabulary_)
        unseen = unseen_tokens([x], self.vocabulary_)
        if any(unseen):
            warn_user(_unseen_token_warning(unseen, stand_ins))
        [given] = self._without_unseen(self._read_known([known]), stand_ins, unknown)
        watch = Watch()
        bounds = self._bounds(self.rule_, len(given), X=[x])
        grown = generate(
            self._searching(self.rule_, bounds, completes=bool(given)),
            self.rule_,
            self.scorer_.as_batch(x),
            bounds,
            known=self._trie([given], stand_ins) if given else None,
            watch=watch,
        )
        [ranking] = self._decoded(grown, stand_ins)
        result = _as_set(ranking) | given
        growth = Growth(watch, self.rule_, self.vocabulary_, stand_ins[0])
        return growth.trace(result, ranking.truncated)

    def choice_points(self, X: Any = None, y: Any = None) -> tuple[Nodes, Mask]:
        return scored_trees(*self._rule_samples(X, y))

    def _rule_data(self, rule: Rule, X: Any, y: Any) -> tuple[Nodes, Mask]:
        """Lists of sequences for a rule that chooses among them, otherwise the true trees."""
        return rule_data(rule, *self._rule_samples(X, y), self._bounds(rule))

    def _rule_samples(self, X: Any, y: Any) -> tuple[TokenScorer, Any, Trie]:
        """A scorer, and samples to fit a rule on: those given, or those that ``fit`` has kept."""
        self._check_fitted()
        if X is not None or y is not None:
            check_both(X, y)
            return (self.scorer_, *self._labelled(X, y))
        kept: tuple[TokenScorer, Any, Trie] | None = getattr(self, "rule_samples_", None)
        if kept is None:
            raise ParameterError(
                "this generator has kept no held-out samples to fit a rule on (it was loaded, or "
                "the share to hold out came to fewer than 8 samples); pass X and y with samples "
                "that the network has not seen, or fit on more samples or with a larger share, "
                "such as training=Training(validation=0.5)"
            )
        return kept

    def facts(self) -> dict[str, Any]:
        self._check_fitted()
        return {
            "estimator": type(self).__name__,
            "rule": repr(self.rule_),
            "task": "sets of sequences",
            "tokens": len(self.vocabulary_.tokens),
            **self._split_facts(),
            **self.scorer_.facts(),
            **self._rule_facts(),
        }

    def _split_facts(self) -> dict[str, str]:
        """How texts are split; nothing if there are none, or if an older version did not say."""
        phrase = split_phrase(*getattr(self, "tokens_", (None, None)))
        return {"split": phrase} if phrase else {}

    def choice_names(self) -> list[str]:
        self._check_fitted()
        vocabulary = self.vocabulary_
        return [vocabulary.name(choice) for choice in range(vocabulary.n_choices)]

    def as_elements(self, sets: Any) -> list[frozenset[Hashable]]:
        """Sets as people write them, with texts in composed Unicode and single spaces."""
        self._check_fitted()
        return read_elements(as_list(sets, "sets"), self.vocabulary_.tokeniser, "y")

    def input_layout(self) -> InputLayout:
        self._check_fitted()
        return InputLayout(self.scorer_.n_features, self.scorer_.reads_token_lists)

    def _new_rule(self, rule: Any) -> Rule:
        n_positions = self.learned_bounds_.max_length + 1
        return check_rule(
            rule,
            n_positions,
            gives_marginals=self.scorer_.gives_marginals,
            gives_examples=self.scorer_.gives_examples,
            n_samples=FEW,
        )

    def _rankings(
        self,
        X: Any,
        known: LabelSets | None = None,
        *,
        rule: Rule | None = None,
        bounds: Bounds | None = None,
    ) -> Iterator[Ranking]:
        """Generate batch by batch, so that memory does not grow with the number of samples."""
        self._check_fitted()
        X, rule = as_list(X, "X"), self.rule_ if rule is None else rule
        check_not_empty(len(X))
        if bounds is None:
            bounds = self._bounds(rule, max(map(len, known or ()), default=0), X=X)
        scorer = self._searching(rule, bounds, completes=known is not None)
        unseen = unseen_tokens(X, self.vocabulary_)
        stand_ins = stand_ins_of(X, self.vocabulary_)
        truncated: list[int] = []
        waiting: dict[int, Ranking] = {}  # until all samples before them are done
        n_done = 0
        for samples, inputs in scorer.batches(X, bounds.together(self.vocabulary_.n_choices)):
            own = [stand_ins[sample] for sample in samples]
            trie = None
            if known is not None:
                trie = self._trie([known[sample] for sample in samples], own)
            grown = generate(scorer, rule, inputs, bounds, known=trie)
            truncated += samples[grown.truncated[: len(samples)]].tolist()
            waiting.update(zip(samples.tolist(), self._decoded(grown, own), strict=True))
            while n_done in waiting:
                yield waiting.pop(n_done)
                n_done += 1
        if any(unseen):
            warn_user(_unseen_token_warning(unseen, stand_ins))
        if truncated:
            message = (
                f"{len(truncated)} of {len(X)} predicted sets were cut off at a limit "
                f"(max_length={bounds.max_length}, max_size={bounds.max_size}, "
                f"max_nodes={bounds.max_nodes}); predict_ranked says which. Raise "
                "the limit that is too low with set_params(); no new fit is needed"
            )
            warn_user(TruncationWarning(message, sorted(truncated)))

    def _searching(self, rule: Rule, bounds: Bounds, *, completes: bool) -> TokenScorer:
        """The scorer for a rule: `TopK` and ``complete`` may want what is clearly improbable."""
        return self.scorer_.within(bounds, thorough=completes or rule.keeps_improbable)

    def _decoded(self, grown: Generated, stand_ins: Sequence[StandIns]) -> list[Ranking]:
        """One ranking per sample, given the tokens behind its stand-ins."""
        rankings = [Ranking(truncated=bool(flag)) for flag in grown.truncated[: len(stand_ins)]]
        length = (grown.tokens != END).sum(axis=1)
        for sample, ids, n, probability in zip(
            grown.sample, grown.tokens, length, grown.probability, strict=True
        ):
            element = self.vocabulary_.decode(ids[:n].tolist(), stand_ins[sample])
            rankings[sample].append((element, float(probability)))
        return rankings

    def _labelled(self, X: Any, y: Any) -> tuple[Any, Trie]:
        """Inputs and the trees of their sets, all of whose tokens the network knows."""
        X = as_list(X, "X")
        sets = read_elements(as_list(y, "y"), self.vocabulary_.tokeniser, "y")
        check_same_length(len(X), len(sets))
        check_not_empty(len(X))
        stand_ins = stand_ins_of(X, self.vocabulary_)
        check_targets(sets, self.vocabulary_, stand_ins)
        return X, self._trie(sets, stand_ins)

    def _read_known(self, known: Any) -> LabelSets:
        sets = read_elements(as_list(known, "known"), self.vocabulary_.tokeniser, "known")
        _check_kind(sets, self.vocabulary_, "known")
        return sets

    def _longest_of(self, rule: Rule, X: Any, longest_seen: int) -> int:
        """How long the sequences of these inputs can be, as far as training shows it.

        Those of inputs longer than in training are longer in proportion, or copy the inputs.
        """
        # Older versions did not keep these.
        seen: int | None = getattr(self, "longest_input_", None)
        surplus: int | None = getattr(self, "surplus_", None)
        if X is None or not seen or not rule.chooses_sequences:
            return longest_seen
        inputs = self.vocabulary_.inputs
        assert inputs is not None  # else no length is known
        longest = max(map(len, token_lists(X, inputs.tokeniser)), default=0)
        of_copies = longest + surplus if surplus is not None else 0
        return max(longest_seen, -(-longest_seen * longest // seen), of_copies)

    def _without_unseen(
        self, sets: LabelSets, stand_ins: Sequence[StandIns], unknown: Unknown
    ) -> LabelSets:
        """Known sets without sequences that cannot be written, which are an error by default."""
        check_unknown(unknown)
        sets, unseen = self.vocabulary_.split_unseen(sets, stand_ins)
        if unseen:
            problem = (
                f"{len(unseen)} known sequence(s) hold tokens never seen in training, such as "
                f"{unseen[0][1]!r} of sample {unseen[0][0]}"
            )
            if unknown == "error":
                raise DataError(
                    f'{problem}; leave them out, or set unknown="ignore"',
                    advice={"unknown": "ignore"},
                )
            warn_user(UnknownLabelWarning(f"{problem}; they were ignored"))
        return sets

    def _trie(self, sets: LabelSets, stand_ins: Sequence[StandIns] | None = None) -> Trie:
        return Trie.of(self.vocabulary_.encode(sets, stand_ins), len(sets))

    def _bounds(
        self, rule: Rule, n_known: int = 0, *, learned: Bounds | None = None, X: Any = None
    ) -> Bounds:
        """The bounds in force: what is given, and otherwise what was learned.

        ``n_known`` is the largest number of sequences that are known of a sample.
        """
        check_bounds(self.max_length, self.max_size, self.max_nodes)
        learned = learned or self.learned_bounds_
        max_length = self.max_length or self._longest_of(rule, X, learned.max_length)
        wide_enough = learned.width * (max_length + 1)
        max_nodes = self.max_nodes or max(wide_enough, rule.least_nodes(max_length, n_known))
        return Bounds(max_length, self.max_size or learned.max_size, max_nodes)


def check_targets(
    sets: LabelSets, vocabulary: Vocabulary, stand_ins: Sequence[StandIns] | None = None
) -> None:
    """Raise unless all elements can be written in the tokens that the scorer knows.

    Parameters
    ----------
    sets : list of frozenset
        The sets y.
    vocabulary : Vocabulary
    stand_ins : sequence of tuples, optional
        The tokens behind the stand-ins of each input. By default there are none.

    Raises
    ------
    KindError, DataError
    """
    _check_kind(sets, vocabulary, "y")
    _, unseen = vocabulary.split_unseen(sets, stand_ins)
    if unseen:
        index, element = unseen[0]
        raise DataError(
            f"sample {index} of y holds {element!r}, which has a token never seen in "
            "training, so the network cannot score it; leave it out"
        )


def _check_kind(sets: LabelSets, vocabulary: Vocabulary, name: str) -> None:
    kind = check_one_kind(sets, name)
    if kind not in (None, vocabulary.kind):
        raise KindError(
            f"{name} holds {kind.__name__}s but the model's elements are "
            f"{vocabulary.kind.__name__}s; pass elements of the same kind"
        )


def _unseen_token_warning(
    unseen: Sequence[tuple[Hashable, ...]], stand_ins: Sequence[StandIns]
) -> UnseenTokenWarning:
    """Count the tokens that training has not seen, and say what becomes of them."""
    samples = [index for index, tokens in enumerate(unseen) if tokens]
    tokens = dict.fromkeys(chain(*unseen))
    pairs = zip(unseen, stand_ins, strict=True)
    lost = dict.fromkeys(t for every, copied in pairs for t in every if t not in copied)
    problem = (
        f"{len(samples)} of {len(unseen)} inputs have tokens never seen in training "
        f"({len(tokens)} different, such as {next(iter(tokens))!r:.60})"
    )
    fate = "they can be copied into predicted sets, but nothing else is known of them"
    if lost:
        which = "they" if len(lost) == len(tokens) else f"{len(lost)} of them"
        fate = f"{which} cannot be part of predicted sets"
    message = f"{problem}; {fate}. Add samples with such tokens to the training data"
    return UnseenTokenWarning(message, samples, tuple(tokens), tuple(lost))


def _as_set(ranking: Ranking) -> frozenset[Any]:
    return frozenset(element for element, _ in ranking)
