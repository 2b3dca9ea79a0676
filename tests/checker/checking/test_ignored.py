"""The findings that a course leaves out."""

import pytest
import typer

from checker.checking.ignored import configured_ignores, silenced


def test_the_nearest_pyproject_counts(tmp_path, monkeypatch):
    """Catches the settings of a folder above taken for those of this one."""
    inner = tmp_path / "course" / "week"
    inner.mkdir(parents=True)
    for folder, code in ((tmp_path, "P009"), (inner.parent, "H002")):
        (folder / "pyproject.toml").write_text(f'[tool.checker]\nignore = ["{code}"]\n', encoding="utf-8")
    for folder, codes in ((inner, ["H002"]), (inner.parent, ["H002"]), (tmp_path, ["P009"])):
        monkeypatch.chdir(folder)
        assert configured_ignores() == codes


@pytest.mark.parametrize("settings", [None, "", "[tool]", "[tool.checker]", "[tool.other]\nignore = 3"])
def test_a_course_without_settings_leaves_nothing_out(settings, tmp_path, monkeypatch):
    """Catches a traceback about a pyproject.toml that speaks of other programs, or about none."""
    monkeypatch.chdir(tmp_path)
    if settings is not None:
        (tmp_path / "pyproject.toml").write_text(settings)
    assert configured_ignores() == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("[tool.checker", "Expected ']'"),
        ("[tool]\nchecker = 3", "[tool.checker] is not a table. Mend it"),
        ("[tool.checker]\nignore = 'P009'", "is not a list of codes, such as"),
        ("[tool.checker]\nignore = ['P009', 9]", "is not a list of codes, such as"),
    ],
)
def test_settings_that_cannot_be_read_are_told_with_their_place(settings, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(settings)
    with pytest.raises(typer.Exit) as ended:
        configured_ignores()
    err = capsys.readouterr().err
    assert ended.value.exit_code == 2 and f"{tmp_path / 'pyproject.toml'}: " in err and said in err
    assert ("not a table" in err) == ("checker = 3" in settings)


def test_codes_are_taken_in_capitals_or_not_and_one_that_does_not_exist_is_said(tmp_path, monkeypatch, capsys):
    """Catches a misspelt code that silences nothing, without a word."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.checker]\nignore = ['h002']\n")
    assert silenced(["p009", "S001"]) == ["P009", "S001", "H002"]
    with pytest.raises(typer.Exit) as ended:
        silenced(["P999"])
    err = capsys.readouterr().err
    assert ended.value.exit_code == 2 and "There is no finding P999" in err
    codes = err.partition("There are ")[2].strip().rstrip(".").split(", ")
    assert codes == sorted(codes) and {"H002", "P009", "S001"} < set(codes)
