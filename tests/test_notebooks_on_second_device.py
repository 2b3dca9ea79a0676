"""Every worked notebook with a model runs on a second device, and prints there what it prints on the CPU.

The notebooks are cut to a step or two and a handful of rows, their checks to a case: what they learn and whether their
functions are right is not looked at here. The runs are slow (`make test-all`); that the cuts still fit the notebooks is
tested always.
"""

import contextlib
import io
import time
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
import torch

import shared.models
from shared.algorithm import TrainingConfig
from shared.tasks import addition, analogies, countdown, dots, poker, sentences
from tests.second_device import second_device, with_its_operations
from tests.second_device_tensor import DEVICE

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
TASKS = (addition, analogies, countdown, dots, poker, sentences)
# Caps on every run through the training loop, and on every data set by its split.
STEPS, PROMPTS_PER_STEP = 1, 4
ROWS = {"train": 64, "eval": 16}


@dataclass(frozen=True)
class Cut:
    """A text of a notebook and what stands in its place; it must occur `times` times."""

    found: str
    put: str
    times: int = 1


@dataclass(frozen=True)
class Worked:
    """The cuts of a notebook beyond the caps, and the reason why it cannot run on the device yet, if it cannot."""

    cuts: list[Cut] = field(default_factory=list)
    fails: str | None = None


CUTS = {
    "analogies": Worked([Cut("range(14)", "range(5)")]),
    "countdown": Worked(
        [
            Cut("G, PROMPTS_PER_STEP, LEARNING_RATE = 8, 10, 3e-4", "G, PROMPTS_PER_STEP, LEARNING_RATE = 8, 6, 3e-4"),
            Cut("STEPS, REPORT_EVERY = 40, 5", "STEPS, REPORT_EVERY = 2, 1"),
            Cut("(said)[::40]", "(said)[::8]"),
        ]
    ),
    "dots": Worked(
        [
            Cut("= 30, 16, 1e-4, 5", "= 2, 4, 1e-4, 1"),
            Cut("rows[:512], rows[512:]", "rows[:48], rows[48:]"),
            Cut("SEEDS = (0, 1, 2)", "SEEDS = (0,)"),
            Cut("(said)[::40]", "(said)[::8]"),
        ]
    ),
    "gradients": Worked(
        [
            Cut(
                'next(row for row in held_out if row["answer"] == label) for label in poker.LABELS',
                'row for label in poker.LABELS for row in poker.dataset("eval", 8) if row["answer"] == label',
            ),
            Cut("DRAWS = 10_000", "DRAWS = 20"),
            Cut("KEPT = (0, 6, 10, 14, 20, 30)", "KEPT = (0, 1)"),
            Cut("policies[14]", "policies[1]"),
        ]
    ),
    "own_task": Worked(
        [
            Cut('make_rows("train", 900, seed=0)', 'make_rows("train", 40, seed=0)'),
            Cut("rows[:700], rows[700:]", "rows[:32], rows[32:]"),
            Cut('make_rows("eval", 200, seed=0)', 'make_rows("eval", 32, seed=0)'),
            Cut('make_rows("new", 200, seed=0)', 'make_rows("new", 12, seed=0)'),
            Cut("train_rows[:100]", "train_rows[:16]"),
            Cut("SEEDS = (0, 1, 2)", "SEEDS = (0,)"),
            Cut("steps=20, prompts_per_step=8", "steps=1, prompts_per_step=2"),
            Cut("log_every=10", "log_every=1"),
            Cut("steps=40, prompts_per_step=16", "steps=1, prompts_per_step=2"),
            Cut("log_every=20", "log_every=1"),
            Cut("range(0, 200, 50)", "range(0, 32, 16)"),
        ]
    ),
    "more_samples": Worked(
        [
            Cut('{"dots": 512, "poker": 2000}', '{"dots": 32, "poker": 32}'),
            Cut("SIZES[name] + 100", "SIZES[name] + 8"),
            Cut("DRAWN, G, SEED = 64, 8, 3", "DRAWN, G, SEED = 32, 8, 3"),
            Cut("PAIRS = 200", "PAIRS = 8"),
            Cut("for seed in (0, 1, 2)", "for seed in (0,)"),
        ]
    ),
    "off_policy": Worked(
        [
            Cut("G, N = 8, 16", "G, N = 8, 4"),
            Cut("UPDATES, LOOK_EVERY = 10, 2", "UPDATES, LOOK_EVERY = 2, 1"),
            Cut('for name in ("no ratio", "ratio", "clipped", "GSPO")', 'for name in ("clipped", "GSPO")'),
            Cut("ROLLOUTS, SEED = 32, 3", "ROLLOUTS, SEED = 8, 3"),
            Cut("rows[:512], rows[512:]", "rows[:48], rows[48:]"),
        ]
    ),
    "ratio_weights": Worked(
        [
            Cut(
                '[next(r["prompt"] for r in rows if r["answer"] == label) for label in poker.LABELS]',
                '[r["prompt"] for label in poker.LABELS for r in poker.dataset("eval", 8) if r["answer"] == label]',
            ),
            Cut("ROLLOUTS, SEED = 12, 3", "ROLLOUTS, SEED = 4, 3"),
            Cut("num_iterations=8", "num_iterations=2"),
            Cut('END = f"reward at {ROLLOUTS}"', 'END = "reward at 12"'),
            Cut("KEPT, DRAWS = (2, 4, 6, 8), 2_000", "KEPT, DRAWS = (2,), 20"),
            Cut("range(0, 200, 45)", "range(0, 16, 4)"),
            Cut("steps=10, log_every=10", "steps=4, log_every=4"),
            Cut("for bits in (16, 4, 3, 2)", "for bits in (2,)"),
        ]
    ),
    "poker": Worked(),
    "ppo": Worked(
        [
            Cut("train_rows[:48]", "train_rows[:8]"),
            Cut("steps=10, prompts_per_step=48", "steps=2, prompts_per_step=4"),
            Cut("steps=20, prompts_per_step=32", "steps=1, prompts_per_step=4"),
            Cut("steps=5, prompts_per_step=16", "steps=1, prompts_per_step=4"),
            Cut("SEEDS = (0, 1, 2)", "SEEDS = (0,)"),
        ]
    ),
    "transfer": Worked(
        [
            Cut("EACH = 60", "EACH = 2"),
            Cut('dataset("train", 40, operands=range(10))', 'dataset("train", 2, operands=range(10))'),
            Cut("sum_rows[:8]", "sum_rows[:2]"),
            Cut("steps=30,", "steps=2,"),
            Cut("log_every=10", "log_every=1"),
            Cut("SEEDS = (0, 1, 2)", "SEEDS = (0,)"),
        ]
    ),
    "game": Worked(
        [
            Cut("SEED, STEPS, RATE, REPORT_EVERY = 0, 60, 2e-4, 20", "SEED, STEPS, RATE, REPORT_EVERY = 0, 1, 2e-4, 1"),
            Cut("range(400)", "range(16)"),
            Cut("num_generations: int = 64", "num_generations: int = 2"),
            Cut("steps=10,", "steps=1,"),
            Cut("for seed in (0, 1, 2)", "for seed in (0,)"),
        ]
    ),
    "reward_model": Worked(
        [
            Cut("PAIRS = 200", "PAIRS = 30"),
            Cut("(said)[::12]", "(said)[::4]"),
            Cut("(1, 3, 6, 9, 12)", "(1,)"),
            Cut("SEEDS = (0, 1, 2)", "SEEDS = (0,)"),
        ]
    ),
    "reasoning_format": Worked(
        [
            Cut("PROMPTS_PER_STEP = 8, 0.6, 0.2, 16", "PROMPTS_PER_STEP = 8, 0.6, 0.2, 2"),
            Cut("STEPS, REPORT_EVERY = 20, 5", "STEPS, REPORT_EVERY = 1, 1"),
            Cut("train_rows[:16]", "train_rows[:4]", times=2),
            Cut("held_out[:40]", "held_out[:2]"),
            Cut("steps=10,", "steps=1,"),
            Cut("(said)[::40]", "(said)[::8]"),
            Cut('find_spec("bitsandbytes")', "None"),  # its kernels know CUDA and the CPU alone
        ]
    ),
    "distillation": Worked(
        [
            Cut("N, G = 16, 4", "N, G = 4, 2"),
            Cut('dataset("eval", 200, seed=0)[:100]', 'dataset("eval", 200, seed=0)[:4]'),
            Cut("steps=32, prompts_per_step=32", "steps=2, prompts_per_step=4"),
            Cut("log_every=8", "log_every=1"),
            Cut("(said)[::20]", "(said)[::1]"),
        ]
    ),
    "what_rl_adds": Worked(
        [
            Cut(
                "PER_ROUND, MOST, EPOCHS, BATCH, LEARNING_RATE = 8, 4, 160,",
                "PER_ROUND, MOST, EPOCHS, BATCH, LEARNING_RATE = 8, 1, 32,",
            ),
            Cut("rows_of_step(train_rows, 48,", "rows_of_step(train_rows, 8,"),
            Cut("[::40]", "[::8]"),
        ]
    ),
}


def test_every_notebook_with_a_model_is_here():
    """Catches a new notebook that nobody tried on a second device."""
    assert sorted(CUTS) == sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb") if path.stem != "maxent_irl")


@pytest.mark.parametrize("name", CUTS)
def test_the_cuts_fit_the_notebook(name):
    """Catches a cut that no longer cuts anything: the slow run would take as long as the notebook itself."""
    cells(name)


@pytest.mark.slow
@pytest.mark.usefixtures("patient_judge", "one_case", "shapes_unchecked")
@pytest.mark.parametrize("name", CUTS)
def test_a_notebook_prints_on_the_second_device_what_it_prints_on_the_cpu(name, monkeypatch, request):
    """Catches a generator, a mask or an index of the CPU among tensors of the device, and numbers that depend on it."""
    if CUTS[name].fails:
        request.applymarker(pytest.mark.xfail(strict=False, reason=CUTS[name].fails))
    cap(monkeypatch)
    with with_its_operations():
        here = printed_by(name, torch.device("cpu"), monkeypatch)
        with second_device():
            there = printed_by(name, DEVICE, monkeypatch)
    assert there.replace(str(DEVICE), "cpu").splitlines() == here.splitlines()


def cells(name: str) -> list[str]:
    """The code cells of a notebook with its cuts made; AssertionError for one that does not fit."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    for cut in CUTS[name].cuts:
        times = sum(source.count(cut.found) for source in sources)
        assert times == cut.times, (
            f"{cut.found!r} stands {times} times in {name}.ipynb, {cut.times} expected: change the cut in CUTS."
        )
        sources = [source.replace(cut.found, cut.put) for source in sources]
    return sources


def cap(monkeypatch) -> None:
    """Shorten every training run and every data set; let no time pass, so that it is not printed."""
    check = TrainingConfig.__post_init__

    def capped(config) -> None:
        object.__setattr__(config, "steps", min(config.steps, STEPS))
        object.__setattr__(config, "prompts_per_step", min(config.prompts_per_step, PROMPTS_PER_STEP))
        check(config)

    def few_rows(dataset):
        def few(split, *args, **options):
            rows = dataset(split, *args, **options)
            return rows[:: max(1, len(rows) // ROWS[split])][: ROWS[split]]  # a data set may be sorted

        return few

    monkeypatch.setattr(TrainingConfig, "__post_init__", capped)
    for task in TASKS:
        monkeypatch.setattr(task, "dataset", few_rows(task.dataset))
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)


def printed_by(name: str, device: torch.device, monkeypatch) -> str:
    """Run the notebook's cells one after another on `device`; the text that they print."""
    monkeypatch.setattr(shared.models, "best_device", lambda: device)
    namespace = {"__name__": "__main__"}
    printed = io.StringIO()
    torch.manual_seed(0)
    with contextlib.redirect_stdout(printed), plt.rc_context():
        for number, source in enumerate(cells(name)):
            exec(compile(source, str(NOTEBOOKS / f"{name}.ipynb code cell {number}"), "exec"), namespace)
    plt.close("all")
    return printed.getvalue()
