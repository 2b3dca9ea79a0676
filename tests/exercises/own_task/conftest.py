"""A judge in this process, and flaws as sentences."""

import pytest

from shared.exercises.own_task import flaws
from shared.exercises.own_task.flaws import Flaw
from shared.exercises.process import Progress


@pytest.fixture
def flaw():
    """The sentence of the Flaw that a call raises; "" where it raises none."""

    def sentence(function, *arguments, **named) -> str:
        try:
            function(*arguments, **named)
        except Flaw as error:
            return str(error)
        return ""

    return sentence


@pytest.fixture
def judgements(monkeypatch):
    """The judgements that are made, each beside how far it came; here and not in a child, which takes long."""
    made = []

    def judged(judgement):
        progress = Progress()
        made.append((judgement, progress))
        return judgement.judge(progress)

    monkeypatch.setattr(flaws, "safe_verdict", judged)
    return made
