"""The committed table: files that were not run again keep their rows, with the version that they are of."""

import json

from tests.mutants.report import HEAD, read_report, write_report

FILES = ["shared/kl.py", "shared/losses.py", "shared/ppo.py"]
EQUIVALENT = "exact_kl: difference = x.masked_fill(forbidden, 0.0)  ->  difference = x.masked_fill(forbidden, 1.0)"


def result(folder, name: str, version: str, caught: dict[str, bool], finished: bool = True, whole: int = 0) -> None:
    found = {"version": version * 40, "date": "2026-01-02", "commit": "1234567", "finished": finished, "caught": caught}
    (folder / f"shared-{name}.json").write_text(json.dumps(found | {"of": whole or len(caught)}))


def test_a_run_of_one_file_leaves_the_others_as_they_were(tmp_path):
    """Catches a table that holds the last file alone, and a row that seems to be of today's code."""
    report = tmp_path / "report.md"
    result(tmp_path, "kl.py", "a", {"one": True, EQUIVALENT: False})
    result(tmp_path, "losses.py", "b", {"two": True, "three": False, "four": True})
    result(tmp_path, "ppo.py", "d", {"lost": False})
    write_report(tmp_path, FILES, report)
    for name in ("kl.py", "ppo.py"):
        (tmp_path / f"shared-{name}.json").unlink()
    result(tmp_path, "losses.py", "c", {"two": True, "three": True})
    write_report(tmp_path, FILES, report)
    rows, sections = read_report(report.read_text())
    assert report.read_text().startswith(HEAD)
    assert rows == {
        "shared/kl.py": "| shared/kl.py | aaaaaaa | 2026-01-02 | 1234567 | 2 | 1 | 1 | 0 | 100.0 % |",
        "shared/losses.py": "| shared/losses.py | ccccccc | 2026-01-02 | 1234567 | 2 | 2 | 0 | 0 | 100.0 % |",
        "shared/ppo.py": "| shared/ppo.py | ddddddd | 2026-01-02 | 1234567 | 1 | 0 | 0 | 1 | 0.0 % |",
    }
    assert sections == {"shared/ppo.py": "## shared/ppo.py\n\n- survived: `lost`\n"}


def test_what_survived_is_named_and_lowers_the_share(tmp_path):
    result(tmp_path, "ppo.py", "d", {"caught": True, "lost": False, "also lost": False, "fine": True})
    write_report(tmp_path, FILES, tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text()
    assert "| shared/ppo.py | ddddddd | 2026-01-02 | 1234567 | 4 | 2 | 0 | 2 | 50.0 % |" in text
    assert "## shared/ppo.py\n\n- survived: `lost`\n- survived: `also lost`\n" in text


def test_a_sample_says_of_how_many_it_is(tmp_path):
    """Catches a file that seems to be tried whole."""
    result(tmp_path, "kl.py", "a", {"one": True, "two": True}, whole=312)
    write_report(tmp_path, FILES, tmp_path / "report.md")
    assert "| 1234567 | 2 of 312 | 2 | 0 | 0 | 100.0 % |" in (tmp_path / "report.md").read_text()


def test_a_run_that_was_broken_off_is_in_no_table(tmp_path):
    """Catches mutants called survivors that most of the tests were never tried on."""
    report = tmp_path / "report.md"
    result(tmp_path, "kl.py", "a", {"one": True})
    write_report(tmp_path, FILES, report)
    before = report.read_text()
    result(tmp_path, "kl.py", "b", {"one": False}, finished=False)
    write_report(tmp_path, FILES, report)
    assert report.read_text() == before


def test_a_file_in_which_nothing_can_be_changed_has_no_row(tmp_path):
    """Catches a package's empty file with a share of 0 %."""
    result(tmp_path, "kl.py", "a", {})
    result(tmp_path, "losses.py", "b", {"one": True})
    write_report(tmp_path, FILES, tmp_path / "report.md")
    assert read_report((tmp_path / "report.md").read_text())[0].keys() == {"shared/losses.py"}


def test_a_file_of_equivalent_ones_alone_has_no_share(tmp_path):
    result(tmp_path, "kl.py", "a", {EQUIVALENT: False})
    write_report(tmp_path, FILES, tmp_path / "report.md")
    assert "| 1 | 0 | 1 | 0 | – |" in (tmp_path / "report.md").read_text()
