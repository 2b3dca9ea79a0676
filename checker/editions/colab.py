"""A notebook as Colab runs it: with one cell in front that gets the course and what it needs.

Colab has torch, for the GPU that it lends, so the cell installs everything else and leaves torch as it is. The edition
asks for a runtime with a GPU, and the course that it gets is the version that the notebook was built from.
"""

import copy

from checker import __version__

GPU = {"accelerator": "GPU", "colab": {"gpuType": "T4"}}  # the notebook's metadata by which Colab chooses a runtime

SETUP = """# Set-up for Colab: gets the course and installs what it needs, without touching Colab's torch.
import os
import subprocess
import sys
import torch

REPOSITORY = "{repository}"  # where the course's repository is public
VERSION = "v{version}"  # the tag that this notebook belongs to
if not os.path.isdir("/content/course"):
    if not REPOSITORY:
        raise ValueError("Put the address of the course's repository into REPOSITORY, two lines above.")
    clone = ["git", "clone", "-q", "--depth", "1", "--branch", VERSION, REPOSITORY, "/content/course"]
    subprocess.run(clone, check=True)
os.chdir("/content/course")
sys.path.insert(0, "/content/course")
with open("requirements.txt") as file:
    needed = [line.split("#")[0].strip() for line in file]
needed = [line for line in needed if line and line.split("==")[0] not in ("torch", "jupyter", "ipykernel", "numpy")]
kept = f"torch=={{torch.__version__}}"
subprocess.run([sys.executable, "-m", "pip", "install", "-q", kept, *needed], check=True)"""


def for_colab(notebook: dict, repository: str) -> dict:
    """The JSON of a notebook with a set-up cell before its first code cell; the notebook itself stays as it is.

    Its metadata asks for a GPU. The set-up gets the version that the metadata of a blank edition names, else today's.

    Args:
        repository: the public address of the course, "" where it has none: then the cell asks for it.
    """
    made = copy.deepcopy(notebook)
    metadata = made.setdefault("metadata", {})
    metadata.update(GPU)
    version = metadata.get("course", {}).get("version", __version__)
    cells = made["cells"]
    first = next((place for place, cell in enumerate(cells) if cell.get("cell_type") == "code"), len(cells))
    setup = {
        "cell_type": "code",
        "id": "colab-setup",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": SETUP.format(repository=repository, version=version),
    }
    cells.insert(first, setup)
    return made
