"""The senders that the places of an export and Gradescope's metadata tell."""

import zipfile
from datetime import UTC, datetime
from pathlib import PurePath

import pytest

from checker.grading.collect.platforms import (
    CANVAS,
    GRADESCOPE,
    METADATA,
    MOODLE,
    metadata,
    naming,
    senders,
    without_number,
)

JANE = {":name": "Jane Doe", ":sid": 17, ":email": "jane@example.org"}
OF_JANE = "submission_1:\n  :submitters:\n  - :sid: jd1\n"
OF_EVE = "submission_1:\n  :submitters:\n  - :sid: eve\n"


def names(entry):
    """The names under which the senders of a folder of Gradescope's are looked up."""
    return [one.names for one in senders(PurePath("submission_1/dots.ipynb"), {"submission_1": entry}, GRADESCOPE)]


def test_gradescopes_people_are_known_by_number_address_and_name_in_this_order():
    """Catches a student's number that is not read, so that of two who are called alike neither is graded."""
    assert names({":submitters": [JANE]}) == [("17", "jane@example.org", "Jane Doe")]
    assert names({":submitters": [{":name": "Jane Doe", ":sid": None}, JANE]})[0] == ("Jane Doe",)


@pytest.mark.parametrize("entry", [None, "x", [], {}, {":submitters": None}, {":submitters": ["x"]}])
def test_a_folder_without_people_is_nobodys(entry):
    """Catches a traceback, and a class that is not graded, for one entry that is not as the others are."""
    (sender,) = senders(PurePath("submission_1/dots.ipynb"), {"submission_1": entry}, GRADESCOPE)
    assert (sender.names, sender.label, sender.file) == ((), "", "dots.ipynb")


def test_when_it_was_handed_in_is_read_where_it_is_a_moment():
    """Catches a lateness that nobody computes, and a word that is taken for a moment."""
    moment = datetime(2026, 11, 20, tzinfo=UTC)
    for created, expected in ((moment, moment), ("yesterday", None)):
        entry = {":submitters": [JANE], ":created_at": created}
        (sender,) = senders(PurePath("submission_1/dots.ipynb"), {"submission_1": entry}, GRADESCOPE)
        assert sender.handed_in == expected


def test_a_file_that_canvas_numbered_is_told_from_one_that_it_did_not():
    """Catches a first upload that is looked for among the second ones."""
    names = ("dots-2.ipynb", "dots-2.IPYNB", "dots.ipynb")
    assert [without_number(name) for name in names] == ["dots.ipynb", "dots.IPYNB", ""]


@pytest.fixture
def packed(tmp_path):
    def pack(files):
        path = tmp_path / "export.ZIP"
        with zipfile.ZipFile(path, "w") as archive:
            for place, text in files.items():
                archive.writestr(place, text)
        return path

    return pack


@pytest.fixture
def unpacked(tmp_path):
    def unpack(files):
        for place, text in files.items():
            (tmp_path / "export" / place).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "export" / place).write_text(text, encoding="utf-8")
        return tmp_path / "export"

    return unpack


@pytest.fixture(params=["packed", "unpacked"])
def export(request):
    """An export as it is downloaded, and as it is unpacked."""
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("place", [METADATA, f"assignment_9_export/{METADATA}"])
def test_the_metadata_are_found_at_the_top_and_in_the_exports_own_folder(place, export):
    """Catches a class of which nobody is known, since the zip has all in a folder or was not unpacked."""
    assert metadata([export({place: OF_JANE})])["submission_1"][":submitters"] == [{":sid": "jd1"}]


def test_metadata_that_a_student_handed_in_are_not_read(export):
    """Catches a student who hands in as somebody else, by a file in the folder of the submission."""
    places = ("assignment_9_export/submission_2", "submission_2", "eve", "eve/submissions")
    found = export({f"{place}/{METADATA}": OF_EVE for place in places})
    assert metadata([found]) == {}


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "a: [\n", "x"])
def test_metadata_that_are_none_are_left_out(text, unpacked):
    """Catches a class that is not graded for a file that is empty or broken off."""
    assert metadata([unpacked({METADATA: text})]) == {}
    assert metadata([unpacked({METADATA: "", f"assignment_9_export/{METADATA}": OF_JANE})]).keys() == {"submission_1"}


def test_a_name_that_is_not_in_ascii_is_read(unpacked):
    """Catches José, whom the roster has and the metadata spell in another encoding."""
    found = metadata([unpacked({METADATA: OF_JANE.replace("jd1", "José")})])
    assert found["submission_1"][":submitters"] == [{":sid": "José"}]


@pytest.mark.parametrize(
    ("place", "label", "file"),
    [
        ("doejane_LATE_7_8_a\nb.ipynb", "doejane 7", "a\nb.ipynb"),
        ("Jane Doe_5_assignsubmission_file_/dots.ipynb", "Jane Doe 5", "dots.ipynb"),
        ("submission_1/dots.ipynb", "17", "dots.ipynb"),
        ("jane/old/dots.ipynb", "jane", "dots.ipynb"),
        ("dots.ipynb", "", "dots.ipynb"),
    ],
)
def test_without_a_roster_a_sender_is_called_as_the_platform_does(place, label, file):
    """Catches everybody called None, or by a name that two may bear, where no list of the class was given."""
    place = PurePath(place)
    (sender,) = senders(place, {"submission_1": {":submitters": [JANE]}}, naming([place]))
    assert (sender.label, sender.file) == (label, file)


def test_a_name_that_fits_two_platforms_is_read_as_the_others_are():
    """Catches a student who hands in as number 102, by what she calls her zip on Canvas or herself on Moodle."""
    on_canvas = PurePath("eve_101_9_B_102_assignsubmission_file_/dots.ipynb")
    on_moodle = PurePath("bob_102_9_eve_101_assignsubmission_file_/dots.ipynb")
    canvas = [on_canvas, PurePath("bob_102_8_dots.ipynb"), PurePath("cy_103_8_dots.ipynb")]
    moodle = [on_moodle, *(PurePath(f"{name}_7_assignsubmission_file_/dots.ipynb") for name in "abc")]
    assert (naming(canvas), naming(moodle)) == (CANVAS, MOODLE)
    assert [one.names[0] for one in senders(on_canvas, {}, naming(canvas))] == ["101"]
    assert [one.names[0] for one in senders(on_moodle, {}, naming(moodle))] == ["101"]
