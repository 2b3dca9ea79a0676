"""The tasks as a taskset of verifiers, with its own loader and its own scoring; no model is asked."""

import asyncio
from pathlib import Path

import pytest

vf = pytest.importorskip("verifiers.v1")

from shared.recipes import RECIPES  # noqa: E402

TASKS = Path(__file__).parents[2] / "configs"


@pytest.fixture
def loaded(monkeypatch):
    """The tasks of a recipe, through the loader of verifiers."""
    monkeypatch.syspath_prepend(str(TASKS))
    from course_tasks import CourseConfig

    return lambda course: list(vf.load_taskset(CourseConfig(id="course_tasks", course=course, split="eval", rows=3)))


def trace_of(task, reply: str):
    data = task.data
    trace = vf.Trace[type(data), vf.State, vf.AgentConfig](
        task=vf.TraceTask(type="CourseTask", data=data), agent=vf.AgentInfo(config=vf.AgentConfig())
    )
    trace.root_reply = reply
    return trace


@pytest.mark.parametrize("course", [name for name, recipe in RECIPES.items() if not recipe.environment_factory])
def test_a_right_answer_earns_what_it_earns_here(course, loaded):
    """Catches a column that does not come along, a reward under another name, and the rewards of another row."""
    recipe = RECIPES[course]
    rows = recipe.task.dataset("eval", 3, seed=0)
    for row, task in zip(rows, loaded(course), strict=True):
        completion = recipe.task.solved(row)["completion"] if hasattr(recipe.task, "solved") else "no"
        trace = trace_of(task, completion)
        asyncio.run(task.score(trace))
        columns = {name: [value] for name, value in row.items() if name != "prompt"}
        ours = sum(function([row["prompt"]], [completion], **columns)[0] for function in recipe.reward_funcs)
        assert trace.reward == pytest.approx(ours)


def test_a_game_is_refused(loaded):
    with pytest.raises(ValueError, match="inside of a completion"):
        loaded("game")
