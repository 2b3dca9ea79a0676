"""The page on the checks says what was measured, and where it falls short."""

from argparse import Namespace

import torch

from benchmarks.checks import of_verdicts, to_read
from benchmarks.checks_report import report
from shared.exercises.catalogue.distillation import teacher_rows
from shared.exercises.catalogue.dots import get_reward, grpo_loss
from shared.exercises.catalogue.maxent_irl import compute_expected_svf


def measured(accepted: dict, seconds: float = 0.2) -> dict:
    """One exercise of two slips and fifty mutants."""
    measures = {
        "verdicts": {
            "right": 0.1,
            "wrong": {"negative": seconds, "doubled": 0.1},
            "things": {"negative": 4, "doubled": 2},
            "characters": {"negative": 0, "doubled": 0},
            "not named": [],
        },
        "right": {"tried": 3, "rejected": []},
        "pairs": {
            "tried": 1,
            "passing": [],
            "judged": 1,
            "not told": [],
            "untold": [["negative", "twice negative", "nothing is left of them"]],
        },
        "mutants": {
            "tried": 50,
            "seeds": 2,
            "accepted": accepted,
            "equivalent": {"loss: return +x": "the same number"},
        },
    }
    return {"exercises": {"loss": measures}, "hostile": {"endless": 2.4}}


def lines_with(page: str, text: str) -> list[str]:
    return [line for line in page.splitlines() if text in line]


def test_a_figure_that_falls_short_is_said_to():
    """Catches a page that is proud of everything."""
    page = report(measured({"0": ["loss: return -x", "loss: return x - 1"]}, seconds=3.5))
    assert lines_with(page, "slowest verdict, wrong") == ["| slowest verdict, wrong | 3 s | 3.50 s | **no** |"]
    assert lines_with(page, "mutants rejected") == ["| mutants rejected, 50 over 2 seeds | 98% | 98.00% | yes |"]
    assert lines_with(page, "lowest exercise") == ["| the same, lowest exercise and seed | 98% | 96.0% | **no** |"]
    assert lines_with(page, "return x - 1") == ["| loss | `loss: return x - 1` | seeds 0 |"]


def test_what_is_excused_stands_there_with_its_reason():
    """Catches mutants and pairs that are left out of the figures and of the page."""
    page = report(measured({}))
    assert lines_with(page, "return +x") == ["| loss | `loss: return +x` | the same number |"]
    assert lines_with(page, "twice negative") == ["| loss | negative and twice negative | nothing is left of them |"]
    assert lines_with(page, "hostile") and "yes" in lines_with(page, "slowest verdict of 1 hostile")[0]
    assert "seeds accept" not in page


def test_the_bank_has_its_shares():
    """Catches a share that is taken of the right functions as well."""
    half = {"wrong": 20, "named by a slip": 12, "named by a fact": 3, "unnamed": 4, "accepted": 1, "right": 30} | {
        "refused": ["x"]
    }
    page = report(
        measured({})
        | {"bank": {"date": "2026-11-23", "opened": {"held_out": half}, "now": {"second": half | {"unnamed": 0}}}}
    )
    assert lines_with(page, "held out") == ["| held out | 20 | 12 (60%) | 3 (15%) | 4 (20%) | 1 (5%) | 30 | 1 |"]
    assert lines_with(page, "| second") == ["| second | 20 | 12 (60%) | 3 (15%) | 0 (0%) | 1 (5%) | 30 | 1 |"]


def test_a_slip_that_its_verdict_names_is_counted_as_named():
    """Catches a comparison with something else than what an explanation holds: all slips were counted as not named."""
    found = of_verdicts(teacher_rows.EXERCISE, teacher_rows, Namespace())
    assert len(found["wrong"]) >= 5
    assert found["not named"] == []


def test_what_is_to_be_read_is_what_a_verdict_shows():
    """Catches a count of masks that nobody sees, of characters as numbers, of zeros in a world that is told in words."""
    case = grpo_loss.EXERCISE.boundary()[0]
    assert to_read(grpo_loss.EXERCISE, case) == (6, 0)
    assert to_read(grpo_loss.EXERCISE, case | {"completion_mask": torch.zeros(1, 1)}) == (7, 0)
    texts = {"prompts": [""], "completions": [" 12"], "answer": ["3"]}
    assert to_read(get_reward.EXERCISE, texts) == (2, 4)
    world = compute_expected_svf.EXERCISE.boundary()[1]
    assert to_read(compute_expected_svf.EXERCISE, world) == (3 + 1 + 1 + 3, 0)
