"""What tests of the server share."""

import contextlib
import shutil

import pytest

from tests.server import small_models
from tests.server.live_server import running
from tests.server.playground import PLAIN_HOST, TOKEN, save_models, serving


@pytest.fixture(scope="session")
def playground_server(tmp_path_factory):
    """The address of a server with two models."""
    folder = tmp_path_factory.mktemp("playground")
    with serving(save_models(folder), folder / "server.log") as address:
        yield address


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


def complaint_of(said, knows_token):
    """What a console message complains of; a browser notes each refused request by itself."""
    is_refusal = not knows_token and "401" in said.text
    return [said.text] if said.type == "error" and not is_refusal else []


@pytest.fixture
def new_page(browser, playground_server):
    """Opens pages, each in a browser that knows nothing yet; none may complain in the end."""
    complaints = []
    with contextlib.ExitStack() as contexts:

        def open_page(address=playground_server, *, knows_token=True, **options):
            if knows_token:  # as a proxy does that lets its users in
                options["extra_http_headers"] = {"Authorization": f"Bearer {TOKEN}"}
            context = contexts.enter_context(browser.new_context(**options))
            page = context.new_page()
            page.set_default_timeout(8000)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: (complaints.append("a dialog"), dialog.dismiss()))
            page.on("console", lambda said: complaints.extend(complaint_of(said, knows_token)))
            page.goto(address)
            page.locator("#sentence, #token").filter(visible=True).wait_for()
            return page

        yield open_page
    assert complaints == []


@pytest.fixture
def page(new_page):
    return new_page()


@pytest.fixture(scope="session")
def small_model_folders(tmp_path_factory):
    """By name the folders of models of every kind."""
    return small_models.save_models(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def live(small_model_folders):
    """A server of all these models, with the limits that it has by default."""
    with running(*(f"{name}={folder}" for name, folder in small_model_folders.items())) as server:
        yield server
