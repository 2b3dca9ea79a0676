"""The names that `from shared import irl` gives, and the imports that it spares."""

import subprocess
import sys

from shared import irl


def test_every_public_name_is_there():
    """Catches a function that moves between files and is forgotten in `__all__`, or the other way round."""
    assert sorted(irl.__all__) == list(irl.__all__)
    assert all(hasattr(irl, name) for name in irl.__all__)


def test_importing_the_package_needs_neither_matplotlib_nor_torch():
    """Catches an import of the figures from the package itself, which would slow every start."""
    code = "import sys, shared.irl; print('matplotlib' in sys.modules, 'torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]
