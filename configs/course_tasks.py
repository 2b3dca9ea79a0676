"""The tasks of the course as a taskset of verifiers (0.4), for whoever trains or evaluates with that library.

    import verifiers.v1 as vf
    from course_tasks import CourseConfig  # PYTHONPATH=configs: its loader wants a module that is not inside of a package

    taskset = vf.load_taskset(CourseConfig(id="course_tasks", course="dots", split="eval"))

A task has a row's question, what a chat model is told of the answer's format, and the row's columns; its rewards are the
recipe's reward functions, each under its name. Games (an environment inside of a completion) have no counterpart here.
"""

import verifiers.v1 as vf

from shared.recipes import RECIPES
from shared.rewards import name_of
from shared.tasks.split import Split

__all__ = ["CourseTaskset"]  # what the loader of verifiers looks for


class CourseData(vf.TaskData):
    """A row. course: the name of its recipe.    columns: those that the reward functions read."""

    course: str
    columns: dict


class CourseTask(vf.Task[CourseData]):
    """A row with its rewards."""

    @vf.reward
    async def rewards(self, trace: vf.Trace) -> dict[str, float]:
        """The rewards of the model's last reply, by the names of their functions."""
        columns = {name: [value] for name, value in self.data.columns.items()}
        functions = RECIPES[self.data.course].reward_funcs
        return {name_of(f): f([self.data.prompt_text], [trace.last_reply], **columns)[0] for f in functions}


class CourseConfig(vf.TasksetConfig):
    """A recipe's name, and which of its rows."""

    course: str = "dots"
    split: Split = "train"
    rows: int = 256
    seed: int = 0


class CourseTaskset(vf.Taskset[CourseTask, CourseConfig]):
    """The rows of a recipe."""

    def load(self) -> list[CourseTask]:
        """Raises ValueError for a game."""
        asked = self.config
        recipe = RECIPES[asked.course]
        if recipe.environment_factory is not None:
            raise ValueError(f"In {asked.course} an environment answers inside of a completion: it is no taskset.")
        system_prompt = recipe.task.CHAT_SYSTEM_PROMPT
        tasks = []
        for row in recipe.task.dataset(asked.split, asked.rows, seed=asked.seed):
            columns = {name: value for name, value in row.items() if name not in ("prompt", "question")}
            question = row.get("question", row["prompt"])
            data = CourseData(prompt=question, system_prompt=system_prompt, course=asked.course, columns=columns)
            tasks.append(CourseTask(data))
        return tasks
