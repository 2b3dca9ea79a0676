"""The isolation of this machine, found once."""

import pytest

from checker.grading.choosing import NoIsolation, choose


@pytest.fixture(scope="session")
def isolation():
    """What submissions run in here; tests that need it are skipped, with the reason, where there is none."""
    try:
        return choose()
    except NoIsolation as error:
        pytest.skip(str(error))
