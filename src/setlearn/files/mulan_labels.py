"""MULAN's XML files, which say which attributes of an ARFF file are labels."""

from pathlib import Path
from xml.parsers import expat

from setlearn.errors import DataError
from setlearn.files.source import Source

__all__ = ["find_label_file", "read_label_names"]


def find_label_file(source: Source) -> Path | None:
    """Give the file that was told, or else the one that lies beside: flags.xml for flags-train.

    A name of its own goes before the name that all parts of a data set share.
    """
    if source.label_file is not None:
        return source.label_file
    if source.path is None:
        return None
    stem = source.path.name.removesuffix(".gz").rpartition(".")[0]
    for name in (stem, stem.partition("-")[0]):
        path = source.path.with_name(f"{name}.xml")
        if name and path.is_file():
            return path
    return None


def read_label_names(path: Path) -> list[str]:
    """List the labels in the order of the file; labels inside labels count like all others."""
    names: list[str] = []

    def note_label(element: str, attributes: dict[str, str]) -> None:
        if element.rpartition(":")[2] == "label":
            if "name" not in attributes:
                line = parser.CurrentLineNumber
                raise DataError(f"{path.name}, line {line}: a label has no name; give it one")
            names.append(attributes["name"])

    def refuse_document_type(*_: object) -> None:
        # Its entities may grow without bound, or reach for other files.
        raise DataError(f"{path.name} has a DOCTYPE, which label files do not need; take it out")

    parser = expat.ParserCreate()
    parser.StartElementHandler = note_label
    parser.StartDoctypeDeclHandler = refuse_document_type
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
    except OSError as error:
        raise DataError(
            f"the label file {path} cannot be read: {error.strerror}; check the path"
        ) from error
    except expat.ExpatError as error:
        raise DataError(f"{path.name} is not XML: {error}; correct it") from error
    if not names:
        raise DataError(f'{path.name} names no labels; it should hold <label name="..."/> for each')
    return names
