"""scikit-learn's objects as one skops file: audited against a list of types before it is built."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from setlearn.errors import ModelError, ParameterError, UntrustedModelError
from setlearn.persistence.archive_checks import check_archive, check_builders
from setlearn.persistence.part_checks import check_parts
from setlearn.persistence.registry import HOMES

__all__ = ["check_trusted", "dump_parts", "load_parts", "unknown_types"]

ALLOWED = [
    *(f"{home}.{name}" for name, home in HOMES.items() if home.startswith("setlearn.")),
    "numpy.dtype",
    *(
        f"scipy.sparse._{kind}.{kind}_{form}"
        for kind in ("csr", "csc")
        for form in ("array", "matrix")
    ),
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    *(
        f"sklearn.feature_selection._{home}.{name}"
        for home, name in (
            ("univariate_selection", "chi2"),
            ("univariate_selection", "f_classif"),
            ("mutual_info", "mutual_info_classif"),
        )
    ),
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    *(
        f"sklearn.gaussian_process.kernels.{name}"
        for name in ("ConstantKernel", "DotProduct", "Matern", "Product", "RBF", "Sum")
    ),
    *(f"sklearn.metrics._dist_metrics.{name}Distance64" for name in ("Euclidean", "Manhattan")),
    "sklearn.metrics._scorer._PassthroughScorer",
    *(
        f"sklearn.model_selection._split.{name}"
        for name in ("GroupKFold", "KFold", "RepeatedKFold", "ShuffleSplit", "StratifiedKFold")
    ),
    "sklearn.multiclass._ConstantPredictor",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
]
"""Types beyond those that skops allows by itself.

None of them runs code of the file. Those that index memory without looking (trees of all kinds)
are looked at by `part_checks` before they are used.
"""


@cache
def _skops() -> Any:
    """skops, imported without torch.

    It asks for all of scikit-learn's estimators, for which every package of scikit-learn is
    imported. One of them, which has none, imports torch: most of the time that a command takes
    to start.
    """
    needless = "sklearn.externals.array_api_compat.torch"
    blocked = "torch" not in sys.modules and needless not in sys.modules
    if blocked:
        sys.modules[needless] = None  # type: ignore[assignment]  # how Python says "not to be found"
    try:
        return import_module("skops.io")
    finally:
        if blocked:
            del sys.modules[needless]


def check_trusted(trusted: Iterable[str]) -> list[str]:
    """The names of types that a user allows; there is no way to allow everything."""
    if isinstance(trusted, str | bool) or not isinstance(trusted, Iterable):
        raise ParameterError(
            f"trusted must be a list of names of types, such as ['package.module.Type'], "
            f"got {trusted!r}; there is no way to trust everything"
        )
    names = list(trusted)
    for name in names:
        if not isinstance(name, str) or "." not in name:
            raise ParameterError(
                f"trusted holds {name!r}; give each type by its full name, such as "
                "'package.module.Type'"
            )
    return names


def dump_parts(parts: Sequence[Any]) -> bytes:
    """All of scikit-learn's objects of a model, in one file."""
    try:
        content: bytes = _skops().dumps(list(parts))
    except Exception as error:  # skops raises whatever an object's own state raises
        kinds = sorted({type(part).__name__ for part in parts})
        raise ModelError(
            f"the model cannot be saved: skops cannot write one of {', '.join(kinds)} "
            f"({type(error).__name__}: {error!s:.120})"
        ) from error
    nameless = [name for name in unknown_types(content) if "<" in name]
    if nameless:
        raise ModelError(
            f"the model cannot be saved: it holds {nameless[0]}, and a file cannot hold code; use "
            "a function or class that has a name in a module of yours"
        )
    return content


def unknown_types(content: bytes) -> list[str]:
    """The types in such a file that are not on the list."""
    return sorted(set(_skops().get_untrusted_types(data=content)) - set(ALLOWED))


def load_parts(content: bytes, trusted: Sequence[str]) -> list[Any]:
    """The objects of such a file, if all their types are allowed and all they hold is sound."""
    try:
        nodes = check_archive(content)
        unknown = [name for name in unknown_types(content) if name not in trusted]
        if unknown:
            raise _untrusted(unknown)
        check_builders(nodes, trusted)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of another version's attributes, say
            parts = _skops().loads(content, trusted=[*ALLOWED, *trusted])
        if not isinstance(parts, list):
            raise ModelError("the scikit-learn parts of the model are not a list; it is damaged")
        check_parts(parts)
    except ModelError:
        raise
    except Exception as error:  # a damaged state may fail anywhere in scikit-learn
        raise ModelError(
            "the scikit-learn parts of the model cannot be read "
            f"({type(error).__name__}: {error!s:.120}); it is damaged, or was written with a "
            "version of scikit-learn that is too different"
        ) from error
    return parts


def _untrusted(names: list[str]) -> UntrustedModelError:
    options = " ".join(f"--trust {name}" for name in names)
    return UntrustedModelError(
        f"the model holds types that are not known to be safe: {', '.join(names)}; if you know "
        f"them and trust where the model is from, name them: load(path, trusted={names}) or "
        f"{options}"
    )
