"""The class on which the checker's speed is measured."""

import json

from benchmarks import checker as benchmark


def test_every_worked_notebook_can_be_made_larger():
    """Catches a benchmark that stops at a notebook whose Cell 6 has options above its label."""
    for path in sorted((benchmark.ROOT / "notebooks").glob("*.ipynb")):
        plain = benchmark._without_pictures(path)
        size = len(json.dumps(plain)) + 5_000
        larger = benchmark._of_size(plain, size)
        assert size - 100 < len(larger) < size + 200, path.name
