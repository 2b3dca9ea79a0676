"""Fixtures that several tests of exercises need."""

from dataclasses import replace

import pytest

from shared.exercises.exercise import Exercise

FEW = 4


@pytest.fixture
def few_draws(monkeypatch):
    """Fewer drawn cases, beside all of those at the boundary: where the question is not how many it takes."""
    cases = Exercise.cases

    def fewer(exercise: Exercise, seed: int = 0) -> list:
        return cases(replace(exercise, draws=min(exercise.draws, FEW)), seed)

    monkeypatch.setattr(Exercise, "cases", fewer)
