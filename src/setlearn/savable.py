"""Which classes may be in a saved model: each says so itself, in its own file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

__all__ = ["Part", "Saved", "savable", "saved_spec"]

ATTRIBUTE = "_saved"

Class = TypeVar("Class", bound=type[Any])
Part = type[Any] | str | None


@dataclass(frozen=True, slots=True)
class Saved:
    """What is special about saving the objects of a class. The fields are those of `savable`."""

    is_model: bool = False
    names: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    infinite: frozenset[str] = frozenset()
    extra: frozenset[str] = frozenset()
    parts: Mapping[str, tuple[Part, ...]] = field(default_factory=lambda: MappingProxyType({}))


def savable(
    *,
    is_model: bool = False,
    names: tuple[str, ...] = (),
    skipped: tuple[str, ...] = (),
    infinite: tuple[str, ...] = (),
    extra: tuple[str, ...] = (),
    parts: Mapping[str, tuple[Part, ...]] | None = None,
) -> Callable[[Class], Class]:
    """Mark a class whose objects may be part of a saved model.

    Its objects are saved as their attributes and made again without ``__init__``. So its
    parameters must be stored under their own names, and what ``fit`` learns under names that end
    with an underscore. A class that owns a torch network also needs a method ``new_network()``,
    which builds the network with fresh weights from the other attributes. The mark is not
    inherited: each class makes its own.

    Parameters
    ----------
    is_model : bool, default=False
        Whether it is a complete model, not only a part of one.
    names : tuple of str, default=()
        Attributes with labels or tokens, which go to the file ``vocabulary.json``.
    skipped : tuple of str, default=()
        Attributes that are not saved. After loading they have their defaults.
    infinite : tuple of str, default=()
        Attributes whose arrays may hold infinity; NaN is refused there too.
    extra : tuple of str, default=()
        Attributes that are neither parameters nor learned, but belong to the object.
    parts : mapping, optional
        For each attribute named here, the types that belong there: classes (also of
        subclasses), names such as ``"setlearn.rules.margin:Margin"`` where an import would be
        slow or circular, or None.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> from setlearn.savable import savable, saved_spec
    >>> @savable(names=("tokens",))
    ... class Words:
    ...     def __init__(self, tokens):
    ...         self.tokens = tokens
    >>> saved_spec(Words).names
    frozenset({'tokens'})
    """
    spec = Saved(
        is_model=is_model,
        names=frozenset(names),
        skipped=frozenset(skipped),
        infinite=frozenset(infinite),
        extra=frozenset(extra),
        parts=MappingProxyType(dict(parts or {})),
    )

    def mark(kind: Class) -> Class:
        setattr(kind, ATTRIBUTE, spec)
        return kind

    return mark


def saved_spec(kind: type[Any]) -> Saved | None:
    """What a class says about being saved; None if it says nothing itself."""
    spec = vars(kind).get(ATTRIBUTE)
    return spec if isinstance(spec, Saved) else None
