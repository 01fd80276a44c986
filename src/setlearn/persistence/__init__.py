"""Models on disk: a folder without any code in it, written completely and checked when read."""

from setlearn.persistence.folder import check_place
from setlearn.persistence.models import (
    SavedModel,
    check_can_save,
    load,
    read_model,
    rescue_model,
    save,
)

__all__ = [
    "SavedModel",
    "check_can_save",
    "check_place",
    "load",
    "read_model",
    "rescue_model",
    "save",
]
