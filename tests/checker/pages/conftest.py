import pytest

from checker.pages.rendering import render


@pytest.fixture
def page(good, save, tmp_path):
    """Makes the text of a page: a good notebook's, with further cells."""

    def make(*extra_cells) -> str:
        good["cells"] += extra_cells
        return render(save(good), tmp_path / "out", "builtin").read_text(encoding="utf-8")

    return make
