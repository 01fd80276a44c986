"""What tests of the server share."""

import contextlib
import shutil
from typing import NamedTuple

import pytest

from tests.server.playground import TOKEN, save_models, serving


class Servers(NamedTuple):
    """Addresses: of a server that is open to all, and of one that asks for a token."""

    open: str
    closed: str


@pytest.fixture(scope="session")
def playground_server(tmp_path_factory):
    models = save_models(tmp_path_factory.mktemp("playground"))
    with serving(models) as open_to_all, serving(models, TOKEN) as closed:
        yield Servers(open_to_all(), closed())


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def new_page(browser, playground_server):
    """Opens pages, each in a browser that knows nothing yet; none may complain in the end."""
    complaints = []
    with contextlib.ExitStack() as contexts:

        def open_page(address=playground_server.open, **options):
            context = contexts.enter_context(browser.new_context(**options))
            page = context.new_page()
            page.set_default_timeout(8000)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: (complaints.append("a dialog"), dialog.dismiss()))
            page.on(
                "console",
                lambda said: complaints.append(said.text) if said.type == "error" else None,
            )
            page.goto(address)
            page.wait_for_load_state("networkidle")
            return page

        open_page.complaints = complaints
        yield open_page
    assert complaints == []


@pytest.fixture
def page(new_page):
    return new_page()
