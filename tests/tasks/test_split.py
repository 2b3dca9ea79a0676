"""Pretraining, training and evaluation must never share an item."""

import importlib
import random
from itertools import islice
from pathlib import Path

import pytest

from shared import tasks
from shared.tasks import addition, analogies, countdown, dots, game, poker, sentences
from shared.tasks.split import distinct, split_of

TASKS = (dots, poker, analogies, addition, countdown, sentences, game)
PRETRAINED = [task for task in TASKS if task is not game]  # the base model has never seen a game
ROWS = {game: 10}  # ranges of single digits are few
by_name = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__.split(".")[-1])


def test_every_task_is_listed_here():
    """Catches a new task whose splits nobody compares: a file of `shared/tasks/` with a data set is one."""
    files = [path.stem for path in Path(tasks.__file__).parent.glob("*.py")]
    modules = {importlib.import_module(f"shared.tasks.{name}") for name in files if not name.startswith("_")}
    missing = {module.__name__ for module in modules if hasattr(module, "dataset")} - {task.__name__ for task in TASKS}
    assert not missing, f"add {', '.join(sorted(missing))} to TASKS above"


def test_the_split_is_stable_across_processes_and_versions():
    """Python's own hash() changes with every process: an example is pinned here."""
    assert [i for i in range(20) if split_of(f"item {i}") == "eval"] == [13]


def test_a_fifth_is_held_out():
    held_out = sum(split_of(str(i)) == "eval" for i in range(10_000))
    assert held_out == pytest.approx(2_000, abs=150)


@by_name
def test_splits_are_disjoint_and_rows_distinct(task):
    """A prompt seen in training and evaluated on, or evaluated twice, makes a result look better than it is."""
    n = ROWS.get(task, 120)
    train, held_out = task.dataset("train", n, seed=1), task.dataset("eval", n, seed=1)
    assert not {row["prompt"] for row in train} & {row["prompt"] for row in held_out}
    for rows in (train, held_out):
        assert (
            len({(row["prompt"], row.get("secret")) for row in rows}) == n
        )  # a game's rows differ in their secrets too


@by_name
def test_the_same_seed_gives_the_same_rows(task):
    assert task.dataset("eval", 30, seed=3) == task.dataset("eval", 30, seed=3)
    assert task.dataset("eval", 30, seed=3) != task.dataset("eval", 30, seed=4)


@by_name
def test_prompts_end_where_a_token_ends(task):
    """A prompt that ends in a space is tokenised otherwise than prompt and completion together."""
    assert all(not row["prompt"].endswith(" ") for row in task.dataset("train", 50))


@by_name
def test_bad_requests_are_refused(task):
    with pytest.raises(ValueError, match='choose "train" or "eval"'):
        task.dataset("test", 5)
    with pytest.raises(ValueError, match="ask for at least 1"):
        task.dataset("eval", 0)


def test_more_rows_than_exist_are_refused_and_not_waited_for():
    with pytest.raises(ValueError, match="Ask for fewer"):
        sentences.dataset("eval", 10_000)
    with pytest.raises(ValueError, match="Ask for fewer"):
        poker.dataset("eval", 8 * 400)


@pytest.mark.parametrize("task", PRETRAINED, ids=lambda task: task.__name__.split(".")[-1])
def test_documents_hold_no_prompt_of_the_evaluation_split(task):
    """Pretraining on what is evaluated later: every evaluation prompt is looked for in thousands of documents."""
    texts = list(islice(task.documents(random.Random(7)), 3000))
    prompts = {row["prompt"] for row in task.dataset("eval", 150)}
    if task is sentences:  # an opening is two words long: look at how documents begin
        assert not prompts & {" ".join(text.split()[:3]) for text in texts}
    else:
        together = "\0".join(texts)  # one search for a prompt in all of them
        assert not [prompt for prompt in prompts if prompt in together]


def test_repeats_are_counted_in_a_row():
    """Catches a large set that is refused although new rows came all the time."""
    draws = (str(number // 2) for number in range(400))
    assert distinct(draws, 150, key=str, patience=3) == [str(number) for number in range(150)]
