"""The reference: what notebooks import from `shared`, as its docstrings and signatures say it."""

import re
import sys
from html import unescape
from pathlib import Path

import pytest

from checker.pages.templates import style
from checker.reading.notebook import read
from checker.site.pieces import interface
from tests.checker.conftest import code

LONG = "a_name_that_is_long: dict[str, list[int]], another_one: float = 0.5, "
MODULE = f'''"""The `kl` between two.

    raise SystemExit
"""

from shared.other import borrowed

raise SystemExit("The reference is read and not run.")


def first(x: int, /, y: "str" = "a", *, z=None) -> float:
    """Do *this*.

    Args:
        x: `one`.
        y: two

    Returns:
        A number.
        And more: of it.

    Raises:
        ValueError: it is none.
    """


def long({LONG}*rest: int, key: bool = True, **more: str) -> list[str]:
    """Do that."""


def starred({LONG}*, key: bool = True, other_key: bool = False) -> None:
    """Do that."""


def unsaid({LONG}yet_another=None, and_one_more=None):
    """Do that."""


class Kept:
    """A record.

    Attributes:
        one: its number
    """

    def method(self):
        """Not listed."""


def _private():
    """Not listed."""


def silent():
    pass


VALUE = 1
'''
PACKAGE = {
    "shared/__init__.py": "",
    "shared/kl.py": MODULE,
    "shared/other.py": '"""Other."""\n\n\ndef borrowed():\n    """Its own."""\n',
    "shared/unused.py": '"""Imported by nobody."""\n',
    "shared/packed/__init__.py": '"""Packed."""\n\nfrom shared.kl import first\nfrom shared.packed.inner import given\n',
    "shared/packed/inner.py": '"""Inner."""\n\n\ndef given():\n    """Handed on."""\n',
}
IMPORTS = (
    "from shared.kl import first\nfrom shared import other, missing\nfrom shared.packed import given\nimport torch\n"
)


@pytest.fixture
def project(tmp_path, good, save) -> Path:
    """A package and a notebook that imports from it."""
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    good["cells"] += [
        code("%magic\nfrom shared import unused"),
        code(IMPORTS + "from . import x\nfrom os.path import join"),
    ]
    save(good)
    return tmp_path


@pytest.fixture
def modules(project) -> dict[str, str]:
    """The HTML of each module of the reference."""
    html = interface.interface(project, [Path("notebook.ipynb"), Path("index.qmd")])
    assert style("api.css") in html
    return dict(re.findall(r'<section class="level2" id="([\w.]+)">(.*?)</section>', html, re.DOTALL))


def signatures(html: str) -> dict[str, str]:
    """The signature of each function by its name."""
    found = re.findall(r'<h3 id="[\w.]+">(\w+)</h3>\s*<pre class="signature">(.*?)</pre>', html, re.DOTALL)
    return {name: unescape(text) for name, text in found}


def test_the_modules_that_notebooks_import_are_listed_with_what_is_public(modules):
    """Catches a module that nobody imports, one that a notebook imports and the page lacks, and names of its inside."""
    assert list(modules) == ["shared.kl", "shared.other", "shared.packed"]
    assert list(signatures(modules["shared.kl"])) == ["first", "long", "starred", "unsaid", "Kept"]
    assert list(signatures(modules["shared.other"])) == ["borrowed"]
    assert list(signatures(modules["shared.packed"])) == ["given"]


def test_a_docstring_is_shown_with_its_lists(modules):
    """Catches arguments, results or errors that are lost or named as another, and Markdown that stays as it is."""
    html = modules["shared.kl"]
    assert html.count("<h2>shared.kl</h2>") == 1 and "<p>The <code>kl</code> between two.</p>" in html
    first, _, rest = html.partition('id="shared.kl.long"')
    assert "<p>Do <em>this</em>.</p>" in first
    lists = [
        (
            heading,
            [
                (name, re.sub("<.*?>", "", text).strip())
                for name, text in re.findall(r"<dd>(?:<code>(.*?)</code> )?(.*?)</dd>", items, re.DOTALL)
            ],
        )
        for heading, items in re.findall(r'<dt class="heading">(.*?)</dt>(.*?)</dl>', html, re.DOTALL)
    ]
    assert lists == [
        ("arguments", [("x", "one."), ("y", "two")]),
        ("returns", [("", "A number.\nAnd more: of it.")]),
        ("raises", [("ValueError", "it is none.")]),
        ("attributes", [("one", "its number")]),
    ]
    assert "<code>x</code> <p><code>one</code>.</p>" in first and "Not listed" not in rest


def test_a_short_signature_is_one_line_and_a_long_one_a_line_for_each_argument(modules):
    """Catches a star, a default or a type that is lost, and a line that a phone cannot show."""
    shown = signatures(modules["shared.kl"])
    assert shown["Kept"] == "class Kept" and "\n" not in shown["first"] and shown["first"].startswith("first(x: int, /")
    both = ["a_name_that_is_long: dict[str, list[int]]", "another_one: float = 0.5"]
    variadic = [*both, "*rest: int", "key: bool = True", "**more: str"]
    assert shown["long"] == "long(\n" + "".join(f"    {one},\n" for one in variadic) + ") -> list[str]"
    named = [*both, "*", "key: bool = True", "other_key: bool = False"]
    assert shown["starred"] == "starred(\n" + "".join(f"    {one},\n" for one in named) + ") -> None"
    plain = [*both, "yet_another = None", "and_one_more = None"]
    assert shown["unsaid"] == "unsaid(\n" + "".join(f"    {one},\n" for one in plain) + ")"


def test_what_a_notebook_imports_is_read_from_all_its_cells(project):
    """Catches a cell with a magic that hides the others, and imports of other packages."""
    found = interface.imported(read(project / "notebook.ipynb"))
    assert found == {"shared.kl.first", "shared.other", "shared.missing", "shared.packed.given"}


def test_without_griffe_the_page_says_what_is_missing(monkeypatch, tmp_path):
    """Catches a site that ends in a traceback for lack of what only its reference needs."""
    monkeypatch.setitem(sys.modules, "griffe", None)
    told = interface.interface(tmp_path, [])
    assert "The reference" in told and "<code>pip install griffe</code>" in told
