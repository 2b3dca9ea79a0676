"""A notebook as Colab runs it: with one cell in front that gets the course and what it needs.

Colab has torch, for the GPU that it lends, so the cell installs everything else and leaves torch as it is.
"""

import copy

SETUP = """# Set-up for Colab: gets the course and installs what it needs, without touching Colab's torch.
import os
import subprocess
import sys
import torch

REPOSITORY = "{repository}"  # where the course's repository is public
if not os.path.isdir("/content/course"):
    if not REPOSITORY:
        raise ValueError("Put the address of the course's repository into REPOSITORY, two lines above.")
    subprocess.run(["git", "clone", "-q", "--depth", "1", REPOSITORY, "/content/course"], check=True)
os.chdir("/content/course")
sys.path.insert(0, "/content/course")
with open("requirements.txt") as file:
    needed = [line.split("#")[0].strip() for line in file]
needed = [line for line in needed if line and line.split("==")[0] not in ("torch", "jupyter", "ipykernel", "numpy")]
kept = f"torch=={{torch.__version__}}"
subprocess.run([sys.executable, "-m", "pip", "install", "-q", kept, *needed], check=True)"""


def for_colab(notebook: dict, repository: str = "") -> dict:
    """The JSON of a notebook with a set-up cell before its first code cell; the notebook itself stays as it is.

    Args:
        repository: the public address of the course, "" where it has none: then the cell asks for it.
    """
    made = copy.deepcopy(notebook)
    cells = made["cells"]
    first = next((place for place, cell in enumerate(cells) if cell.get("cell_type") == "code"), len(cells))
    setup = {
        "cell_type": "code",
        "id": "colab-setup",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": SETUP.format(repository=repository),
    }
    cells.insert(first, setup)
    return made
