"""The sweep of `notebooks/distillation.ipynb`: ways to spend samples on countdown where a teacher is at hand.

The teacher is the base model below its "answer key" header, at a temperature of 0.3; the student reads the plain prompt.
A distillation draws one completion of a problem, 32 a step; GRPO draws eight of 16, or eight of four, which makes as many
updates as a distillation. Measured are, on all 200 held-out problems, the shares of samples and of greedy answers that
solve them; and what is left of what the base could: the problems below the header, greedy, and dots: by samples, by the
number that the model finds likeliest among ten, which does not change as a policy gets surer, and the distance from the
base.

The rate of the distillations was chosen after single runs, judged on training problems set aside; GRPO's is that of its own
chapters, and once that of the distillations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import torch

from benchmarks.sweeps.measuring import rounded
from shared import grpo, supervised, training
from shared.algorithm import TrainingConfig
from shared.critic import logits_and_hidden
from shared.distill import TEACHER_PROMPT, Distillation, DistillConfig, TaughtExperience
from shared.engine.chance import EVALUATION
from shared.engine.sampling import Sampling
from shared.evaluate import evaluate
from shared.exact import kinds_of_answers
from shared.grpo import GRPOConfig
from shared.kl import completion_kl
from shared.logps import completion_logps
from shared.losses import masked_mean
from shared.models import frozen_copy, load_policy
from shared.recipes import RECIPES
from shared.reference import reference_model
from shared.rollout import Rollout, sample
from shared.tasks import countdown, dots
from shared.tasks.documents import ANSWER_KEY
from shared.training import rows_of_step

HELD_OUT = 200
DOTS_ROWS = 100
SAMPLES = 1024
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
NUMBERS = [str(number) for number in range(10)]


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
        held_out=with_teacher_prompts(countdown.dataset("eval", HELD_OUT, seed=0)),
        dots_rows=dots_rows,
        dots_of_base=sample(base, tokenizer, prompts, 1, Sampling(dots.MAX_NEW_TOKENS), seed=0, step=EVALUATION),
    )


def with_teacher_prompts(rows: Sequence[dict]) -> list[dict]:
    return [row | {TEACHER_PROMPT: ANSWER_KEY + row["prompt"]} for row in rows]


def solved(model, rows: Sequence[dict] | None = None, temperature: float = 1.0) -> float:
    """The share of samples that solve held-out problems; of greedy ones at temperature 0."""
    shared = setting()
    return evaluate(
        model,
        shared.tokenizer,
        shared.held_out if rows is None else rows,
        countdown.correctness_reward,
        max_new_tokens=countdown.MAX_NEW_TOKENS,
        temperature=temperature,
        num_generations=4 if temperature else 1,
    ).mean


class TokenRatio(Distillation):
    """A distillation by one number a token: the teacher's log-ratio at what the student sampled is its advantage."""

    def loss(self, experience: TaughtExperience) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        rollout = experience.rollout
        logps = completion_logps(self.model, rollout)[0]  # (B, C)
        with torch.no_grad(), reference_model(self.model, self.reference) as teacher:
            advantages = completion_logps(teacher, experience.taught)[0] - logps  # (B, C)
        loss = masked_mean(-advantages * logps, rollout.loss_mask)
        return loss, {"loss": loss.detach(), "kl": masked_mean(-advantages, rollout.loss_mask)}


def untrained(model, seed: int) -> None:
    pass


def by_distillation(model, seed: int, config: DistillConfig, algorithm: type[Distillation] = Distillation) -> None:
    shared = setting()
    ours = algorithm(
        model, shared.tokenizer, countdown.correctness_reward, replace(config, seed=seed), reference=shared.base
    )
    training.train(ours, shared.train_rows, ours.config, progress=False)


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


def by_supervision(model, seed: int, epochs: int = 1, temperature: float = TEACHER_TEMPERATURE) -> None:
    documents = documents_of_teacher(seed, temperature)
    batch = FORWARD.prompts_per_step
    config = TrainingConfig(
        steps=epochs * len(documents) // batch,
        prompts_per_step=batch,
        learning_rate=FORWARD.learning_rate,
        log_every=0,
        seed=seed,
    )
    supervised.train(model, setting().tokenizer, documents, config, progress=False)


def by_grpo(model, seed: int, config: GRPOConfig = BY_GRPO) -> None:
    shared = setting()
    rows = [{name: value for name, value in row.items() if name != TEACHER_PROMPT} for row in shared.train_rows]
    grpo.train(model, shared.tokenizer, rows, REWARDS, replace(config, seed=seed), progress=False)


CONDITIONS: dict[str, Callable] = {
    "base model": untrained,
    "log-ratio, own samples": partial(by_distillation, config=REVERSE, algorithm=TokenRatio),
    "GRPO, 8 updates": by_grpo,
    "GRPO, 8 updates, 1e-3": partial(by_grpo, config=replace(BY_GRPO, learning_rate=REVERSE.learning_rate)),
    "GRPO, 32 updates": partial(by_grpo, config=replace(BY_GRPO, steps=SAMPLES // 32, prompts_per_step=4)),
    "reverse KL, own samples": partial(by_distillation, config=REVERSE),
    "supervised, teacher's samples": by_supervision,
}


def run(name: str, seed: int) -> dict[str, float]:
    """Train one condition with one seed; the shares solved, and what is left of what the base could."""
    model = frozen_copy(setting().base).requires_grad_(True)
    CONDITIONS[name](model, seed)
    found = {"solved": solved(model), "greedy": solved(model, temperature=0.0)} | left(model)
    return {measure: rounded(value) for measure, value in found.items()}


def below_header() -> list[dict]:
    """The held-out problems as the teacher reads them."""
    return [row | {"prompt": row[TEACHER_PROMPT]} for row in setting().held_out]


def left(model) -> dict[str, float]:
    """Problems below the header, greedy; dots by samples and by the likeliest number; the distance from the base there."""
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
        "below header": solved(model, below_header(), temperature=0.0),
        "dots": counted.mean,
        "dots, likeliest": kinds_of_answers(model, shared.tokenizer, shared.dots_rows, NUMBERS)["likeliest right"],
        "KL on dots": distance.item(),
    }
