"""Label learners of our own, as scikit-learn classifiers. Importing this does not import torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from setlearn.errors import ParameterError
from setlearn.lazy_parts import import_when_used
from setlearn.learners import ready_made

if TYPE_CHECKING:
    from setlearn.learners.many_labels import ManyLabels
    from setlearn.learners.sequence_sigmoid_network import SequenceSigmoidNetwork
    from setlearn.learners.set_mixture import SetMixture
    from setlearn.learners.sigmoid_network import SigmoidNetwork

# To add a learner, import it above and list it here. Its module has the name of the class in snake
# case. With a class attribute ``short_name`` it is also offered on the command line.
__all__ = [
    "ManyLabels",
    "SequenceSigmoidNetwork",
    "SetMixture",
    "SigmoidNetwork",
    "learner_named",
    "learner_names",
]


__getattr__ = import_when_used(__name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def learner_names() -> list[str]:
    """Short names of learners, for `learner_named`.

    Examples
    --------
    >>> learner_names()
    ['forest', 'logistic', 'many-labels', 'mixture', 'neighbours', 'network']
    """
    return sorted(_makers())


def learner_named(name: str) -> Any:
    """The learner of that short name, not fitted, with its default parameters.

    Raises
    ------
    ParameterError
        If there is no learner of that name.

    Examples
    --------
    >>> learner_named("network")
    SigmoidNetwork()
    """
    makers = _makers()
    if name not in makers:
        raise ParameterError(
            f"learner must be one of {', '.join(sorted(makers))}, got {name!r}",
            advice={"learner": None},
        )
    return makers[name]()


def _makers() -> dict[str, Callable[[], Any]]:
    """How to make each learner, by its short name: our own and those of scikit-learn."""
    classes = [__getattr__(name) for name in __all__ if name not in globals()]
    of_setlearn = {kind.short_name: kind for kind in classes if hasattr(kind, "short_name")}
    of_sklearn = {name: getattr(ready_made, name) for name in ready_made.__all__}
    return {**of_setlearn, **of_sklearn}
