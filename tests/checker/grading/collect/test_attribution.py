"""The owner of a single file, and what is said where nobody or more than one may be meant."""

import re
from pathlib import PurePath

import pytest

from checker.grading.collect.attribution import BadPattern, compiled, owner_of
from checker.grading.collect.platforms import naming, senders
from checker.grading.collect.roster import Roster, Student

CLASS = Roster((Student("jd1", ("jd1", "Jane Doe")), Student("ax3", ("ax3", "Ann Maria Xu"))))


def owner(place, roster=CLASS, pattern=""):
    """The words on a file at this place: an id, or the sentence of the reason."""
    place = PurePath(place)
    (says,) = senders(place, {}, naming([place]))
    return str(owner_of(place, says, roster, compiled(pattern)))


@pytest.mark.parametrize(
    "place",
    [
        "dots_jd1.ipynb",
        "jd1.ipynb",
        "dots-jane doe-final.ipynb",
        "dots_jd1 (2).ipynb",
        "jd1__1_.ipynb",
        "Jane_Doe.ipynb",
    ],
)
def test_a_name_among_the_words_of_a_file_is_known(place):
    """Catches a name at the begin or the end of a file's name, of one word or of two, that is not looked for."""
    assert owner(place) == "jd1"


def test_a_name_of_three_words_is_looked_for_whole():
    """Catches files that are known by two words at most: "Ann Maria" alone is a part of a name."""
    assert owner("dots_ann_maria_xu.ipynb") == "ax3"


def test_the_pattern_that_is_advised_can_be_used():
    """Catches advice that is refused when it is followed, or that does not find the student."""
    said = owner("jane_dots.ipynb", Roster())
    assert said.startswith("Its place does not tell whose it is") and "in class.yml which part" in said
    advised = re.search(r"such as pattern: '(.*)'", said)[1]
    assert owner("jane_dots.ipynb", Roster(), advised) == "jane"


def test_who_is_not_on_the_roster_is_named_as_the_place_names_them():
    """Catches "None is not on the roster", from which nobody learns which file or which person is meant."""
    assert owner("smithbob_77_8_dots.ipynb").startswith("'77' or 'smithbob' is not on the roster")
    assert owner("holiday.ipynb").startswith("'holiday.ipynb' is not on the roster")


def test_whose_name_is_known_in_part_is_told_what_to_do():
    """Catches a student who is not graded and an instructor who is not told how to mend that."""
    said = owner("Jane/dots.ipynb")
    assert "it may be jd1 on the roster" in said and "add the name to the student's line" in said


@pytest.mark.parametrize(("pattern", "why"), [("(?P<student>", "regular expression"), ("(jd1)", "no group named")])
def test_a_pattern_that_is_refused_is_shown_with_the_reason(pattern, why):
    """Catches a refusal that does not say of what."""
    with pytest.raises(BadPattern, match=why) as refused:
        compiled(pattern)
    assert repr(pattern) in str(refused.value)


def test_a_pattern_that_does_not_find_anybody_says_where_it_looked():
    """Catches "None" as the reason why a file was not graded."""
    said = owner("week3/dots.ipynb", pattern=r"by-(?P<student>\w+)/")
    assert "is not found in its place 'week3/dots.ipynb'" in said and "by-" in said
