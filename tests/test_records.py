"""The records of a run: the log, the bar, evaluations, checkpoints, advice, an interrupt."""

from dataclasses import replace

import pytest

from shared import training
from shared.progress import LINE_WIDTH, SHOWN, above_the_bar, log_line
from shared.training import train
from tests.line import CONFIG, ROWS, Line


def test_listeners_and_evaluation_come_at_their_steps(capsys):
    seen, again = [], []
    config = replace(CONFIG, eval_every=2, log_every=2)
    history = train(
        Line(), ROWS, config, evaluate=lambda model: 0.25, on_step=[seen.append, again.append], progress=False
    )
    assert seen == again == history and ["eval_reward" in record for record in history] == [False, True, False, True]
    assert all(record["step_time"] > 0 for record in history)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "average reward 0.500" in lines[0] and "average reward 2.500" in lines[1]
    assert all("held-out 0.250" in line for line in lines)


def test_a_line_of_the_log_shows_the_average_of_what_is_there():
    """Word for word: a metric under another name would be missing from the log, and nobody would be told."""
    first = {
        "step": 9,
        "reward": 0.0,
        "loss": -1.0,
        "value_loss": 2.0,
        "kl": 0.1,
        "entropy": 1.5,
        "frac_reward_zero_std": 0.25,
        "completions/mean_length": 11.0,
        "skipped": 1.0,
        "grad_norm": 7.0,
    }
    second = first | {"step": 10, "eval_reward": 0.75}
    third = first | {"step": 11, "reward": 1.0, "kl": 0.4, "eval_reward": 0.125}
    assert log_line([first, second, third]) == (
        "step  11  average reward 0.333  loss -1.000  value loss 2.000  kl 0.200  entropy 1.50\n"
        "          equal groups 0.25  length 11.0  held-out 0.125  skipped 3"
    )
    assert log_line([{"step": 1, "loss": -0.0001, "reward": -0.0, "skipped": 0.0}]) == (
        "step   1  average reward 0.000  loss +0.000"
    )
    assert log_line([{"step": 1000, "loss": 0.5, "skipped": 0.0}]) == "step 1000  loss +0.500"
    assert log_line([{"step": 1, "kl": 1.0, "skipped": 0.0}, {"step": 2, "skipped": 0.0}]) == "step   2  kl 1.000"


@pytest.mark.parametrize("missing", ["value_loss", "frac_reward_zero_std"])
def test_the_usual_columns_fit_into_a_line(missing):
    """GRPO has no value loss, and PPO no groups. Catches a line that a page cuts or wraps."""
    measured = dict.fromkeys(SHOWN, 8.888) | {"reward": 29.3, "completions/mean_length": 22.2}
    measured.pop(missing)
    line = log_line([measured | {"step": 999, "skipped": 0.0}])
    assert len(line) <= LINE_WIDTH and "\n" not in line


def test_what_is_said_is_wrapped_at_words(capsys):
    """A sentence of advice in one line of 400 characters; a path that is torn apart."""
    path = "/" + "x" * 120
    above_the_bar("word " * 60 + path + "\nanother")
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > LINE_WIDTH] == [path] and lines[-1] == "another"


def test_what_comes_every_third_step_comes_at_steps_3_and_6(monkeypatch, tmp_path, capsys):
    """Catches a count that begins at 0, or that is one off: every second step would hide some of that."""
    saved = []
    monkeypatch.setattr(training.RunFile, "save", lambda run_file, history: saved.append(len(history)))
    config = replace(CONFIG, steps=7, eval_every=3, log_every=3, checkpoint_every=3)
    history = train(
        Line(), ROWS, config, evaluate=lambda model: 1.0, checkpoint_path=tmp_path / "run.pt", progress=False
    )
    assert [record["step"] for record in history if "eval_reward" in record] == [3, 6] and saved == [3, 6]
    lines = capsys.readouterr().out.splitlines()
    assert [line[:10] for line in lines] == ["step   3  ", "step   6  "] and "average reward 4.000" in lines[1]


def test_no_evaluation_and_no_checkpoint_unless_asked(tmp_path):
    def never(model):
        raise AssertionError("evaluated")

    path = tmp_path / "run.pt"
    history = train(Line(), ROWS, CONFIG, evaluate=never, checkpoint_path=path, progress=False)
    assert len(history) == 4 and not path.exists()
    assert "eval_reward" not in train(Line(), ROWS, replace(CONFIG, eval_every=1), progress=False)[0]


def test_one_listener_is_enough_and_evaluation_sees_the_model():
    line = Line()
    seen = []
    config = replace(CONFIG, steps=1, eval_every=1)
    history = train(line, ROWS, config, evaluate=lambda model: model is line.model, on_step=seen.append, progress=False)
    assert seen == history and history[0]["eval_reward"] == 1.0


def test_the_time_of_a_step_is_from_its_begin_to_its_end(monkeypatch):
    """A clock that is one second later whenever it is looked at."""
    clock = iter(range(100, 200))
    monkeypatch.setattr(training.time, "perf_counter", lambda: float(next(clock)))
    assert [record["step_time"] for record in train(Line(), ROWS, CONFIG, progress=False)] == [1.0] * 4


def test_what_is_told_of_a_step_is_the_mean_over_its_updates():
    assert training.mean_metrics([{"a": 1.0}, {"a": 3.0}, {"a": 8.0}]) == {"a": 4.0}


class Bar:
    """A bar in tqdm's place that writes down what the loop asks of it."""

    def __init__(self, **options):
        self.options = options
        self.updates = 0
        self.shown = {}
        self.closed = False

    def update(self):
        self.updates += 1

    def set_postfix(self, shown):
        self.shown = shown

    def close(self):
        self.closed = True


@pytest.mark.parametrize("progress", [True, False])
def test_the_bar_counts_the_steps_and_shows_reward_and_loss(progress, monkeypatch, tmp_path):
    """Catches a bar that begins at 0 after a resumed run, or that is shown although it is switched off."""
    bars = []

    def make(**options):
        bars.append(Bar(**options))
        return bars[-1]

    monkeypatch.setattr(training, "tqdm", make)
    config = replace(CONFIG, steps=2, checkpoint_every=1)
    train(Line(), ROWS, config, checkpoint_path=tmp_path / "run.pt", progress=progress)
    history = train(Line(), ROWS, replace(config, steps=4), checkpoint_path=tmp_path / "run.pt", progress=progress)
    options = {"desc": "line", "unit": "step", "disable": not progress, "leave": False}
    assert bars[0].options == options | {"total": 2, "initial": 0}
    assert bars[1].options == options | {"total": 4, "initial": 2}
    assert [bar.updates for bar in bars] == [2, 2] and all(bar.closed for bar in bars)
    assert bars[1].shown == {"reward": "3.000", "loss": f"{history[-1]['loss']:.3f}"}


def test_training_and_a_bar_are_shown_by_default(monkeypatch):
    bars = []
    monkeypatch.setattr(training, "tqdm", lambda **options: bars.append(Bar(**options)) or bars[-1])
    train(Line(), ROWS, CONFIG)
    assert not bars[0].options["disable"]


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    """Catches what tells runs apart and does not reach the file (algorithm, data, settings), and a file without a name."""
    path = tmp_path / "run.pt"
    config = replace(CONFIG, steps=1, checkpoint_every=1)
    train(Line(), ROWS, config, checkpoint_path=path, progress=False)
    another = Line()
    another.name = "curve"
    with pytest.raises(ValueError, match="run.pt.*(line.*curve|curve.*line)"):
        train(another, ROWS, config, checkpoint_path=path, progress=False)
    with pytest.raises(ValueError, match="rows|data"):
        train(Line(), ROWS[:-1], config, checkpoint_path=path, progress=False)
    with pytest.raises(ValueError, match="learning_rate"):
        train(Line(), ROWS, replace(config, learning_rate=1.0), checkpoint_path=path, progress=False)


def test_advice_is_given_once(capsys):
    line = Line()
    line.advice = lambda history: "nothing to learn" if len(history) >= 2 else None
    train(line, ROWS, CONFIG, progress=False)
    assert capsys.readouterr().out.count("nothing to learn") == 1


@pytest.mark.parametrize(("log_every", "stays"), [(1, True), (0, False)])
def test_the_bar_of_a_run_that_logs_nothing_goes(log_every, stays, capsys):
    """Catches a cell of nine short runs without a sign of life, and one that nine finished bars are left of."""
    train(Line(), ROWS, replace(CONFIG, steps=2, log_every=log_every))
    shown = capsys.readouterr().err
    assert "2/2" in shown
    assert ("2/2" in shown.rsplit("\r", 1)[-1]) == stays


def test_an_interrupt_returns_what_was_learned(capsys):
    line = Line()

    def stop(record):
        if record["step"] == 2:
            raise KeyboardInterrupt

    assert len(train(line, ROWS, CONFIG, progress=False, on_step=stop)) == 2
    assert "Interrupted after 2 of 4" in capsys.readouterr().out
