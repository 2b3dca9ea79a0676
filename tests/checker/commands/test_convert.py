"""`checker convert`: where the text goes, and what is said."""

from checker.reading.convert import to_markdown
from checker.reading.notebook import read
from tests.checker.command_line import checker


def test_the_text_is_printed_or_written_with_as_much_output_as_was_asked_for(good, save, tmp_path):
    """Catches a text that is cut otherwise in the file than on the screen."""
    path = save(good)
    whole, cut = (to_markdown(read(path), *kept) for kept in ((), (3,)))
    assert checker("convert", path).stdout == whole != cut
    assert checker("convert", path, "--max-output", "3").stdout == cut
    done = checker("convert", path, "-o", tmp_path / "out" / "n.md", "--max-output", "3")
    assert (tmp_path / "out" / "n.md").read_text() == cut
    assert done.stdout == f"{tmp_path / 'out' / 'n.md'}: {len(cut):,} characters\n"


def test_another_file_is_overwritten_and_the_notebook_is_not(good, save, tmp_path):
    path = save(good)
    (tmp_path / "n.md").write_text("old")
    assert checker("convert", path, "-o", tmp_path / "n.md").returncode == 0
    assert (tmp_path / "n.md").read_text() != "old"
    before = path.read_bytes()
    done = checker("convert", path, "-o", path)
    assert done.returncode == 2 and path.read_bytes() == before
    assert done.stderr == f"error  {path} is the notebook itself. Give another name.\n"


def test_what_cannot_be_read_is_told_with_its_name_on_one_line(tmp_path):
    done = checker("convert", "a\nb.ipynb", cwd=tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (2, "error  a b.ipynb: There is no such file.\n", "")
