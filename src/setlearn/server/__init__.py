"""An HTTP server for models: an API for programs, and a page that shows how a set is built."""

from __future__ import annotations

from collections.abc import Callable

from setlearn.errors import ParameterError
from setlearn.server.settings import Limits, Settings

__all__ = ["Limits", "Settings", "serve"]


def serve(settings: Settings, on_ready: Callable[[str], None]) -> None:
    """Serve models until the process gets SIGTERM or Ctrl-C.

    Requests that are already running are answered before the server stops.

    Parameters
    ----------
    settings : Settings
        Which models, at which address, with which limits. Port 0 takes any free port.
    on_ready : callable
        Called with the address of the server once it accepts requests.

    Raises
    ------
    ParameterError
        If the packages of the extra are missing, or the address cannot be used.
    ModelError
        If a model cannot be loaded.
    """
    try:
        from setlearn.server.app import run
    except ImportError as error:
        raise ParameterError(
            f"the server needs packages that are not installed ({error.name}); "
            "pip install 'setlearn[server]'"
        ) from error
    run(settings, on_ready)
