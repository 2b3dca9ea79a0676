"""The place of Quarto, which makes the site where it is installed."""

import shutil
import sys
from pathlib import Path


def program() -> str | None:
    """The path of Quarto: on the PATH, else beside this Python, where `pip install quarto-cli` puts it, else None.

    The virtual environment need not be active, so its programs need not be on the PATH.
    """
    return shutil.which("quarto") or shutil.which("quarto", path=str(Path(sys.executable).parent))
