"""The types that a model may hold besides those of setlearn: these, and what the user trusts.

skops would allow every estimator of scikit-learn. Here are only those where forged numbers do no
harm. The prediction of most is pure Python, NumPy and SciPy, which check shapes and indices: they
can only fail or answer wrongly. The others use compiled code that follows indices without a
check; of these the numbers are checked one by one, in `learners` and `columns`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib import import_module

import numpy as np

from setlearn.errors import ModelError
from setlearn.persistence.audit.archive import Node, unsound
from setlearn.persistence.classes import class_at

__all__ = ["check_loaders", "names_in", "unknown_types"]

ESTIMATORS: Mapping[str, str] = {
    "calibration": "CalibratedClassifierCV",
    "cluster": "KMeans MiniBatchKMeans",
    "compose": "ColumnTransformer TransformedTargetRegressor",
    "cross_decomposition": "CCA PLSCanonical PLSRegression",
    "decomposition": "FactorAnalysis FastICA IncrementalPCA KernelPCA PCA TruncatedSVD",
    "discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "dummy": "DummyClassifier DummyRegressor",
    "ensemble": """AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor
        ExtraTreesClassifier ExtraTreesRegressor GradientBoostingClassifier
        GradientBoostingRegressor HistGradientBoostingClassifier HistGradientBoostingRegressor
        RandomForestClassifier RandomForestRegressor StackingClassifier StackingRegressor
        VotingClassifier VotingRegressor""",
    "feature_extraction": "DictVectorizer FeatureHasher",
    "feature_extraction.text": """CountVectorizer HashingVectorizer TfidfTransformer
        TfidfVectorizer""",
    "feature_selection": """GenericUnivariateSelect RFE RFECV SelectFdr SelectFpr SelectFromModel
        SelectFwe SelectKBest SelectPercentile SequentialFeatureSelector VarianceThreshold""",
    "frozen": "FrozenEstimator",
    "gaussian_process": "GaussianProcessClassifier GaussianProcessRegressor",
    "gaussian_process.kernels": """CompoundKernel ConstantKernel DotProduct ExpSineSquared
        Exponentiation Matern PairwiseKernel Product RBF RationalQuadratic Sum WhiteKernel""",
    "impute": "KNNImputer MissingIndicator SimpleImputer",
    "isotonic": "IsotonicRegression",
    "kernel_approximation": "AdditiveChi2Sampler Nystroem RBFSampler SkewedChi2Sampler",
    "kernel_ridge": "KernelRidge",
    "linear_model": """ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor
        HuberRegressor Lars LarsCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC
        LinearRegression LogisticRegression LogisticRegressionCV MultiTaskElasticNet
        MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV OrthogonalMatchingPursuit
        OrthogonalMatchingPursuitCV PassiveAggressiveClassifier PassiveAggressiveRegressor
        Perceptron PoissonRegressor QuantileRegressor RANSACRegressor Ridge RidgeCV
        RidgeClassifier RidgeClassifierCV SGDClassifier SGDRegressor TheilSenRegressor
        TweedieRegressor""",
    "mixture": "BayesianGaussianMixture GaussianMixture",
    "model_selection": """FixedThresholdClassifier GridSearchCV GroupKFold GroupShuffleSplit KFold
        LeaveOneGroupOut LeaveOneOut PredefinedSplit RandomizedSearchCV RepeatedKFold
        RepeatedStratifiedKFold ShuffleSplit StratifiedGroupKFold StratifiedKFold
        StratifiedShuffleSplit TimeSeriesSplit""",
    "multiclass": "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier",
    "multioutput": """ClassifierChain MultiOutputClassifier MultiOutputRegressor
        RegressorChain""",
    "naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "neighbors": """KNeighborsClassifier KNeighborsRegressor NearestCentroid
        NeighborhoodComponentsAnalysis""",
    "neural_network": "BernoulliRBM MLPClassifier MLPRegressor",
    "pipeline": "FeatureUnion Pipeline",
    "preprocessing": """Binarizer FunctionTransformer KBinsDiscretizer KernelCenterer LabelBinarizer
        LabelEncoder MaxAbsScaler MinMaxScaler MultiLabelBinarizer Normalizer OneHotEncoder
        OrdinalEncoder PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler
        StandardScaler TargetEncoder""",
    "random_projection": "GaussianRandomProjection SparseRandomProjection",
    "semi_supervised": "SelfTrainingClassifier",
    "svm": "LinearSVC LinearSVR NuSVC NuSVR OneClassSVM SVC SVR",
    "tree": """DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier
        ExtraTreeRegressor""",
}
"""Public classes of scikit-learn, by package. They are written under the module they are in."""

PARTS_OF_ESTIMATORS = {
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.calibration._TemperatureScaling",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    *(f"sklearn.metrics._dist_metrics.{name}Distance64" for name in ("Euclidean", "Manhattan")),
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.multiclass._ConstantPredictor",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    *(
        f"sklearn._loss.link.{name}"
        for name in (
            *("HalfLogitLink", "IdentityLink", "Interval", "LogLink", "LogitLink"),
            "MultinomialLogit",
        )
    ),
    *(
        f"sklearn._loss.loss.{name}"
        for name in (
            *("AbsoluteError", "ExponentialLoss", "HalfBinomialLoss", "HalfGammaLoss"),
            *("HalfMultinomialLoss", "HalfPoissonLoss", "HalfSquaredError", "HuberLoss"),
            *("HalfTweedieLoss", "HalfTweedieLossIdentity", "PinballLoss"),
        )
    ),
}
"""Private classes that the estimators above consist of."""

LOSSES = {
    *(
        f"sklearn.linear_model._sgd_fast.{name}"
        for name in (
            *("EpsilonInsensitive", "Hinge", "ModifiedHuber", "SquaredEpsilonInsensitive"),
            "SquaredHinge",
        )
    ),
    *(
        f"sklearn._loss._loss.Cy{name}"
        for name in (
            *("AbsoluteError", "ExponentialLoss", "HalfBinomialLoss", "HalfGammaLoss"),
            *("HalfMultinomialLoss", "HalfPoissonLoss", "HalfSquaredError", "HuberLoss"),
            *("HalfTweedieLoss", "HalfTweedieLossIdentity", "PinballLoss"),
        )
    ),
}
"""Compiled losses, which hold a number at the most and are not used in prediction."""

FUNCTIONS = {
    *(
        f"sklearn.feature_selection._univariate_selection.{name}"
        for name in ("chi2", "f_classif", "f_regression", "r_regression")
    ),
    *(
        f"sklearn.feature_selection._mutual_info.{name}"
        for name in ("mutual_info_classif", "mutual_info_regression")
    ),
}

UFUNC_MODULES = (
    "numpy",
    "numpy._core._multiarray_umath",
    "numpy._core.umath",
    "scipy.special",
    "scipy.special._ufuncs",
)
"""Where element-wise functions such as ``numpy.log1p`` may be written to be."""

SCALARS = {
    f"numpy.{kind.__name__}"
    for kind in np.sctypeDict.values()
    if kind is not np.void  # made from a number, it is so many bytes
}

OTHERS: Mapping[str, Collection[str]] = {
    "DTypeNode": {"numpy.dtype"},
    "DictNode": {"builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"},
    "JsonNode": {"builtins.str"},
    "ListNode": {"builtins.list"},
    "LossNode": LOSSES,
    "MaskedArrayNode": {"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"},
    "NdArrayNode": {"numpy.ndarray", *SCALARS},
    "RandomGeneratorNode": {"numpy.random._generator.Generator"},
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "SetNode": {"builtins.set"},
    "SliceNode": {"builtins.slice"},
    "SparseMatrixNode": {
        f"scipy.sparse._{layout}.{layout}_{form}"
        for layout in ("csr", "csc")
        for form in ("array", "matrix")
    },
    "TreeNode": {"sklearn.tree._tree.Tree"},
    "TupleNode": {"builtins.tuple"},
    "TypeNode": {
        *(f"builtins.{name}" for name in ("bool", "float", "int", "object", "str")),
        *(f"numpy.{name}" for name in ("floating", "inexact", "integer", "number")),
        *SCALARS,
    },
}
"""The types that each loader of skops may build. Some loaders call the type that is named."""


def names_in(node: Node) -> list[str]:
    """The full names that an object of the schema has skops look up."""
    names = [f"{node['__module__']}.{node['__class__']}"]
    if node["__loader__"] == "MethodNode":
        names.append(f"{names[0]}.{node['content']['func']}")
    return names


def unknown_types(nodes: Iterable[Node], trusted: Collection[str] = ()) -> list[str]:
    """The types that are neither allowed nor trusted.

    Parameters
    ----------
    nodes : iterable of dict
        All objects of the schema.
    trusted : collection of str, default=()
        Full names of types.

    Returns
    -------
    list of str
        Their full names, in order: what the user would have to trust.
    """
    names = {name for node in nodes for name in names_in(node)}
    return sorted(name for name in names if name not in trusted and not _is_allowed(name))


def check_loaders(nodes: Iterable[Node], trusted: Collection[str]) -> None:
    """Raise unless each object is built by a loader that is meant for its type.

    Parameters
    ----------
    nodes : iterable of dict
        All objects of the schema.
    trusted : collection of str
        Types that may be built by any loader.

    Raises
    ------
    ModelError
        If an object would be built in another way.
    """
    for loader, name in {(node["__loader__"], name) for node in nodes for name in names_in(node)}:
        if name not in trusted and not _may_build(loader, name):
            raise unsound(f"{name!r:.80} would be built by {loader!r:.40}")


@cache
def _is_allowed(name: str) -> bool:
    return any(_may_build(loader, name) for loader in ("ObjectNode", "FunctionNode", *OTHERS))


def _may_build(loader: str, name: str) -> bool:
    if loader == "ObjectNode":
        return name in _estimators() or _is_ours(name)
    if loader == "FunctionNode":
        return name in FUNCTIONS or _is_ufunc(name)
    return name in OTHERS.get(loader, ())


@cache
def _estimators() -> frozenset[str]:
    names = set(PARTS_OF_ESTIMATORS)
    for package, classes in ESTIMATORS.items():
        public = import_module(f"sklearn.{package}")
        for name in classes.split():
            if (kind := getattr(public, name, None)) is not None:  # not in every version
                names.add(f"{kind.__module__}.{name}")
    return frozenset(names)


def _is_ours(name: str) -> bool:
    module, _, class_name = name.rpartition(".")
    try:
        class_at(f"{module}:{class_name}")
    except ModelError:
        return False
    return True


def _is_ufunc(name: str) -> bool:
    module, _, function = name.rpartition(".")
    if module not in UFUNC_MODULES:
        return False
    return isinstance(getattr(import_module(module), function, None), np.ufunc)
