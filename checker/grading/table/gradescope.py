"""Gradescope: its results.json with real scores, and two autograders, as zips, that write it there.

The one runs `checker grade`. The other hands back points that were given here, those of a person among them.
"""

import json
import zipfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path, PurePath

from checker.editions.course import NEEDED, worked_notebooks
from checker.grading.box.walls import ROOT
from checker.grading.collect.uploads import Ungraded
from checker.points.totals import sections, summed

# Gradescope's machine: https://gradescope-autograders.readthedocs.io/en/latest/specs/
SETUP = """#!/bin/bash
# Run once, when Gradescope builds the machine. The course needs Python 3.11 or newer, with venv: one that is there is
# taken, else one that the machine's packages have (Ubuntu 22.04 has 3.10 and, beside it, 3.11).
set -e
serves() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; }
apt-get update
apt-get install -y python3 python3-venv bubblewrap
python=
for name in python3 python3.13 python3.12 python3.11; do
  if [ -z "$python" ] && serves $name; then python=$name; fi
done
for name in python3.13 python3.12 python3.11; do
  if [ -z "$python" ] && apt-get install -y $name $name-venv && serves $name; then python=$name; fi
done
if [ -z "$python" ]; then
  echo "The course needs Python 3.11 or newer. This machine has $(python3 --version) and no packages of a newer one." >&2
  echo "In Gradescope choose a base image with Ubuntu 22.04 or newer for the autograder, and build it again." >&2
  exit 1
fi
cd /autograder/source/course
$python -m checker setup
.venv/bin/python -m pip install -c constraints.txt -e ".[grade]"
"""
RUN = """#!/bin/bash
# Run for each submission. Where this machine refuses bubblewrap its namespaces, nothing is graded, and the output says
# why. With --isolation none a submission can read this machine, the worked notebooks and the references among it.
cd /autograder/source/course
mkdir -p /autograder/graded
printf "seed: SEED\\nseconds: 240\\nmegabytes: 3000\\n" > /autograder/graded/class.yml
.venv/bin/python -m checker grade /autograder/submission --student submission --workers 1 \\
  -o /autograder/graded --gradescope /autograder/results/results.json
"""
# An autograder that runs nothing of a student's. The metadata of a submission name its members:
# https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/
HAND_BACK_SETUP = """#!/bin/bash
apt-get update
apt-get install -y python3
"""
HAND_BACK_RUN = """#!/bin/bash
python3 /autograder/source/hand_back.py /autograder
"""
HAND_BACK = """import json
import pathlib
import sys

autograder = pathlib.Path(sys.argv[1])
points = json.loads((autograder / "source" / "points.json").read_text())
users = json.loads((autograder / "submission_metadata.json").read_text())["users"]
addresses = [user["email"].lower() for user in users]
found = {points[address] for address in addresses if address in points}
if len(found) != 1:
    sys.exit("No points were given for %s, or different ones to the members of a group." % ", ".join(addresses))
results = {"score": found.pop(), "output": "Graded outside of Gradescope.", "tests": []}
(autograder / "results").mkdir(exist_ok=True)
(autograder / "results" / "results.json").write_text(json.dumps(results))
"""
OURS = "Nobody's mistake but the autograder's: {}"
TAKEN = (*NEEDED, "notebooks")
FILES = ("pyproject.toml", "requirements.txt", "constraints.txt", "Makefile", "README.md", "LICENSE")
LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")


def results(found: Iterable[dict], ungraded: Iterable[Ungraded] = (), refused: str = "") -> str:
    """Gradescope's results.json: one test for each exercise, with its points; those graded by hand come without.

    ungraded: files that were not graded; the student who handed them in is told why.
    refused: why nothing was graded at all.
    """
    found = list(found)
    not_graded = [f"{PurePath(file.place).name} was not graded. {file.reason}" for file in ungraded]
    tests = []
    for result in found:
        for item in result["items"]:
            if item["earned"] is not None:
                tests.append(
                    {
                        "name": f"{result['notebook']}: {item['name']}",
                        "score": item["earned"],
                        "max_score": item["points"],
                        "status": "passed" if item["earned"] == item["points"] else "failed",
                        "output": item["verdict"],
                    }
                )
    stopped = [_stopped(result) for result in found if result["stopped"]]
    sums = [line for result in found for line in _text_of_points(result)]
    said = [*(stopped or ["Every notebook ran to its end."]), *sums]
    content = {"output": "\n".join([*said, *not_graded]), "visibility": "visible", "tests": tests}
    if not tests:
        content["score"] = 0
        why = [OURS.format(refused)] if refused else []
        content["output"] = "\n".join([*stopped, "No notebook could be graded.", *why, *not_graded])
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _stopped(result: dict) -> str:
    """The reason why a notebook stopped or was not graded."""
    ungraded = result.get("ungraded")
    return f"{result['notebook']} was not graded. {OURS.format(ungraded)}" if ungraded else result["stopped"]


def _text_of_points(result: dict) -> list[str]:
    """A notebook's points in all and by section; those that a person gives come later, on paper of their own."""
    if result.get("ungraded"):
        return []
    by_section = [f"  {section}: {summed(items)}" for section, items in sections(result["items"]).items()]
    return [f"{result['notebook']}: {summed(result['items'])}", *by_section]


def autograder(seed: int, root: Path = ROOT) -> bytes:
    """The zip to give to Gradescope: the course, with setup.sh and run_autograder.

    Raises:
        Unreadable: there are no worked notebooks: nothing could be graded against it.
    """
    worked_notebooks(root)
    files = {f"course/{path.relative_to(root).as_posix()}": path.read_bytes() for path in _course(root)}
    return _autograder(SETUP, RUN.replace("SEED", str(seed)), files)


def handing_back(points: dict[str, float]) -> bytes:
    """The zip of an autograder that gives each student these points. points: by the e-mail address on Gradescope."""
    table = json.dumps({address.lower(): some for address, some in points.items()})
    return _autograder(
        HAND_BACK_SETUP, HAND_BACK_RUN, {"hand_back.py": HAND_BACK.encode(), "points.json": table.encode()}
    )


def _autograder(setup: str, run: str, files: dict[str, bytes]) -> bytes:
    """The zip of an autograder: the two programs that Gradescope calls, and further files by their places in it."""
    programs = {"setup.sh": setup.encode(), "run_autograder": run.encode()}
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for place, content in (programs | files).items():
            entry = zipfile.ZipInfo(place)
            entry.external_attr = (0o755 if place in programs else 0o644) << 16  # a box's user reads the course
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _course(root: Path) -> list[Path]:
    files = [path for name in TAKEN for path in sorted((root / name).rglob("*")) if path.is_file()]
    files += [root / name for name in FILES if (root / name).is_file()]
    return [path for path in files if not any(part in LEFT_OUT for part in path.parts)]
