"""Models on disk: a folder without any code in it, written whole and checked before it is used."""

from setlearn.persistence.folder import check_place
from setlearn.persistence.models import SavedModel, load, read_model, save

__all__ = ["SavedModel", "check_place", "load", "read_model", "save"]
