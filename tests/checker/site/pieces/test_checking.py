"""The page "Check your notebook": what it says and loads, with Python for the browser and without."""

import re
import zipfile
from importlib.util import find_spec

from checker.pages.templates import HERE, style
from checker.site.loaded import pyodide
from checker.site.pieces import checking


def test_the_page_says_how_much_it_loads(project):
    """Catches a form on a page that cannot check, and megabytes that are bytes."""
    shown = checking.place(project, [])
    assert "1 MB are loaded" in shown and "<form" in shown and style("check.css") in shown
    assert 10 <= int(shown.partition('data-seconds="')[2].partition('"')[0]) <= 120


def test_a_page_without_python_says_how_to_get_it(tmp_path):
    """Catches a form that does nothing where the site was built without Python for the browser."""
    shown = checking.place(tmp_path, [])
    (command,) = re.findall("<code>python -m (.*?)</code>", shown)
    assert "<form" not in shown and find_spec(command).origin == pyodide.__file__


def test_what_the_page_loads_lies_beside_it(project, tmp_path):
    """Catches a page whose worker, checker or Python is not where it looks for them."""
    page = tmp_path / "site" / "docs" / "check.qmd"
    page.parent.mkdir(parents=True)
    checking.put_beside(page, project)
    folder = page.parent / "check"
    assert "check/worker.js" in (HERE / "check.js").read_text(encoding="utf-8")
    assert {file.name for file in folder.iterdir()} == {"worker.js", "checker.zip", *pyodide.PACKAGE.files}
    assert (folder / "worker.js").read_bytes() == (HERE / "check_worker.js").read_bytes()
    assert "checker.zip" in (folder / "worker.js").read_text(encoding="utf-8")
    assert "checker/checking/check.py" in zipfile.ZipFile(folder / "checker.zip").namelist()
    made = project / "build" / "pyodide"
    assert all((folder / name).read_bytes() == (made / name).read_bytes() for name in pyodide.PACKAGE.files)


def test_without_python_nothing_lies_beside_the_page(tmp_path):
    """Catches half of what the page loads."""
    checking.put_beside(tmp_path / "docs" / "check.qmd", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_policy_lets_the_page_speak_to_its_own_site_alone():
    """Catches a page that may send a notebook somewhere, or one that may not load what it needs."""
    rules = {words[0]: words[1:] for words in map(str.split, checking.POLICY.split(";"))}
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == ["'none'"]
    assert rules["connect-src"] == ["'self'"] and rules["worker-src"] == ["blob:"]
    allowed = {word for words in rules.values() for word in words}
    assert allowed <= {"'none'", "'self'", "data:", "blob:", "'unsafe-inline'", "'wasm-unsafe-eval'"}
    assert "'wasm-unsafe-eval'" in rules["script-src"] and "data:" in rules["font-src"] and "data:" in rules["img-src"]
    assert {"'self'", "'unsafe-inline'"} <= set(rules["style-src"])
