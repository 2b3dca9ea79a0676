"""The findings that a course leaves out."""

from checker.checking.ignored import configured_ignores


def test_the_nearest_pyproject_counts(tmp_path, monkeypatch):
    """Catches the settings of a folder above taken for those of this one."""
    inner = tmp_path / "course" / "week"
    inner.mkdir(parents=True)
    for folder, code in ((tmp_path, "P009"), (inner.parent, "H002")):
        (folder / "pyproject.toml").write_text(f'[tool.checker]\nignore = ["{code}"]\n', encoding="utf-8")
    for folder, codes in ((inner, ["H002"]), (inner.parent, ["H002"]), (tmp_path, ["P009"])):
        monkeypatch.chdir(folder)
        assert configured_ignores() == codes
