"""The sweep of `notebooks/distillation.ipynb`: ways to spend samples on countdown where a teacher is at hand.

The teacher is the base model below its "answer key" header, at a temperature of 0.3; the student reads the plain prompt.
A distillation draws one completion of a problem, 32 a step; GRPO draws eight of 16. Measured are, on held-out problems,
the share of the student's samples at temperature 1 that solve them, after so many samples of training, and at the end
what is left of what the base could: the problems below the header, another task, and the distance from the base on that
other task. The problems are those on which `what_rl_adds` measures pass@1, so that its GRPO with 5,120 samples stands
beside. Each control differs from one of the first ways in one thing.

The rate of the distillations was chosen after single runs, judged on training problems set aside; GRPO's is that of its own
chapters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import torch

from benchmarks.sweeps.measuring import rounded
from shared import distill, grpo, supervised
from shared.algorithm import TrainingConfig
from shared.critic import logits_and_hidden
from shared.distill import TEACHER_PROMPT, DistillConfig
from shared.engine.chance import EVALUATION
from shared.engine.sampling import Sampling
from shared.evaluate import evaluate
from shared.grpo import GRPOConfig
from shared.kl import completion_kl
from shared.models import frozen_copy, load_policy
from shared.recipes import RECIPES
from shared.rollout import Rollout, sample
from shared.tasks import countdown, dots
from shared.tasks.documents import ANSWER_KEY
from shared.training import rows_of_step

HELD_OUT = 100
DOTS_ROWS = 100
SAMPLES = 1024
# How many samples of a held-out problem are drawn after so many samples of training.
DRAWS_AT = {256: 2, 512: 2, 1024: 4}
TEACHER_TEMPERATURE = 0.3
REVERSE = DistillConfig(
    steps=SAMPLES // 32,
    prompts_per_step=32,
    max_new_tokens=countdown.MAX_NEW_TOKENS,
    learning_rate=RECIPES["countdown"].own["distill"]["learning_rate"],
    teacher_temperature=TEACHER_TEMPERATURE,
    log_every=0,
)
FORWARD = replace(REVERSE, distillation_alpha=0.0, sampled_by="teacher")
BY_GRPO = GRPOConfig(
    steps=SAMPLES // 128,
    prompts_per_step=16,
    num_generations=8,
    max_new_tokens=countdown.MAX_NEW_TOKENS,
    learning_rate=RECIPES["countdown"].settings["learning_rate"],
    log_every=0,
)
REWARDS = [countdown.format_reward, countdown.correctness_reward]
Curve = list[dict[str, float]]


@dataclass(frozen=True)
class Setting:
    """The parts that all runs share: the base model, the problems, and the base's samples of another task."""

    base: torch.nn.Module
    tokenizer: object
    train_rows: list[dict]
    held_out: list[dict]
    dots_rows: list[dict]
    dots_of_base: Rollout


@cache
def setting() -> Setting:
    base, tokenizer = load_policy()
    base = frozen_copy(base)
    dots_rows = dots.dataset("eval", DOTS_ROWS, seed=0)
    prompts = [row["prompt"] for row in dots_rows]
    return Setting(
        base=base,
        tokenizer=tokenizer,
        train_rows=with_teacher_prompts(countdown.dataset("train", 1000, seed=0)),
        held_out=with_teacher_prompts(countdown.dataset("eval", 200, seed=0)[:HELD_OUT]),
        dots_rows=dots_rows,
        dots_of_base=sample(base, tokenizer, prompts, 1, Sampling(dots.MAX_NEW_TOKENS), seed=0, step=EVALUATION),
    )


def with_teacher_prompts(rows: Sequence[dict]) -> list[dict]:
    return [row | {TEACHER_PROMPT: ANSWER_KEY + row["prompt"]} for row in rows]


def solved(model, rows: Sequence[dict] | None = None, temperature: float = 1.0, draws: int = 4) -> float:
    """The share of samples that solve held-out problems; of greedy ones at temperature 0."""
    shared = setting()
    return evaluate(
        model,
        shared.tokenizer,
        shared.held_out if rows is None else rows,
        countdown.correctness_reward,
        max_new_tokens=countdown.MAX_NEW_TOKENS,
        temperature=temperature,
        num_generations=draws if temperature else 1,
    ).mean


class Curves:
    """Measures the model whenever so many samples were spent; a listener of the training loop.

    draws_at: how many samples of a held-out problem are drawn after so many samples of training.
    rows: the problems, by default the chapter's.
    """

    def __init__(
        self, model, samples_per_step: int, draws_at: dict[int, int] = DRAWS_AT, rows: Sequence[dict] | None = None
    ):
        self.model = model
        self.samples_per_step = samples_per_step
        self.draws_at = draws_at
        self.rows = rows
        self.points: Curve = []

    def __call__(self, record: dict) -> None:
        samples = record["step"] * self.samples_per_step
        if samples in self.draws_at:
            share = solved(self.model, self.rows, draws=self.draws_at[samples])
            self.points.append({"samples": samples, "solved": rounded(share)})


def untrained(model, seed: int) -> Curve:
    return []


def by_distillation(model, seed: int, config: DistillConfig, curve: Curves | None = None) -> Curve:
    shared = setting()
    curve = curve or Curves(model, config.prompts_per_step)
    distill.train(
        model,
        shared.tokenizer,
        shared.train_rows,
        countdown.correctness_reward,
        replace(config, seed=seed),
        teacher=shared.base,
        progress=False,
        on_step=curve,
    )
    return curve.points


def documents_of_teacher(seed: int, temperature: float = TEACHER_TEMPERATURE) -> list[dict]:
    """The completions that the forward KL learns from, draw for draw, as documents for supervised training."""
    shared = setting()
    documents = []
    for step in range(FORWARD.steps):
        rows = rows_of_step(shared.train_rows, FORWARD.prompts_per_step, step, seed)
        sampling = Sampling(FORWARD.max_new_tokens, temperature)
        told = [row[TEACHER_PROMPT] for row in rows]
        drawn = sample(shared.base, shared.tokenizer, told, 1, sampling, seed=seed, step=step)
        documents += [{"prompt": row["prompt"], "completion": c} for row, c in zip(rows, drawn.completions)]
    return documents


def by_supervision(model, seed: int, epochs: int = 1, temperature: float = TEACHER_TEMPERATURE) -> Curve:
    shared = setting()
    documents = documents_of_teacher(seed, temperature)
    batch = FORWARD.prompts_per_step
    config = TrainingConfig(
        steps=epochs * len(documents) // batch,
        prompts_per_step=batch,
        learning_rate=FORWARD.learning_rate,
        log_every=0,
        seed=seed,
    )
    curve = Curves(model, batch) if epochs == 1 else ()
    supervised.train(model, shared.tokenizer, documents, config, progress=False, on_step=curve)
    return curve.points if epochs == 1 else [{"samples": SAMPLES, "solved": rounded(solved(model))}]


def by_grpo(model, seed: int, config: GRPOConfig = BY_GRPO, curve: Curves | None = None) -> Curve:
    shared = setting()
    curve = curve or Curves(model, config.prompts_per_step * config.num_generations)
    grpo.train(
        model,
        shared.tokenizer,
        [{name: value for name, value in row.items() if name != TEACHER_PROMPT} for row in shared.train_rows],
        REWARDS,
        replace(config, seed=seed),
        progress=False,
        on_step=curve,
    )
    return curve.points


CONDITIONS: dict[str, Callable] = {
    "base model": untrained,
    "reverse KL, own samples": partial(by_distillation, config=REVERSE),
    "forward KL, teacher's samples": partial(by_distillation, config=FORWARD),
    "supervised, teacher's samples": by_supervision,
    "GRPO": by_grpo,
    "forward KL, own samples": partial(by_distillation, config=replace(FORWARD, sampled_by="student")),
    "supervised, three epochs": partial(by_supervision, epochs=3),
}


def run(name: str, seed: int) -> dict:
    """Train one condition with one seed; the shares solved on the way, and what is left of what the base could."""
    model = frozen_copy(setting().base).requires_grad_(True)
    curve = CONDITIONS[name](model, seed)
    found = {"solved": curve[-1]["solved"] if curve else solved(model)} | left(model)
    if name == "base model":
        found["teacher"] = solved(model, below_header(), TEACHER_TEMPERATURE)
    return {measure: rounded(value) for measure, value in found.items()} | {"curve": curve}


def below_header() -> list[dict]:
    """The held-out problems as the teacher reads them."""
    return [row | {"prompt": row[TEACHER_PROMPT]} for row in setting().held_out]


def left(model) -> dict[str, float]:
    """Greedy answers, those below the header, dots counted right by samples, and the distance from the base on dots."""
    shared = setting()
    counted = evaluate(
        model,
        shared.tokenizer,
        shared.dots_rows,
        dots.reward,
        max_new_tokens=dots.MAX_NEW_TOKENS,
        temperature=1.0,
        num_generations=4,
    )
    rollout = shared.dots_of_base
    with torch.no_grad():
        base_logits, logits = (logits_and_hidden(each, rollout)[0] for each in (shared.base, model))
        distance = completion_kl(base_logits, logits, rollout.completion_mask).mean()
    return {
        "greedy": solved(model, temperature=0.0),
        "below header": solved(model, below_header(), temperature=0.0),
        "dots": counted.mean,
        "KL on dots": distance.item(),
    }


def told(measured: dict) -> str:
    """A run in a few words."""
    curve = " ".join(f"{point['samples']}: {point['solved']:.3f}" for point in measured["curve"])
    ends = ", ".join(
        f"{name} {measured[name]:.3f}" for name in ("solved", "greedy", "below header", "dots", "KL on dots")
    )
    return f"{curve}; {ends}"
