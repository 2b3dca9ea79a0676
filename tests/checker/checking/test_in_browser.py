"""The checker where nothing is installed, as in the page that checks notebooks: what it needs, what it is asked."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from checker.checking import in_browser
from checker.checking.check import check
from checker.checking.in_browser import Dropped
from checker.reading import convert
from checker.reading.notebook import notebook_of
from checker.site.loaded.bundle import PACKAGES, bundle
from tests.checker.command_line import checker
from tests.checker.conftest import GOOD, NOTEBOOKS, code, markdown

# A Python that has its standard library and what a zip holds, and nothing else.
ALONE = """
import json, sys
from pathlib import Path

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "_yaml", *sys.argv[2].split(",")}:
            raise ModuleNotFoundError(f"{name} is imported")

sys.meta_path.insert(0, Refusing())
sys.path.insert(0, sys.argv[1])
from checker.checking.in_browser import Dropped
for name in sys.argv[3:]:
    print(json.dumps(json.loads(Dropped(Path(name).name, Path(name).read_bytes()).checked(0))["report"]))
"""


def test_nothing_but_the_zip_is_needed_for_the_reports_of_the_command_line(tmp_path):
    """Catches a room that the zip lacks, a package that a rule imports on its way, and another report in the page."""
    zipfile.ZipFile(io.BytesIO(bundle())).extractall(tmp_path)
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        ALONE,
        str(tmp_path),
        ",".join(("checker", *PACKAGES)),
        *map(str, NOTEBOOKS),
    ]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    reports = [json.loads(line) for line in ran.stdout.splitlines()]
    told = json.loads(checker(*NOTEBOOKS, "--format", "json").stdout)
    assert reports == [report | {"name": Path(report["name"]).name} for report in told]


def zipped(**files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return made.getvalue()


def test_a_zip_is_listed_and_its_notebooks_are_checked_by_number():
    """Catches a broken notebook that takes the others with it, names with folders of the page's own in them."""
    dropped = Dropped("class.zip", zipped(a_ipynb=json.dumps(GOOD), b_ipynb="{", c_png="x"))
    listed = json.loads(dropped.listed())
    assert listed == {
        "names": ["class.zip:a.ipynb", "class.zip:b.ipynb"],
        "skipped": [{"name": "class.zip:c.png", "reason": "not a notebook"}],
    }
    first, second = (json.loads(dropped.checked(number)) for number in (0, 1))
    assert (first["report"]["name"], first["report"]["status"]) == ("class.zip:a.ipynb", "pass")
    assert second["report"]["status"] == "unreadable" and second["findings"][0]["code"] == "U001"
    assert second["sections"] == second["largest"] == second["results"] == second["facts"] == []


def test_what_is_no_zip_is_told():
    dropped = Dropped("class.zip", b"no zip")
    assert json.loads(dropped.listed())["names"] == ["class.zip"]
    assert json.loads(dropped.checked(0))["report"]["status"] == "unreadable"


@pytest.mark.parametrize("name", ["x.ipynb", "notebook with spaces.ipynb", "unpacked", "given", "Übung.ipynb"])
def test_a_file_keeps_its_name(name, good):
    assert json.loads(Dropped(name, json.dumps(good).encode()).listed())["names"] == [name]


def test_pictures_beside_a_notebook_are_not_missed(good, save):
    """Catches a finding about a picture that the author has, and the page cannot have."""
    good["cells"].append(markdown("![a](a.png)"))
    path = save(good)
    found = {f["code"] for f in json.loads(Dropped("x.ipynb", path.read_bytes()).checked(0))["report"]["findings"]}
    missed = {finding.code for finding in check(path).findings} - found
    assert missed == {finding.code for finding in check(path).findings if "a.png" in finding.found} != set()


def test_every_character_is_in_the_bar_of_a_section(good):
    """Catches a spilled cell that no bar counts, and bars that count more than the limit does."""
    good["cells"].insert(6, code("# what follows\nlook(1)", "seen\n"))
    told = json.loads(Dropped("x.ipynb", json.dumps(good).encode()).checked(0))
    assert [section["place"].partition(":")[0] for section in told["sections"]] == [f"Cell {n}" for n in range(9)]
    converted = convert.sections(notebook_of(good))
    between = len(converted) - 1  # line breaks
    counted = sum(section["source"] + section["output"] for section in told["sections"])
    assert counted + between == told["report"]["characters"]
    largest = [cell["source"] + cell["output"] for cell in told["largest"]]
    assert largest == sorted(largest, reverse=True) and largest[0] == max(section.characters for section in converted)


def test_findings_that_are_alike_are_told_together(good):
    """Catches twenty lines that say the same, and the places of the others lost."""
    for cell in good["cells"][2:5]:
        cell["source"] += "\nraise NotImplementedError"
    told = json.loads(Dropped("x.ipynb", json.dumps(good).encode()).checked(0))
    (unfilled,) = [finding for finding in told["findings"] if finding["code"] == "F001"]
    assert unfilled["others"] == 2 and unfilled["further"] == ["Cell 3: Data", "Cell 4: Reward function"]


def test_the_page_is_told_what_the_report_has_and_what_each_check_said(good):
    """Catches a name that the page asks for and that is gone, and a result without its place."""
    good["cells"][5]["source"] += "\ncheck.per_token_kl(1)\ncheck.loss(2)"
    good["cells"][5]["outputs"][0]["text"] += "\u2713 per-token KL: right on 2 probes.\n\u2717 loss: not yet.\n"
    dropped = Dropped("x.ipynb", json.dumps(good).encode())
    told = json.loads(dropped.checked(0))
    place = "Cell 5: One GRPO step"
    assert told["results"] == [
        {"exercise": "per-token KL", "passed": True, "said": "right on 2 probes.", "place": place},
        {"exercise": "loss", "passed": False, "said": "not yet.", "place": place},
    ]
    assert told["report"]["name"] == "x.ipynb" and "checks 1 of 2" in told["facts"]
    assert told.keys() == {"report", "facts", "findings", "sections", "largest", "results"}
    assert all(size.keys() == {"place", "source", "output"} for size in [*told["sections"], *told["largest"]])
    assert told["largest"][0]["place"] in {size["place"] for size in told["sections"]}


def test_a_finding_is_told_with_all_that_the_page_shows_of_it(good):
    good["cells"][3]["source"] += "\nraise NotImplementedError"
    told = json.loads(Dropped("x.ipynb", json.dumps(good).encode()).checked(0))
    (unfilled,) = [finding for finding in told["findings"] if finding["code"] == "F001"]
    (reported,) = [finding for finding in told["report"]["findings"] if finding["code"] == "F001"]
    assert {name: unfilled[name] for name in ("level", "code", "place", "advice")}.items() <= reported.items()
    assert unfilled["sentence"] == f"{reported['found']}." and (unfilled["others"], unfilled["further"]) == (0, [])


def test_the_largest_cells_are_a_few(good):
    """Catches a bar for each of a hundred cells."""
    good["cells"][5:5] = [code(f"x = {number}") for number in range(20)]
    told = json.loads(Dropped("x.ipynb", json.dumps(good).encode()).checked(0))
    assert len(told["largest"]) == in_browser.MOST_CELLS < len(good["cells"])
