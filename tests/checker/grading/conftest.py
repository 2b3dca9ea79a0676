"""The isolation of this machine, found once."""

import pytest

from checker.grading.box.selection import NoIsolation, choose


@pytest.fixture(scope="session")
def isolation():
    """The isolation that submissions run in here. Where there is none, tests that need it are skipped, with the reason."""
    try:
        return choose()
    except NoIsolation as error:
        pytest.skip(f"no isolation works here: {error}")
