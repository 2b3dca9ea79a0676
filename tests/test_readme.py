"""The README: its one command, its links and its map are true."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from checker.outputs.claims import header_of
from checker.reading.notebook import read
from checker.reading.website import website
from shared.models import load_policy

ROOT = Path(__file__).parents[1]
NUMBERS = ("no", "one", "two", "three", "four", "five")
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_SCREEN = README.partition("\n## ")[0]


def clone_line(repository: str) -> str:
    """The line of the README that gets the course, where its address is set and where it is not."""
    return (
        f"git clone {repository} course && cd course" if repository else "# clone this repository; then, in its folder:"
    )


def test_the_first_screen_has_one_command_behind_the_clone():
    """Catches two commands that both want to be first, and a README that does not know the address in `_quarto.yml`."""
    (commands,) = re.findall(r"```bash\n(.*?)```", FIRST_SCREEN, re.DOTALL)
    clone, command = commands.splitlines()
    assert clone == clone_line(website(ROOT).repository)
    assert command.startswith("make report ")


def test_who_wants_to_learn_is_not_sent_to_the_answers_first():
    """Catches the one file with the answers of dots named before the course, or without a word of them."""
    links = re.findall(r"(?<!!)\[[^]]*\]\(([^)]+)\)", README)
    assert links.index("#for-students") < links.index("shared/plain.py")
    assert re.search(r"shared/plain\.py\).*\banswers to\s+dots", README)
    assert {"docs/start.qmd", "docs/troubleshooting.qmd"} <= set(links)


def test_every_link_leads_somewhere():
    """Catches a file that was moved, and a heading that was renamed."""
    headings = {heading.lower().replace(",", "").replace(" ", "-") for heading in re.findall(r"(?m)^#+ (.+)$", README)}
    for link in re.findall(r"\]\(([^)]+)\)", README):
        if link.startswith("#"):
            assert link[1:] in headings, link
        elif not link.startswith("https://"):
            assert (ROOT / link.partition("#")[0]).exists(), link


def test_a_model_is_kept_by_the_lines_that_are_shown(tmp_path, monkeypatch):
    """Catches an example that fails on what the first notebook leaves behind."""
    (lines,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    notebook = "\n".join(cell.source for cell in read(ROOT / "notebooks" / "dots.ipynb").cells)
    monkeypatch.chdir(tmp_path)
    model, tokenizer = load_policy(device="cpu")
    left = {"model": model, "tokenizer": tokenizer, "load_policy": load_policy}
    left["greedy"] = [SimpleNamespace(mean=0.0), SimpleNamespace(mean=1.0)]  # before and after
    assert all(re.search(rf"(?m)\b{name}\b.* = |import .*\b{name}\b", notebook) for name in left)
    exec(lines, left)
    assert left["model"] is not model
    assert "fine-tuned | 1" in (tmp_path / "build" / "my-dots" / "README.md").read_text(encoding="utf-8")


def test_the_first_screen_names_the_chapters_that_need_a_model():
    """Catches "it needs no network" above a chapter whose header names a model, and a minute where that says four."""
    headers = {path.stem: header_of(read(path))["course"] for path in (ROOT / "notebooks").glob("*.ipynb")}
    needing = {name: course for name, course in headers.items() if "needs" in course}
    assert needing
    said = " ".join(FIRST_SCREEN.split())
    for name, course in needing.items():
        assert f"Only {name} takes {NUMBERS[int(course['minutes'])]} minutes and a real model, which" in said
        assert f"`make {course['needs']}`" in said


def test_the_map_names_every_file_of_shared():
    """Catches a new file that a reader of the map never hears of, and one that is gone."""
    _, _, below = README.partition("\nshared/ ")
    part = below.partition("\nchecker/")[0]
    named = re.findall(r"(?<![\w.])\w+(?:\.py|/)", part)
    files = {path.name for path in (ROOT / "shared").glob("*.py")} - {"__init__.py"}
    folders = {f"{path.parent.name}/" for path in (ROOT / "shared").glob("*/__init__.py")}
    assert sorted(named) == sorted(files | folders)


def test_the_ratios_of_time_to_quality_are_those_that_were_measured():
    """Catches a benchmark that is run again and quoted in one place of three."""
    measured = {}
    for line in (ROOT / "benchmarks" / "quality.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 8 and cells[1] == "1":
            measured[cells[0], cells[2]] = float(cells[5].split()[0]), cells[7]
    told = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    tasks = {"dots, 0.95": "dots", "poker, 0.75": "poker", "analogies, 0.80": "analogies", "format, 0.95": "format"}
    for goal, task in tasks.items():
        line = next(line for line in README.splitlines() if line.startswith(f"| {task}") and goal[-4:] in line)
        *seconds, over_trl, over_loop = [cell.strip() for cell in line.strip("|").split("|")][1:]
        ours, trl, loop = (measured[goal, name] for name in ("ours", "TRL tuned", "plain loop, one call"))
        assert [over_trl, over_loop] == [trl[1], loop[1]]
        assert [float(one) for one in seconds] == pytest.approx([ours[0], trl[0], loop[0]], abs=0.051)
        assert f"{task} {trl[1].split()[0]}" in " ".join(told.split())
