"""The files that describe the project to others: they agree with each other, with the one setting and with the README."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from checker.reading.website import website

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
SITE = website(ROOT)


def attribute(name: str, path: str) -> str:
    """The attribute that .gitattributes gives a file."""
    done = subprocess.run(["git", "check-attr", name, "--", path], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.rpartition(": ")[2].strip()


def test_the_authors_and_keywords_are_the_same_in_both_places():
    assert [author["name"] for author in PROJECT["authors"]] == [author["name"] for author in CITATION["authors"]]
    assert PROJECT["keywords"] == CITATION["keywords"]


def test_the_addresses_are_those_of_the_one_setting():
    """Catches an address that was changed in `_quarto.yml` alone, and one that was made up before there is any."""
    expected = {"Homepage": SITE.address, "Source": SITE.repository}
    assert PROJECT.get("urls", {}) == {name: address for name, address in expected.items() if address}
    assert CITATION.get("url", "") == SITE.address
    assert CITATION.get("repository-code", "") == SITE.repository


def test_the_citation_has_one_licence_and_the_date_of_its_version():
    """Catches a list of licences, which archives refuse, and a date that the changes do not have."""
    assert CITATION["license"] == PROJECT["license"] == "MIT"
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {CITATION['version'].partition('.dev')[0]} ({CITATION['date-released']})\n" in changes


def test_each_version_is_told_on_one_screen():
    """Catches a release whose readers have to find out themselves what matters."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = changes.split("\n## ")[1]
    assert "### In short\n" in newest and "### Who upgrades\n" in newest
    assert all(len(version.splitlines()) <= 50 for version in changes.split("\n## ")[1:])


def test_every_extra_is_in_the_documented_list():
    rows = re.findall(r"(?m)^\| `(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    extras = list(PROJECT["optional-dependencies"])
    assert [row for row in rows if row in extras] == extras


def test_no_classifier_claims_a_system_on_which_nothing_was_run():
    """Catches the classifiers of a template. A system or version is added when the workflow was green on it."""
    claimed = {line for line in PROJECT["classifiers"] if line.startswith(("Operating System", "Programming Language"))}
    assert claimed == {
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.13",
    }


def test_the_workflow_calls_what_the_readme_says():
    """Catches a workflow that tests another way to set up than the one people are told."""
    text = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    assert job["strategy"]["matrix"]["system"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    setup, test, lint = [step["run"] for step in job["steps"] if "run" in step]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert setup == "python -m checker setup --tests" and "\npython -m checker setup  # --torch cuda, --tests" in (
        re.sub(r" +#", "  #", readme)
    )
    assert test in readme.splitlines()
    assert lint.removeprefix("make ") in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_issue_template_is_a_form():
    """Catches a form that GitHub leaves out in silence: a field without an id or a label."""
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/wrong_check.yml").read_text(encoding="utf-8"))
    assert form["name"] and form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) == 6
    assert all(field["attributes"]["label"] for field in fields)


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("notebooks/dots.ipynb", "eol", "lf"),
        ("shared/kl.py", "eol", "lf"),
        ("models/course-lm/model.safetensors", "text", "unset"),
        ("benchmarks/learning.png", "text", "unset"),
        ("notebooks/student/dots.ipynb", "linguist-generated", "set"),
        ("notebooks/dots.ipynb", "linguist-generated", "unspecified"),
        ("constraints.txt", "linguist-generated", "set"),
    ],
)
def test_git_knows_what_is_text_and_what_is_generated(path, name, value):
    """Catches line ends of Windows in a file whose hash counts, and a damaged model."""
    assert (ROOT / path).is_file() and attribute(name, path) == value


def test_every_link_of_the_security_page_leads_somewhere():
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    assert links and all((ROOT / link).is_file() for link in links)
