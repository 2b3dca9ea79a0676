"""Pyodide: Python for the browser, which runs the checker in the page "Check your notebook".

python -m checker.site.loaded.pyodide            writes build/pyodide, from which `make site` takes it
"""

import json
import shutil
from pathlib import Path

from checker.site.loaded.npm import Package, Unreachable

COMMAND = "python -m checker.site.loaded.pyodide"
PROJECT = Path(__file__).parents[3]
MADE = Path("build") / "pyodide"  # below the project's folder
LOCK = "pyodide-lock.json"
PACKAGE = Package(
    "pyodide@314.0.7",
    "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==",
    ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", LOCK),
)


def files(project: Path) -> list[Path]:
    """The files made of the package in a project's folder; none where one is missing."""
    made = [project / MADE / name for name in PACKAGE.files]
    return made if all(file.is_file() for file in made) else []


def write(folder: Path) -> None:
    """Put Pyodide into a folder that exists. Raises Unreachable and ValueError as `Package.write`."""
    PACKAGE.write(folder)
    without_packages(folder / LOCK)


def without_packages(lock: Path) -> None:
    """Empty Pyodide's list of packages, which it would load from an address elsewhere: the checker needs none."""
    listed = json.loads(lock.read_text(encoding="utf-8"))
    lock.write_text(json.dumps({"info": listed["info"], "packages": {}}) + "\n", encoding="utf-8")


def main() -> None:
    made = PROJECT / MADE
    unfinished = made.with_name("pyodide-unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        write(unfinished)
    except Unreachable as error:
        unfinished.rmdir()
        print(f"The site's page that checks notebooks will say how to install the checker: {error}.")
        return
    shutil.rmtree(made, ignore_errors=True)
    unfinished.rename(made)
    size = sum(file.stat().st_size for file in made.iterdir())
    print(f"{MADE}: {size / 1e6:.0f} MB for the page that checks notebooks.")


if __name__ == "__main__":
    main()
