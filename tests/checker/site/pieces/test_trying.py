"""The page "Try it": its still, and what it loads where the model was made."""

import json
import re
from importlib.util import find_spec

import pytest

from checker.pages.templates import HERE, style
from checker.reading.notebook import Unreadable
from checker.site.pieces import trying


def test_the_model_can_be_loaded_where_it_was_made(project):
    """Catches a button without a model, megabytes that are bytes, and a still of another question."""
    shown = trying.still(project, [])
    assert "Load the model (1 MB)" in shown and "makes it" not in shown and style("try.css") in shown
    record = json.loads((project / "benchmarks" / "watch.json").read_text(encoding="utf-8"))
    question, answer = (record["prompts"][2][name] for name in ("prompt", "answer"))
    row = question.split("\n")[0]
    assert f"{row}</code> Right is <b data-answer>{answer}</b>" in shown and f'value="{row.split(": ")[1]}"' in shown


@pytest.mark.parametrize("missing", trying.LOADED)
def test_half_of_a_model_is_none(project, missing):
    """Catches a page that begins to load and ends at a file that is not there."""
    (project / "build" / "try" / missing).unlink()
    assert trying.made(project) == []
    shown = trying.still(project, [])
    (command,) = re.findall("<code>python -m (.*?)</code> makes it", shown)
    assert "Load the model" not in shown and find_spec(f"{command}.__main__") is not None


def test_what_the_page_loads_is_what_its_script_asks_for(project, tmp_path):
    """Catches a file that the script looks for under another name or elsewhere, and a second build that fails."""
    for _ in range(2):
        trying.put_beside(tmp_path / "site" / "docs" / "try.qmd", project)
    files = {file.name: file.read_bytes() for file in (tmp_path / "site" / "docs" / "try").iterdir()}
    assert files == {file.name: file.read_bytes() for file in (project / "build" / "try").iterdir()}
    script = (HERE / "try.js").read_text(encoding="utf-8")
    assert set(files) == {*re.findall(r'beside\("([^"]+)"\)', script), "before.onnx", "after.onnx"}
    assert "`try/${name}`" in script and "`${name}.onnx`" in script


def test_without_a_model_nothing_lies_beside_the_page(tmp_path):
    """Catches half of what the page loads."""
    trying.put_beside(tmp_path / "docs" / "try.qmd", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_is_missing_is_told(tmp_path):
    """Catches the command of the model where the record of the still is what is missing."""
    with pytest.raises(Unreadable, match=r"`python -m benchmarks\.watch`"):
        trying.still(tmp_path, [])
