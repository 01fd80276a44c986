"""The last resort for a fitted model that cannot be saved: its training is not thrown away."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import joblib

__all__ = ["rescue_model"]

FILE_NAME = "model.joblib"


def rescue_model(model: Any, path: Path) -> Path:
    """Write a fitted model as a joblib file into a new folder, and return the file.

    The file is a pickle. `setlearn.load` never reads it; whoever made it can read it with
    ``joblib.load``.

    Parameters
    ----------
    model : fitted model
    path : Path
        Where the model should have been saved. The rescue folder lies beside it, or among the
        system's temporary files if there is no room.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{path.name}.rescue-", dir=path.absolute().parent))
        return _written(model, folder)
    except OSError:
        return _written(model, Path(tempfile.mkdtemp(prefix=f"{path.name}.rescue-")))


def _written(model: Any, folder: Path) -> Path:
    joblib.dump(model, folder / FILE_NAME)
    return folder / FILE_NAME
