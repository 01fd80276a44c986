"""Models over HTTP: an API for programs, and a page on which people see a set being generated."""

from setlearn.server.settings import Limits, Settings

__all__ = ["Limits", "Settings"]
