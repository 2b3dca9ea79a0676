"""Logs chosen by a text."""

import sys
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from shared.rollouts import read_rollouts
from shared.run import loggers
from tests.test_rollouts import record

RECORDS = [{"step": 1, "reward": 0.25}, {"step": 2, "reward": 0.5, "kl": 0.1}]


def write(where):
    with loggers.listening(where, {"steps": 2}) as listen:
        for record in RECORDS:
            listen(record)


def test_a_table(tmp_path):
    write(f"csv:{tmp_path / 'run.csv'}")
    assert (tmp_path / "run.csv").read_text() == "step,reward,kl\n1,0.25,\n2,0.5,0.1\n"


def test_tensorboard_reads_what_was_written(tmp_path):
    """TensorBoard's own reader finds each number at its step."""
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    write(f"tensorboard:{tmp_path}")
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [(e.step, e.value) for e in events.Scalars("reward")] == [(1, 0.25), (2, 0.5)]
    assert [e.step for e in events.Scalars("kl")] == [2] and "step" not in events.Tags()["scalars"]


def test_tensorboard_shows_a_step_once_after_a_resume(tmp_path):
    """Catches steps that stand there twice: those between the last checkpoint and the end of a killed run."""
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for steps in ((1, 2, 3), (2, 3, 4)):
        with loggers.listening(f"tensorboard:{tmp_path}", {}) as listen:
            for step in steps:
                listen({"step": step, "reward": step + len(steps) / 10})
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [event.step for event in events.Scalars("reward")] == [1, 2, 3, 4]


def test_tensorboard_is_told_where_a_run_goes_on(monkeypatch):
    """Catches what the two tests above catch, on a machine without TensorBoard."""
    told = []

    class Writer:
        def __init__(self, folder, purge_step):
            told.append((folder, purge_step))

        def __enter__(self):
            return self

        def __exit__(self, *error):
            told.append("closed")

        def add_text(self, name, text):
            told.append((name, text))

        def add_scalar(self, name, value, step):
            told.append((name, value, step))

    monkeypatch.setattr(loggers, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Writer))
    with loggers.listening("tensorboard:runs", {"steps": 9}) as listen:
        listen({"step": 7, "reward": 0.5})
        listen({"step": 8, "kl": 0.1})
    assert told == [("runs", 7), ("settings", "- steps: 9"), ("reward", 0.5, 7), ("kl", 0.1, 8), "closed"]


def test_rollouts_are_told_to_a_listener_of_their_own(tmp_path):
    """Catches records of steps among the completions, and numbers behind the file that are not read."""
    file = tmp_path / "run.jsonl"
    places = [f"csv:{tmp_path / 'run.csv'}", f"rollouts:{file},every=2,most=1"]
    with ExitStack() as stack:
        told = loggers.all_listening(stack, places, {})
        assert {name: len(listeners) for name, listeners in told.items()} == {"on_step": 1, "on_rollout": 1}
        for step in (1, 2):
            told["on_step"][0](RECORDS[step - 1])
            told["on_rollout"][0]([record(step), record(step)])
    assert read_rollouts(file) == [record(2)] and (tmp_path / "run.csv").exists()


@pytest.mark.parametrize("behind", [",every=0", ",most=some", ",often", ",", ",every=2,seed=1"])
def test_other_numbers_behind_the_file_are_refused(behind):
    """Catches a mistyped number that becomes a part of the file's name."""
    with pytest.raises(ValueError, match="every=N, to keep every Nth step, and most=M"):
        loggers.check(f"rollouts:run.jsonl{behind}")
    loggers.check("rollouts:run.jsonl,most=8")


@pytest.mark.parametrize("where", ["run.csv", "csv:", "wandb:dots", ""])
def test_another_log_is_refused_with_those_that_there_are(where):
    with pytest.raises(ValueError, match="csv:FILE, tensorboard:FOLDER, rollouts:FILE"):
        loggers.check(where)


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(loggers, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"tensorboard is not installed; `pip install -e \"\.\[scale\]\"`"):
        loggers.check("tensorboard:runs")
    loggers.check("csv:run.csv")  # needs none
