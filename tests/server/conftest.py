"""What the tests of the server share."""

import contextlib
import os
import shutil

import pytest

from tests.server import playground_models, small_models
from tests.server.live_server import running
from tests.server.playground_models import PLAIN_HOST, TOKEN
from tests.server.small_models import SavedModels


def named(models):
    """Models as arguments of ``setlearn serve``."""
    return [f"{name}={folder}" for name, folder in models.items()]


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    """A folder that all processes of pytest-xdist share."""
    folder = tmp_path_factory.getbasetemp()
    is_one_of_several = "PYTEST_XDIST_WORKER" in os.environ
    return (folder.parent if is_one_of_several else folder) / "served-models"


@pytest.fixture(scope="session")
def small_model_folders(model_folder):
    """The folders of models of every kind, by name."""
    return SavedModels(small_models.SAVERS, model_folder)


@pytest.fixture(scope="session")
def live(small_model_folders):
    """A server of all these models, with default limits."""
    with running(*named(small_model_folders)) as server:
        yield server


@pytest.fixture(scope="session")
def playground_server(model_folder):
    """The address of a server that asks for a token, with the models of the playground tests."""
    models = SavedModels(playground_models.SAVERS, model_folder)
    options = ("--workers", 1, "--allow-host", PLAIN_HOST)
    with running(*named(models), *options, SETLEARN_TOKEN=TOKEN, COLUMNS="200") as server:
        yield f"{server.address}/"


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox", f"--host-resolver-rules=MAP {PLAIN_HOST} 127.0.0.1"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


def complaints_in(message, knows_token):
    """The errors in a console message; a browser also logs each refused request."""
    is_refusal = not knows_token and "401" in message.text
    return [message.text] if message.type == "error" and not is_refusal else []


@pytest.fixture
def new_page(browser, playground_server):
    """Opens pages, each in a fresh browser context; none may report an error."""
    complaints = []
    with contextlib.ExitStack() as contexts:

        def open_page(address=playground_server, *, knows_token=True, **options):
            if knows_token:  # like a proxy that adds the token for its users
                options["extra_http_headers"] = {"Authorization": f"Bearer {TOKEN}"}
            context = contexts.enter_context(browser.new_context(**options))
            page = context.new_page()
            page.set_default_timeout(8000)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: (complaints.append("a dialog"), dialog.dismiss()))
            page.on(
                "console", lambda message: complaints.extend(complaints_in(message, knows_token))
            )
            page.goto(address)
            page.locator("#sentence, #token").filter(visible=True).wait_for()
            return page

        yield open_page
    assert complaints == []


@pytest.fixture
def page(new_page):
    return new_page()
