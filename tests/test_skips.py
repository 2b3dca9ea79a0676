"""A skip fails unless the list has it: tried on small test files, and on the list itself."""

from pathlib import Path

import pytest

from tests import skips

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[1]


@pytest.fixture
def outcomes(pytester, monkeypatch):
    """The outcomes of the tests in a text when the list allows one skip."""
    monkeypatch.setattr(skips, "ALLOWED", (skips.Allowed("*::test_of_*", "no * here", "for this test"),))

    def run(text: str) -> tuple[dict[str, int], str]:
        pytester.makepyfile(text)
        result = pytester.runpytest_inprocess("-p", "no:xdist", plugins=[skips])
        return result.parseoutcomes(), result.stdout.str()

    return run


def test_a_skip_that_is_not_in_the_list_fails_and_says_what_to_do(outcomes):
    """Catches a test that has not run for months because a package has another name now."""
    ended, said = outcomes(
        """
        import pytest
        def test_of_a_browser():
            pytest.skip("no time here today")
        """
    )
    assert ended == {"failed": 1}
    assert "is skipped (no time here today), and tests/skips.py does not allow that" in said.replace("\n", " ")


@pytest.mark.parametrize(
    "how",
    [
        'def test_other():\n    pytest.skip("no browser here")',
        '@pytest.mark.skip(reason="no browser here")\ndef test_other():\n    pass',
        '@pytest.mark.skipif(True, reason="no browser here")\ndef test_other():\n    pass',
        'def test_other():\n    pytest.importorskip("no_such_package")',
        '@pytest.fixture\ndef other():\n    pytest.skip("no browser here")\ndef test_other(other):\n    pass',
    ],
)
def test_the_right_reason_does_not_excuse_another_test(outcomes, how):
    """In each of the ways in which a test is skipped: within it, by a mark, by an import, by a fixture."""
    ended, _ = outcomes("import pytest\n" + how)
    assert "skipped" not in ended and ended.keys() <= {"failed", "errors"}


def test_a_skip_in_the_list_is_a_skip(outcomes):
    ended, _ = outcomes('import pytest\ndef test_of_a_browser():\n    pytest.skip("no browser here")')
    assert ended == {"skipped": 1}


def test_a_file_that_is_skipped_as_a_whole_is_an_error(outcomes):
    """Such a file has no tests that could fail: it would only be missing."""
    ended, said = outcomes('import pytest\npytest.importorskip("no_such_package")\ndef test_of_it():\n    pass')
    assert ended == {"errors": 1} and "does not allow" in said


def test_what_is_expected_to_fail_is_no_skip(outcomes):
    ended, _ = outcomes('import pytest\n@pytest.mark.xfail(reason="known")\ndef test_other():\n    assert False')
    assert ended == {"xfailed": 1}


@pytest.mark.parametrize("allowed", skips.ALLOWED, ids=lambda allowed: allowed.says)
def test_every_entry_of_the_list_is_of_a_skip_that_stands_in_its_file(allowed):
    """Catches an entry that outlives its test, under which a new skip would go unnoticed."""
    texts = [file.read_text() for file in ROOT.glob(allowed.tests.split("::")[0]) if file.suffix == ".py"]
    said = allowed.says.strip("*")
    package = said.removeprefix("could not import ").strip("'")
    assert any(said in text or f'importorskip("{package}' in text for text in texts)  # a part of it may be imported
    assert allowed.why
