"""Copies in a class: what was handed out is no copying, what many students share is."""

import inspect
import textwrap

import pytest

from checker.grading.box import walls
from checker.grading.collect import similarity
from checker.grading.collect.similarity import pairs, text_of
from tests.checker.conftest import code

HANDED_OUT = inspect.getsource(walls)
COPIED = inspect.getsource(similarity.pairs)


def notebook(*sources):
    return {"cells": [code(source) for source in sources]}


def renamed(source, number):
    """A copy with names of its own."""
    for name in ("texts", "left_out", "smaller", "first", "found"):
        source = source.replace(name, f"{name}_{number}")
    return source


def own(student):
    """Code that nobody else has: a function of another file for each student."""
    functions = [walls.visible, walls.bubblewrap, similarity.text_of, similarity._code, walls.environment]
    return textwrap.dedent(inspect.getsource(functions[student % len(functions)]))


@pytest.mark.parametrize("copiers", [2, 4, 5, 8])
@pytest.mark.parametrize("others", [0, 3])
def test_copies_by_many_are_seen(copiers, others):
    """Catches four of six who copied: what many had was left out, so the more copied, the less was shown."""
    texts = [text_of(f"copier{number}", notebook(renamed(COPIED, number))) for number in range(copiers)]
    texts += [text_of(f"other{number}", notebook(own(number))) for number in range(others)]
    shown = {(pair.first.student, pair.second.student) for pair in pairs(texts, [])}
    assert len(shown) == copiers * (copiers - 1) // 2
    assert all(student.startswith("copier") for pair in shown for student in pair)


def test_words_of_the_language_tell_code_apart():
    """Catches `if` and `while` hidden as names are: two loops and two questions of one shape would be copies."""
    lines = {
        "asks": "if a in b: return [c for d in e if f]",
        "loops": "while a not b: raise [c and d or e is f]",
        "asks too": "if left in right: return [x for y in z if t]",
    }
    texts = {student: text_of(student, notebook(source)) for student, source in lines.items()}
    assert texts["asks"].runs == texts["asks too"].runs
    assert not texts["asks"].runs.keys() & texts["loops"].runs.keys()


def test_what_was_handed_out_is_in_no_share():
    """Catches a class of copiers made by the blank notebook, which everybody has, and marks on lines of it."""
    known = [text_of("", notebook(HANDED_OUT))]
    texts = [text_of(f"student{number}", notebook(HANDED_OUT, own(2 + number))) for number in range(2)]
    copied = [text_of(f"copier{number}", notebook(HANDED_OUT, renamed(COPIED, number))) for number in range(4)]
    shown = pairs([*texts, *copied], known)
    assert len(shown) == 6
    lines = len(HANDED_OUT.split("\n"))
    assert all(min(marked) >= lines for pair in shown for marked in pair.lines)


def test_a_copy_inside_of_a_longer_notebook_is_seen():
    """Catches a share of the longer one's runs: who adds enough to what was copied would go unseen."""
    short = text_of("short", notebook(COPIED))
    long = text_of("long", notebook(renamed(COPIED, 1), inspect.getsource(walls), inspect.getsource(similarity._code)))
    (pair,) = pairs([short, long], [])
    assert pair.share > 0.9
