"""Copies in a class: what was handed out is no copying, what many students share is."""

import inspect
import textwrap

import pytest

from checker.grading.box import walls
from checker.grading.collect import similarity
from checker.grading.collect.similarity import pairs, text_of
from checker.reading.markers import BLANK_ANSWER
from tests.checker.conftest import code, markdown

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


def words(*numbers):
    """A text with these words, as a notebook of one cell."""
    return {"cells": [markdown(" ".join(f"word{number}" for number in numbers))]}


def test_prose_is_compared_by_its_words():
    """Catches answers that are alike in the number of their words, and a copied one that goes unseen."""
    ann, bob, cy = (
        text_of(name, words(*range(begin, begin + 60))) for name, begin in (("ann", 0), ("bob", 100), ("cy", 0))
    )
    shouted = text_of("dan", {"cells": [markdown(" ".join(f"WORD{number}," for number in range(60)))]})
    found = pairs([ann, bob, cy, shouted], [])
    assert [(pair.first.student, pair.second.student) for pair in found] == [
        ("ann", "cy"),
        ("ann", "dan"),
        ("cy", "dan"),
    ]
    assert {pair.share for pair in found} == {1.0}


def test_short_texts_are_not_compared():
    """Catches two sentences of the same words shown as copies; 25 words in order are more than that."""
    for number, shown in ((24, 0), (25, 1)):
        two = [text_of(name, words(*range(number))) for name in ("ann", "bob")]
        assert len(pairs(two, [])) == shown


def test_the_most_alike_are_shown_first():
    """Catches a page whose end nobody reads, with the copies there."""
    texts = [
        text_of("ann", words(*range(60))),
        text_of("bob", words(*range(40), *range(100, 120))),
        text_of("cy", words(*range(50), *range(200, 210))),
    ]
    found = pairs(texts, [], threshold=0.1)
    assert [pair.second.student for pair in found] == ["cy", "bob", "cy"]
    assert not pairs([texts[0], texts[0]], []), "one student's own two"
    assert [pair.share for pair in found] == sorted((pair.share for pair in found), reverse=True)


def test_a_page_shows_the_lines_as_they_stand_with_one_between_cells():
    """Catches marks beside the lines that both have: the second cell's, where the first one's were counted wrong."""
    content = {"cells": [markdown("one\ntwo"), code("x = 1\ny = 2"), markdown(" ".join(map(str, range(30))))]}
    text = text_of("ann", content)
    assert text.lines[:6] == ("one", "two", "", "x = 1", "y = 2", "")
    assert {text.lines[line] for line in text.runs[("0", "1", "2", "3", "4", "5")]} == {content["cells"][2]["source"]}
    assert text.runs[("n", "=", "0", "n", "=", "0")] == {3, 4}


def test_numbers_and_texts_are_hidden_as_names_are():
    """Catches a copy that goes unseen for a seed or a title of its own, in an f-string too."""
    sources = ("f(1, 'a') + g", 'h(2.5, "b") + k', "f(1, f'a {b!r:>{c}} and {f(\"d\")}') + g")
    first, *others = (text_of("", notebook(source)).runs for source in sources)
    assert others == [first, first] and first
    assert first != text_of("", notebook("f(1, a) + g")).runs


def test_an_answer_that_is_still_to_be_written_is_no_text():
    """Catches the words that stand where an answer is to be written taken for an answer that many gave."""
    assert text_of("", {"cells": [markdown("\n".join([BLANK_ANSWER] * 30))]}).runs == {}


def test_code_goes_on_below_what_is_no_python():
    """Catches a traceback for a cell that is not finished, and all below a line for the shell that nobody compares."""
    broken = text_of("", notebook("a = b + c * d\nx = (1,\n")).runs
    assert ("n", "=", "n", "+", "n", "*") in broken
    outdented = text_of("", notebook("if a:\n        a = b + c * d\n    e = f\n")).runs
    assert ("n", "=", "n", "+", "n", "*") in outdented
    shell = text_of("", notebook("!echo it's\nfor a in b: c = d + e * 0"))
    assert shell.runs[("for", "n", "in", "n", ":", "n")] == {1}
