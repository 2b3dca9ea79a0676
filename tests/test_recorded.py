"""Sweeps that were run beforehand: read by notebooks, made again by a command."""

import json
import re
from dataclasses import asdict, replace

import pytest

from benchmarks.sweeps import gradients, poker, transfer
from shared.recorded import SWEEPS, Recorded, recorded

CHAPTERS = {"gradients": gradients, "poker": poker, "transfer": transfer}
MADE = Recorded(
    chapter="dots",
    command="python -m benchmarks.sweeps dots",
    code="1.0 at 1234567",
    date="2026-01-31",
    threads=1,
    runs=(
        {"condition": "A", "seed": 0, "seconds": 2.0, "reward": 0.5, "curve": [1, 2]},
        {"condition": "A", "seed": 1, "seconds": 3.0, "reward": 0.75, "curve": [3, 4]},
        {"condition": "B", "seed": 0, "seconds": 4.0, "reward": 0.1},
    ),
)


def test_what_was_written_is_read_again(tmp_path):
    (tmp_path / "dots.json").write_text(json.dumps(asdict(MADE)))
    assert recorded("dots", tmp_path) == MADE


def test_the_origin_stands_in_one_line():
    """Catches a figure of another day and another code that passes for today's."""
    for part in ("3 runs", "seeds 0, 1", "9 processor seconds", "2026-01-31", "1.0 at 1234567"):
        assert part in MADE.origin
    assert "\n" not in MADE.origin


def test_the_spread_is_over_the_seeds():
    assert MADE.conditions == ["A", "B"] and MADE.seeds == [0, 1]
    assert MADE.spread("A", "reward") == (0.625, 0.5, 0.75)
    assert MADE.spread("A", lambda run: run["curve"][-1]) == (3.0, 2, 4)


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(KeyError, match="'C'; there are A, B"):
        MADE.of("C")
    with pytest.raises(FileNotFoundError, match="python -m benchmarks.sweeps poker"):
        recorded("poker", tmp_path)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_recorded_sweep_has_every_condition_and_three_seeds(chapter):
    """Catches a condition that was added and never run, and a trial that was written."""
    sweep = recorded(chapter)
    assert sweep.chapter == chapter and sweep.conditions == list(CHAPTERS[chapter].CONDITIONS)
    for condition in sweep.conditions:
        assert [run["seed"] for run in sweep.of(condition)] == [0, 1, 2]
    assert re.search(r"at [0-9a-f]{7}$", sweep.code), "a sweep is made by code that is committed"
    assert {path.stem for path in SWEEPS.glob("*.json")} == set(CHAPTERS)


@pytest.mark.slow
@pytest.mark.parametrize("condition", gradients.CONDITIONS)
def test_one_seed_of_each_condition_comes_out_as_recorded(condition):
    """Catches figures that today's code no longer gives. Other machines round differently: hence the tolerance."""
    now = gradients.run(condition, seed=0)
    then = recorded("gradients").of(condition)[0]
    for measure in ("reward at 10", "reward at 30", "KL at 10"):
        assert now[measure] == pytest.approx(then[measure], abs=0.1), measure
    if "curve" in then:
        assert [point["step"] for point in now["curve"]] == [point["step"] for point in then["curve"]]


@pytest.mark.slow
@pytest.mark.parametrize("condition", transfer.CONDITIONS)
def test_one_seed_of_transfer_comes_out_as_recorded(condition):
    """As above, for rows of dots by length and for sums with a calculator."""
    now = transfer.run(condition, seed=0)
    then = recorded("transfer").of(condition)[0]
    if "held out" in then:
        assert now["held out"][:4] == pytest.approx(then["held out"][:4], abs=0.2)
    else:
        assert now["right"] == pytest.approx(then["right"], abs=0.2)


def test_a_short_run_of_transfer_measures_lengths_and_sums(monkeypatch):
    """One step of each part on a few rows: which figures come, and that validation rows are none of the training's."""
    monkeypatch.setattr(transfer, "ROWS_OF_A_LENGTH", 2)
    monkeypatch.setattr(transfer, "SUMS", 2)
    assert {len(shares) for shares in transfer.run("rate 1e-4", seed=0, steps=1).values()} == {11}
    assert set(transfer.run("its tokens learnt", seed=0, steps=1)) == {"in format", "right", "one too high", "copied"}
    trained = [{"prompt": row["prompt"]} for row in transfer.rows_by_length("train", seed=1)[:3]]
    assert not {row["prompt"] for row in transfer.rows_for_choosing(trained)} & {row["prompt"] for row in trained}


def test_a_run_measures_what_its_settings_say(monkeypatch):
    """One step of one condition on a few hands: the settings, and that the reference is the untrained model."""
    monkeypatch.setattr(gradients, "MEASURED_AT", (1,))
    condition = gradients.CONDITIONS["RLOO"]
    config = replace(condition.config, prompts_per_step=2, num_generations=2)
    monkeypatch.setitem(gradients.CONDITIONS, "RLOO", replace(condition, config=config, with_curve=False))
    measured = gradients.run("RLOO", seed=0, steps=1)
    assert set(measured) == {"reward at 1", "KL at 1"}
    assert 0 < measured["reward at 1"] < 1 and 0 <= measured["KL at 1"] < 0.5
