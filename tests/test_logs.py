"""The log of a run while it goes on, when it goes on later, and when it is killed."""

import math
import re

import pandas
import pytest

import shared.logs
from shared.logs import csv_log


def record(step, **metrics):
    return {"step": step, "reward": step / 10, "completions/mean_length": 1 / 3} | metrics


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a folder" / "run.csv"


def steps(path):
    return list(pandas.read_csv(path)["step"])


def test_each_line_is_there_when_the_step_is_over(path):
    """Catches lines that wait in a buffer until training ends."""
    log = csv_log(path)
    assert not path.exists()
    for step in (1, 2, 3):
        log(record(step))
        assert path.read_text() == "step,reward,completions/mean_length\n" + "".join(
            f"{s},{s / 10},{1 / 3}\n" for s in range(1, step + 1)
        )


def test_a_reader_that_follows_the_file_sees_every_line(path):
    """Catches a table that is written anew for each step: `tail -f` would see none of them."""
    log = csv_log(path)
    log(record(1))
    with path.open() as follower:
        follower.read()
        for step in (2, 3):
            log(record(step))
            assert follower.read().startswith(f"{step},")


def test_a_metric_that_comes_later_gets_a_column(path):
    """Catches an evaluation every tenth step that is lost, or stands in the column of another metric."""
    log = csv_log(path)
    for step in range(1, 6):
        log(record(step, **({"eval_reward": 0.5} if step in (3, 4) else {})))
    log({"step": 6, "eval_reward": 0.75})  # and metrics that are missing
    table = pandas.read_csv(path)
    assert list(table.columns) == ["step", "reward", "completions/mean_length", "eval_reward"]
    assert list(table["eval_reward"].fillna(-1)) == [-1, -1, 0.5, 0.5, -1, 0.75]
    assert list(table["reward"].fillna(-1)) == [0.1, 0.2, 0.3, 0.4, 0.5, -1]
    assert [file.name for file in path.parent.iterdir()] == ["run.csv"]


def test_values_are_read_back_as_they_were(path):
    """Catches rounded values, and a skipped step's nan that breaks its line."""
    log = csv_log(path)
    values = [0.1 + 0.2, 1e-17, math.inf, math.nan, -0.0]
    for step, value in enumerate(values, 1):
        log({"step": step, "loss": value})
    assert repr(list(pandas.read_csv(path, float_precision="round_trip")["loss"])) == repr(values)


def test_a_run_that_goes_on_doubles_no_step(path):
    """Killed after step 5, its checkpoint is of step 3: steps 4 and 5 come again."""
    first = csv_log(path)
    for step in range(1, 6):
        first(record(step, eval_reward=0.5))
    second = csv_log(path)
    for step in range(4, 8):
        second(record(step, reward=9.0))
    table = pandas.read_csv(path)
    assert list(table["step"]) == list(range(1, 8))
    assert list(table["reward"]) == [0.1, 0.2, 0.3, 9.0, 9.0, 9.0, 9.0]
    assert list(table["eval_reward"].fillna(-1)) == [0.5] * 3 + [-1] * 4


def test_a_run_that_goes_on_behind_the_last_step_appends(path):
    csv_log(path)(record(1))
    before = path.stat().st_ino
    csv_log(path)(record(2))
    assert steps(path) == [1, 2] and path.stat().st_ino == before


@pytest.mark.parametrize("same_callback", [False, True])
def test_a_run_that_starts_over_replaces_the_old_one(same_callback, path):
    """Catches the old run's later steps behind the new run's first ones."""
    log = csv_log(path)
    for step in range(1, 6):
        log(record(step))
    log = log if same_callback else csv_log(path)
    for step in range(1, 3):
        log(record(step))
    assert steps(path) == [1, 2]


@pytest.mark.parametrize("left", ["4,0.", "4,0.4,0.33", '4,"'])
def test_half_a_line_of_a_killed_writer_is_dropped(left, path):
    """Catches a line that is appended to it: 4,0.4,0.335,0.5 is a step with wrong numbers."""
    log = csv_log(path)
    for step in range(1, 4):
        log(record(step))
    with path.open("a") as file:
        file.write(left)
    log = csv_log(path)
    log(record(5))
    assert steps(path) == [1, 2, 3, 5] and path.read_text().endswith(f"\n5,0.5,{1 / 3}\n")
    before = path.stat().st_ino
    log(record(6))
    assert path.stat().st_ino == before  # mended once, not for every step


@pytest.mark.parametrize("text", ["", "step,reward,completions/mean_length\n", "step,other\n"])
def test_a_table_without_lines_is_one(text, path):
    path.parent.mkdir()
    path.write_text(text)
    csv_log(path)(record(1))
    assert steps(path) == [1]


@pytest.mark.parametrize("text", ["notes", "notes\n", "name,reward\na,1\n", "step,reward\nfirst,1\n", "\n"])
def test_another_file_is_refused_and_stays(text, path):
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(ValueError, match="run.csv is there and is no table of training steps"):
        csv_log(path)
    assert path.read_text() == text


class Writer:
    """The methods of TensorBoard's SummaryWriter and of trackio that the module's docstring calls."""

    def __init__(self):
        self.seen = []

    def add_scalar(self, name, value, step):
        self.seen.append((name, value, step))

    def log(self, metrics, step):
        assert "step" not in metrics  # trackio keeps that name for itself
        self.seen += [(name, value, step) for name, value in metrics.items()]


def test_the_callbacks_in_the_docstring_work():
    """Catches an example that nobody can paste. It was tried with tensorboard 2.21.0 and trackio 0.43.0."""
    examples = re.findall(r"^ +on_step=(lambda .*)$", shared.logs.__doc__, re.MULTILINE)
    assert len(examples) == 2
    for example in examples:
        writer = Writer()
        on_step = eval(example, {"writer": writer, "trackio": writer})
        on_step(record(3))
        assert ("reward", 0.3, 3) in writer.seen and ("completions/mean_length", 1 / 3, 3) in writer.seen
