"""Slides out of notebooks: each question before what came out, and its answer behind."""

import base64
from pathlib import Path

import pytest

from checker.editions.slides import questions, slides
from checker.reading.notebook import CHECK_RECORD, notebook_of, read
from tests.checker.command_line import checker

ROOT = Path(__file__).parents[3]

LECTURES = ("dots", "poker", "gradients", "off_policy", "own_task")  # the path of five chapters
DOT = base64.b64encode(b"a picture").decode()


def markdown(text):
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def printing(*outputs, source="x"):
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source, "outputs": list(outputs)}


def said(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def shown(**data):
    return {"output_type": "display_data", "metadata": {}, "data": data}


@pytest.fixture
def chapter():
    cells = [
        markdown("### Loss\n\n> **Guess.** Up or down?"),
        printing(shown(**{CHECK_RECORD: "{}", "text/plain": "a tick"}), said("1\n2\n")),
        printing(shown(**{"image/png": DOT, "text/plain": "<Figure>"}), source='#| fig-alt: "A line."\nplot()'),
        markdown("### Next\n\nDown, for two reasons:\n\n- one\n- two\n\nMore."),
        markdown("> **Guess.** Without a result?"),
    ]
    return notebook_of({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}, ROOT / "loss.ipynb")


def test_a_question_stands_before_its_result_and_the_answer_last(chapter):
    """Catches a slide that gives its answer away, a tick of a check, a picture nobody finds and half of an answer."""
    text, pictures = slides([chapter], "A lecture", "files")
    _, question, printed, picture, answer = text.split("\n## Loss\n")
    assert question.strip() == "Up or down?" and printed.strip() == "```text\n1\n2\n```"
    assert picture.strip() == '![](files/loss-2-0.png){.r-stretch fig-alt="A line."}'
    assert answer.strip() == "Down, for two reasons:\n\n- one\n- two"
    assert pictures == {"loss-2-0.png": b"a picture"}


@pytest.mark.parametrize("name", LECTURES)
def test_every_question_of_the_path_of_five_chapters_has_its_answer(name):
    """Catches a Guess without a result or without a word behind it: on a slide it is the last one that anybody sees."""
    notebook = read(ROOT / "notebooks" / f"{name}.ipynb")
    asked = sum(cell.source.count("**Guess.**") for cell in notebook.cells if not cell.is_code)
    found = questions(notebook)
    assert len(found) == asked and all(question.answer for question in found)


def test_the_command_writes_slides_and_pictures(tmp_path):
    done = checker("slides", ROOT / "notebooks" / "dots.ipynb", "-o", tmp_path / "out")
    text = (tmp_path / "out" / "slides.qmd").read_text(encoding="utf-8")
    assert f"{text.count(chr(10) + '## ')} slides" in done.stdout
    assert all(f"slides_files/{path.name}" in text for path in (tmp_path / "out" / "slides_files").iterdir())
    assert "slides_files/" in text
    assert checker("slides", "none.ipynb", cwd=tmp_path).stderr == "error  none.ipynb: There is no such file.\n"
