"""Lays out text in columns."""

from collections.abc import Sequence

__all__ = ["aligned_table"]


def aligned_table(rows: Sequence[Sequence[str]]) -> str:
    """Align the first column, of names, to the left and all others, of figures, to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
