"""The manifest: what is in a model's folder, and with what it was written."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Self

from setlearn.errors import ModelError
from setlearn.strict_json import StrictJsonError, parse_strict_json

__all__ = ["FORMAT", "MANIFEST_NAME", "Manifest", "parse_json"]

FORMAT = 2
"""The number rises when older versions could not read what is written. See `older_formats`."""

MANIFEST_NAME = "manifest.json"

DEPENDENCIES = ("numpy", "scipy", "scikit-learn", "torch", "safetensors", "skops")

MAX_DEPTH = 400
"""Of lists and objects in each other."""

# A plain name of a kind that models have: no folders, nothing hidden, nothing that is executed.
FILE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]{0,60}\.(json|safetensors|skops|md)")


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a file must be: its size and the SHA-256 of its content."""

    size: int
    sha256: str

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Describe a content."""
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
        """Read a manifest strictly.

        Raises
        ------
        ModelError
            If it is damaged, or of a format that this version does not know.
        """
        entries = parse_json(content, MANIFEST_NAME)
        if not isinstance(entries, dict) or not _is_count(entries.get("format")):
            raise ModelError(
                f"{MANIFEST_NAME} names no format number; this is not a manifest of setlearn, "
                "or it is damaged"
            )
        if not 1 <= entries["format"] <= FORMAT:
            raise ModelError(
                f"the model has the format {entries['format']}, and this version of setlearn reads "
                f"formats 1 to {FORMAT}; install the version that wrote it "
                f"({entries.get('setlearn', 'unknown')!r:.40}) or a later one"
            )
        files, writer = entries.get("files"), entries.get("setlearn")
        packages: Any = entries.get("dependencies")
        if not (isinstance(files, dict) and _are_texts(packages) and isinstance(writer, str)):
            raise ModelError(f"{MANIFEST_NAME} does not list files and versions; it is damaged")
        facts = {name: _facts(name, entry) for name, entry in files.items()}
        return cls(entries["format"], writer, packages, facts)

    def to_json(self) -> bytes:
        """The content of the file."""
        return json.dumps(asdict(self), indent=2).encode()


def parse_json(content: bytes, name: str) -> Any:
    """Read a JSON file of a model strictly.

    Parameters
    ----------
    content : bytes
    name : str
        The name of the file, for the message.

    Returns
    -------
    None, bool, int, float, str, list or dict

    Raises
    ------
    ModelError
        If it is not strict JSON. Labels may hold lone surrogates, which Python's strings can.
    """
    try:
        return parse_strict_json(content, max_depth=MAX_DEPTH, allow_surrogates=True)
    except StrictJsonError as error:
        raise ModelError(f"{name} is damaged: {error}") from error


def _facts(name: str, entry: Any) -> FileFacts:
    if not FILE_NAME.fullmatch(name) or name == MANIFEST_NAME:
        raise ModelError(
            f"{MANIFEST_NAME} lists the file {name!r:.80}, which no model has; the model was not "
            "written by setlearn, and nothing of it was read"
        )
    size: Any = entry.get("size") if isinstance(entry, dict) else None
    digest: Any = entry.get("sha256") if isinstance(entry, dict) else None
    if not (_is_count(size) and isinstance(digest, str) and re.fullmatch("[0-9a-f]{64}", digest)):
        raise ModelError(f"{MANIFEST_NAME} lacks the size or SHA-256 of {name}; it is damaged")
    return FileFacts(size, digest)


@cache  # looking them up takes longer than writing a small model
def _installed() -> dict[str, str]:
    versions = {}
    for name in DEPENDENCIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
