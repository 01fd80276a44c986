"""A Ray and models that the tests of a file share."""

import pytest

from tests.scale.models import KINDS, save_model


@pytest.fixture(scope="module")
def ray():
    """A local Ray with two workers, to which this process stays connected."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    from setlearn.scale.runtime import ray_session

    with ray_session(workers=2) as session:
        yield session


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A saved model of each kind."""
    folder = tmp_path_factory.mktemp("models")
    return {kind: save_model(kind, folder / kind) for kind in KINDS}
