"""The manifest: what is in a model's folder, and with what it was written."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Self

from setlearn.errors import ModelError

__all__ = ["FORMAT", "MANIFEST_NAME", "Manifest", "parse_json"]

FORMAT = 1
"""Raised when older versions could no longer read what is written; all before it stay readable."""

MANIFEST_NAME = "manifest.json"

DEPENDENCIES = ("numpy", "scipy", "scikit-learn", "torch", "safetensors", "skops")

# A plain name of a kind that models have: no folders, nothing hidden, nothing that is executed.
FILE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]{0,60}\.(json|safetensors|skops|md)")


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a file must be: its size and the SHA-256 of its content."""

    size: int
    sha256: str

    @classmethod
    def of(cls, content: bytes) -> Self:
        """The facts of a content."""
        return cls(len(content), hashlib.sha256(content).hexdigest())


@dataclass(frozen=True, slots=True)
class Manifest:
    """The format of a model, who wrote it, and the facts of every file."""

    format: int
    setlearn: str
    dependencies: Mapping[str, str]
    files: Mapping[str, FileFacts]

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Self:
        """The manifest of a model that is written now."""
        from setlearn import __version__

        facts = {name: FileFacts.of(content) for name, content in sorted(files.items())}
        return cls(FORMAT, __version__, _installed(), facts)

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """Read a manifest, refusing all that it should not say."""
        told = parse_json(content, MANIFEST_NAME)
        if not isinstance(told, dict) or not _is_count(told.get("format")):
            raise ModelError(
                f"{MANIFEST_NAME} names no format number; this is not a manifest of setlearn, "
                "or it is damaged"
            )
        if not 1 <= told["format"] <= FORMAT:
            raise ModelError(
                f"the model has the format {told['format']}, and this version of setlearn reads "
                f"formats 1 to {FORMAT}; install the version that wrote it "
                f"({told.get('setlearn', 'unknown')!r:.40}) or a later one"
            )
        files, writer = told.get("files"), told.get("setlearn")
        tools: Any = told.get("dependencies")
        if not (isinstance(files, dict) and _are_texts(tools) and isinstance(writer, str)):
            raise ModelError(f"{MANIFEST_NAME} does not list files and versions; it is damaged")
        return cls(told["format"], writer, tools, {n: _facts(n, f) for n, f in files.items()})

    def to_json(self) -> bytes:
        """The manifest as it stands in the file."""
        return json.dumps(asdict(self), indent=2).encode()


def parse_json(content: bytes, name: str) -> Any:
    """JSON in UTF-8, without repeated names and without numbers that JSON does not know."""
    try:
        return json.loads(
            content.decode(),
            object_pairs_hook=_without_repeats,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{name} is damaged: {error}") from error


def _facts(name: str, told: Any) -> FileFacts:
    if not FILE_NAME.fullmatch(name) or name == MANIFEST_NAME:
        raise ModelError(
            f"{MANIFEST_NAME} lists the file {name!r:.80}, which no model has; the model was not "
            "written by setlearn, and nothing of it was read"
        )
    size: Any = told.get("size") if isinstance(told, dict) else None
    digest: Any = told.get("sha256") if isinstance(told, dict) else None
    if not (_is_count(size) and isinstance(digest, str) and re.fullmatch("[0-9a-f]{64}", digest)):
        raise ModelError(f"{MANIFEST_NAME} does not tell size and SHA-256 of {name}; it is damaged")
    return FileFacts(size, digest)


@cache  # looking them up takes longer than writing a small model
def _installed() -> dict[str, str]:
    found = {}
    for name in DEPENDENCIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return names


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits:.40} is larger than any number")
    return number


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
