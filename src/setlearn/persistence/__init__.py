"""Models on disk: a folder without any code in it, written whole and checked before it is used."""

from setlearn.persistence.folder import check_place
from setlearn.persistence.models import SavedModel, check_can_save, load, read_model, save
from setlearn.persistence.rescue import rescue_model

__all__ = [
    "SavedModel",
    "check_can_save",
    "check_place",
    "load",
    "read_model",
    "rescue_model",
    "save",
]
