"""The contract of all set predictors: one base and one set of verbs.

`SetClassifier`, `SequenceSetGenerator` and a model that reads records share it, so that the
command line, the server, the experiments and user code never ask which one they hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias

from setlearn.features.feature_reader import FeatureReader
from setlearn.metrics import mean_f1
from setlearn.nodes import Mask, Nodes
from setlearn.rules import Rule

__all__ = [
    "InputLayout",
    "Ranking",
    "SetPredictor",
    "Task",
    "Trace",
    "Unknown",
]

Task: TypeAlias = Literal["labels", "sequences", "candidates"]
"""What the elements of the sets are."""

Unknown: TypeAlias = Literal["error", "ignore"]
"""What to do with known elements that were never seen in training."""


class InputLayout(NamedTuple):
    """What a fitted predictor reads.

    Attributes
    ----------
    n_features : int or None
        How many numbers each input has; None if inputs are texts or lists of tokens.
    tokens : bool
        Whether inputs are lists of tokens rather than texts.
    names : list of str or None
        The names of the columns that the predictor was fitted on, if it knows them.
    candidates : bool
        Whether each input is a query with a list of candidates.
    """

    n_features: int | None
    tokens: bool = False
    names: list[str] | None = None
    candidates: bool = False


class Ranking(list[tuple[Any, float]]):
    """Elements with their scores, best first.

    Attributes
    ----------
    truncated : bool
        Whether a limit cut something off, so that elements may be missing.
    """

    def __init__(
        self, elements: Iterable[tuple[Any, float]] = (), *, truncated: bool = False
    ) -> None:
        super().__init__(elements)
        self.truncated = truncated


class Trace(Protocol):
    """How one set was built, step by step. Print it, or use ``to_dict`` for JSON."""

    @property
    def result(self) -> frozenset[Hashable]:
        """The predicted set, with the known elements."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether a limit cut something off."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for ``json.dumps``."""
        ...


class SetPredictor(ABC):
    """Predicts a set for each input. See the methods for the verbs that all predictors share."""

    elements_recur: ClassVar[bool] = True
    """Whether the elements to predict are expected in training, so that a fair evaluation holds
    samples out by their elements rather than at random."""

    @property
    def keeps_checkpoints(self) -> bool:
        """Whether training can be resumed from a checkpoint."""
        return False

    @property
    @abstractmethod
    def task(self) -> Task:
        """What the elements of the sets are."""

    @property
    @abstractmethod
    def elements_(self) -> list[Hashable] | None:
        """All elements that a set may hold, where they can be listed."""

    @property
    def element_split(self) -> Any:
        """How elements that are texts are split into tokens; None if they are not."""
        return None

    @abstractmethod
    def predict(self, X: Any) -> Any:
        """Predict the set of each input, in the kind of container that ``fit`` was given."""

    @abstractmethod
    def predict_sets(self, X: Any) -> list[frozenset[Any]]:
        """Predict the set of each input, always as frozensets."""

    @abstractmethod
    def predict_ranked(self, X: Any, *, top: int | None = None) -> list[Ranking]:
        """List elements with their scores, best first.

        Parameters
        ----------
        X : inputs, as in ``predict``
        top : int, optional
            List that many of the best elements, whether the rule keeps them or not. By default
            the elements of the predicted set.

        Returns
        -------
        list of Ranking
            One list of ``(element, score)`` per input.
        """

    @abstractmethod
    def complete(self, X: Any, known: Any, *, unknown: Unknown = "error") -> Any:
        """Given these elements, what else? A known element is never repeated.

        Parameters
        ----------
        X : inputs, as in ``predict``
        known : iterable of sets
            The known elements, one set per input.
        unknown : {"error", "ignore"}, default="error"
            What to do with known elements never seen in training; ignored ones are counted in a
            warning.

        Returns
        -------
        sets
            The other elements of each set, in the kind of container that ``fit`` was given.

        Raises
        ------
        DataError
            If there is not one known set per input, or known elements were never seen in training
            and ``unknown`` is "error".
        """

    @abstractmethod
    def complete_ranked(
        self, X: Any, known: Any, *, top: int | None = None, unknown: Unknown = "error"
    ) -> list[Ranking]:
        """List what else may be in each set, with scores, best first.

        Parameters
        ----------
        X : inputs, as in ``predict``
        known : iterable of sets
            The known elements, one set per input. They are never listed.
        top : int, optional
            List that many of the best other elements, whether the rule keeps them or not. By
            default those that ``complete`` answers.
        unknown : {"error", "ignore"}, default="error"
            As in ``complete``.

        Returns
        -------
        list of Ranking
            One list of ``(element, score)`` per input.

        Raises
        ------
        DataError
            As in ``complete``.
        """

    @abstractmethod
    def trace(self, x: Any, known: Any = (), *, unknown: Unknown = "error") -> Trace:
        """Show step by step how the set of one input is built, and why it ends there.

        Parameters
        ----------
        x : a single input
        known : iterable of elements, default=()
            Elements that are in the memory from the start.
        unknown : {"error", "ignore"}, default="error"
            What to do with known elements never seen in training.

        Returns
        -------
        Trace
            Print it, or use its ``to_dict``.
        """

    @abstractmethod
    def with_rule(self, rule: Rule, X: Any = None, y: Any = None) -> Self:
        """A copy of this fitted predictor with the same scores under another rule.

        Parameters
        ----------
        rule : Rule
            A rule that is fitted, or needs no fit, is taken as it is.
        X, y : inputs and sets, optional
            The samples to fit the rule on; they should be new to the model. By default the
            held-out scores that ``fit`` has kept are used. A loaded model has none.

        Returns
        -------
        a predictor of the same class

        Raises
        ------
        ParameterError
            If the rule needs a fit and there are no samples for it.
        """

    @abstractmethod
    def choice_points(self, X: Any = None, y: Any = None) -> tuple[Nodes, Mask]:
        """Scored choice points and their right choices: what rules are fitted on.

        Parameters
        ----------
        X, y : inputs and sets, optional
            By default those that ``fit`` has kept, scored by a model that had not seen them.

        Returns
        -------
        nodes : Nodes
        positive : mask of shape (n, choices)

        Raises
        ------
        ParameterError
            If only one of X and y is given, or none is and ``fit`` has kept nothing.
        """

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Describe the fitted predictor in a few words and numbers, for model cards."""

    @abstractmethod
    def choice_names(self) -> list[str]:
        """Names of the choices at a choice point: labels, or tokens and the end symbol."""

    @abstractmethod
    def as_elements(self, sets: Any) -> list[frozenset[Hashable]]:
        """Sets as people write them, or as ``complete`` answers, as frozensets.

        Elements are spelled as predictions spell them.
        """

    def as_true_sets(self, sets: Any) -> list[frozenset[Hashable]]:
        """True sets as predictions are compared with them: by default as `as_elements` does."""
        return self.as_elements(sets)

    @abstractmethod
    def input_layout(self) -> InputLayout:
        """What the fitted predictor reads."""

    def reading(self, reader: Any) -> Self:
        """The same predictor, not fitted, for the inputs that a reader makes of records.

        Parameters
        ----------
        reader : FeatureReader, TextReader or JoinedTextReader
            Fitted on the records.

        Returns
        -------
        SetPredictor
            By default this one.
        """
        return self

    def without_reader(self) -> tuple[FeatureReader | None, Self]:
        """What reads the rows of tables, and the same predictor for the matrix that it returns.

        Returns
        -------
        reader : FeatureReader or None
            None, the default, if the predictor does not read tables.
        predictor : SetPredictor
        """
        return None, self

    def score(self, X: Any, y: Any) -> float:
        """Mean F1 of the predicted sets.

        Parameters
        ----------
        X : inputs, as in ``predict``
        y : iterable of sets
            The true sets.

        Returns
        -------
        float
            From 0 to 1.
        """
        return mean_f1(self.as_true_sets(y), self.predict_sets(X))
