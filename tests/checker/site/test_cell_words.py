"""The words about cells on Quarto's pages: those of the built-in page. The filter runs in pandoc, which Quarto is made of.

Of Quarto itself a stand-in gives two paths and reads JSON; `test_quarto_itself.py` has the real one.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from checker.pages.cells import code_of, fold, is_exercise
from checker.reading.layout import heading_of
from checker.reading.markers import BEGIN
from checker.reading.notebook import read
from checker.reading.website import website
from checker.site import cell_words
from tests.checker.conftest import code

PROJECT = Path(__file__).parents[3]
NOTEBOOKS = [source for source in website(PROJECT).pages if source.suffix == ".ipynb"]
QUARTO = """
quarto = {{
  doc = {{ input_file = {notebook} }},
  project = {{ directory = {folder} }},
  json = {{ decode = function(text) return load("return " .. text)() end }},
}}
"""


def as_lua(value) -> str:
    """A text or a dict as Lua writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{as_lua(name)}] = {as_lua(item)}" for name, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def through(filters: str, markdown: str, given: str, folder: Path) -> list[dict]:
    """The blocks that pandoc makes of a text by filters that `site/sections.lua` defines; `given` stands before them."""
    lua = folder / "sections.lua"
    text = (PROJECT / "site" / "sections.lua").read_text(encoding="utf-8")
    lua.write_text(f"{given}{text.partition(chr(10) + 'return {')[0]}\nreturn {filters}\n", encoding="utf-8")
    command = ["pandoc", "-f", "markdown", "-t", "json", "--lua-filter", str(lua)]
    done = subprocess.run(command, input=markdown, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["blocks"]


def filtered(source: Path, folder: Path) -> tuple[list[tuple[str, str]], list[tuple[str, str | None]]]:
    """The headings with their places, and the titles and states of folds, that the filter makes of code cells."""
    codes = [code_of(cell) for cell in read(PROJECT / source).code_cells]
    markdown = "\n".join(f"::: {{.cell}}\n``````` {{.python .cell-code}}\n{code}\n```````\n:::\n" for code in codes)
    given = QUARTO.format(notebook=as_lua(f"/elsewhere/{source.name}"), folder=as_lua(str(folder)))
    # Only the filters of cells: the last one of the file reads the notebook itself, for Cell 0.
    blocks = through("{ { Div = cell } }", markdown, given, folder)
    cells = [block["c"][1] for block in blocks if block["t"] == "Div"]
    attributes = [dict(code["c"][0][2]) for (code, *_) in cells]
    folds = [(one.get("code-summary"), one.get("code-fold")) for one in attributes]
    headings = [block["c"] for block in blocks if block["t"] == "Header"]
    said = [" ".join("".join(part.get("c", " ") for part in inlines).split()) for _, _, inlines in headings]
    return list(zip(said, [attributes[0] for _, attributes, _ in headings], strict=True)), folds


@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda source: source.stem)
def test_quarto_says_of_a_cell_what_the_built_in_page_says(source, tmp_path, monkeypatch):
    """Catches a filter that knows the first lines of a cell otherwise than the table has them, and a table that is unread."""
    if shutil.which("pandoc") is None:
        pytest.skip("no pandoc is installed")
    monkeypatch.setattr(cell_words, "as_text", as_lua)
    cell_words.write_for_quarto(PROJECT, [source], tmp_path)
    headings, folds = filtered(source, tmp_path)
    cells = list(read(PROJECT / source).code_cells)
    assert folds == [(fold(cell), "show" if is_exercise(cell) else None) for cell in cells]
    assert any(is_exercise(cell) for cell in cells)
    assert [heading for heading, _ in headings] == [heading_of(cell) for cell in cells if heading_of(cell)]
    assert [place for _, place in headings] == [f"section-{heading[5]}" for heading, _ in headings]


@pytest.mark.parametrize(("bold", "stays"), [('It\'s "A title"', False), ("Another", True)])
def test_quarto_says_a_title_once(tmp_path, bold, stays):
    """Catches the title as heading and again in bold, where a notebook says it for Jupyter; other bold words stay."""
    if shutil.which("pandoc") is None:
        pytest.skip("no pandoc is installed")
    page = f"---\ntitle: 'It''s \"A title\"'\n---\n\n::: {{.cell}}\n**{bold}**\n\nText.\n:::\n"
    (cell,) = through("{ { Pandoc = without_its_title } }", page, "", tmp_path)
    assert len(cell["c"][1]) == 1 + stays


def test_a_cell_is_known_by_its_first_two_lines():
    """Catches a key that the filter does not look up: it leaves blank lines and blanks around a line out."""
    assert (
        cell_words.first_lines("\n  # Cell 4: Reward \n\n\tdef reward():\n    return 1\n")
        == "# Cell 4: Reward\ndef reward():"
    )
    assert cell_words.first_lines("x = 1") == "x = 1" and cell_words.first_lines("") == ""


def test_the_words_of_a_cell_are_those_that_the_filter_asks_for(good, save):
    """Catches a word that is written under a name which the filter does not read, and a solution that is folded."""
    sources = ("#| label: fig-a\n# Cell 4: Reward function\n# one point\nx = 1", f"x = 2\n{BEGIN}\n", "# what follows")
    good["cells"] = [code(source) for source in sources]
    table = cell_words.words_of_cells(read(save(good)))
    asked = (PROJECT / "site" / "sections.lua").read_text(encoding="utf-8")
    assert all(f"said.{name}" in asked for words in table.values() for name in words)
    first, exercise, last = table.values()
    assert list(table)[0] == "# Cell 4: Reward function\n# one point" and list(table)[2] == "# what follows"
    place = {"heading": "Cell 4: Reward function", "place": "section-4"}
    assert first == {"fold": "Code: one point", "picture": "Figure: Reward function"} | place
    assert exercise == {"fold": "Code", "picture": "Figure: output of a cell", "code": "show"}
    assert last["fold"] == "Code: what follows" and set(last) == {"fold", "picture"}


def test_the_tables_lie_in_the_projects_own_folder_as_utf_8(good, save, tmp_path):
    """Catches words that Quarto shows as signs, and a table where the filter does not look."""
    good["cells"] = [code("# Cell 4: größer")]
    save(good)
    cell_words.write_for_quarto(tmp_path, [Path("notebook.ipynb"), Path("index.qmd")])
    asked = (PROJECT / "site" / "sections.lua").read_text(encoding="utf-8")
    assert '"/build/cells/" .. name .. ".json"' in asked
    (written,) = (tmp_path / "build" / "cells").iterdir()
    text = written.read_text(encoding="utf-8")
    assert written.name == "notebook.json" and '"Cell 4: größer"' in text and text.endswith("}\n")
    assert list(json.loads(text)) == ["# Cell 4: größer"]


def test_the_table_is_json_by_the_first_two_lines(tmp_path):
    """Catches a table that is keyed by options, or that forgets what a cell goes on with."""
    cell_words.write_for_quarto(PROJECT, [Path("notebooks/dots.ipynb"), Path("index.qmd")], tmp_path)
    (path,) = (tmp_path / "build" / "cells").iterdir()
    table = json.loads(path.read_text(encoding="utf-8"))
    (reward,) = (words for first, words in table.items() if first.startswith("# Cell 4"))
    assert path.name == "dots.json" and reward["heading"].startswith("Cell 4: ") and reward["place"] == "section-4"
    assert not any(first.startswith("#|") for first in table)
    assert any("heading" not in words for words in table.values())
