"""The sweep of `notebooks/transfer.ipynb`: what training on short rows does to long ones, and a calculator that is wrong.

First part: dots, trained on rows of 4 to 6 symbols with several learning rates and numbers of steps and measured at 4
to 10: on rows for choosing a setting, on the same below the header, and on held-out ones of 10. Three settings have one
product of rate and steps. Second part: addition with the reward of the format alone and a calculator whose sums are all
one too large, with and without its tokens in the loss; then the policy adds alone, and below the header. Controls: a
right calculator, and one that is right and writes a 0 before its sum, which is true and unusual.

Written before these runs, when three seeds of the last control had been seen: an unusual spelling costs adding if every
seed that learns it is right below 0.7 and every seed that learns usual sums above; the mask prevents that if every masked
seed is above. Of one product the small rate keeps more if each of its seeds keeps more than each at 1e-4.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import torch

from shared import grpo, training
from shared.engine.processes import ALL_ROWS, Share
from shared.environment import Environment
from shared.evaluate import evaluate
from shared.experience import Experience
from shared.grpo import GRPO, GRPOConfig
from shared.logps import completion_logps
from shared.models import frozen_copy, load_policy
from shared.tasks import addition, dots
from shared.tasks.documents import ANSWER_KEY

TRAINED_ON = range(4, 7)
MEASURED_AT = range(4, 11)
LONG = 10  # symbols of the held-out rows: four more than are trained on
ROWS_OF_A_LENGTH = 60
SUMS = 100
SHORT = GRPOConfig(
    steps=30,
    prompts_per_step=16,
    num_generations=8,
    max_new_tokens=dots.MAX_NEW_TOKENS,
    learning_rate=1e-4,
    log_every=0,
)
FORMAT = GRPOConfig(
    steps=15,
    prompts_per_step=8,
    num_generations=8,
    max_new_tokens=addition.MAX_NEW_TOKENS,
    learning_rate=3e-4,
    log_every=0,
)


class LearnsWhatItHears(GRPO):
    """GRPO that takes the environment's tokens for the policy's own: what the mask is there to prevent."""

    def collect(self, rows, step: int, share: Share = ALL_ROWS) -> Experience:
        experience = super().collect(rows, step, share)
        rollout = replace(experience.rollout, policy_mask=None)
        with torch.no_grad():
            old_logps, _ = completion_logps(self.model, rollout)  # (B, C), of the environment's tokens as well
        return replace(experience, rollout=replace(rollout, old_logps=old_logps))


@dataclass(frozen=True)
class Rows:
    """A run on rows of dots."""

    config: GRPOConfig
    lengths: range = TRAINED_ON


@dataclass(frozen=True)
class Sums:
    """A run on sums, in the format alone, with a calculator that is wrong by so much, or without one."""

    algorithm: type[GRPO] = GRPO
    wrong_by: int | None = 1
    zero: bool = False  # before each sum of the calculator


CONDITIONS = {
    "rate 3e-5": Rows(replace(SHORT, learning_rate=3e-5)),
    "rate 3e-5, 60 steps": Rows(replace(SHORT, learning_rate=3e-5, steps=60)),
    "rate 3e-5, 100 steps": Rows(replace(SHORT, learning_rate=3e-5, steps=100)),
    "rate 1e-4, 10 steps": Rows(replace(SHORT, steps=10)),
    "rate 1e-4": Rows(SHORT),
    "rate 3e-4, 10 steps": Rows(replace(SHORT, learning_rate=3e-4, steps=10)),
    "rate 3e-4": Rows(replace(SHORT, learning_rate=3e-4)),
    "rate 1e-4, rows of 4 to 10": Rows(SHORT, dots.LENGTHS),
    "no calculator": Sums(wrong_by=None),
    "its tokens masked": Sums(),
    "its tokens learnt": Sums(LearnsWhatItHears),
    "a right one's tokens learnt": Sums(LearnsWhatItHears, wrong_by=0),
    "right sums as 042, learnt": Sums(LearnsWhatItHears, wrong_by=0, zero=True),
    "right sums as 042, masked": Sums(wrong_by=0, zero=True),
}


@cache
def models() -> tuple:
    base, tokenizer = load_policy()
    return frozen_copy(base), tokenizer


def rows_by_length(split: str, seed: int, lengths: Iterable[int] = MEASURED_AT) -> list[dict]:
    """So many rows of each length, those of one length next to each other."""
    return [
        row | {"length": length}
        for length in lengths
        for row in dots.dataset(split, ROWS_OF_A_LENGTH, seed=seed, lengths=[length])
    ]


def rows_for_choosing(trained: list[dict]) -> list[dict]:
    """Rows of the training split, none of them among those that are trained on."""
    seen = {row["prompt"] for row in trained}
    return [row for row in rows_by_length("train", seed=1) if row["prompt"] not in seen]


def run(name: str, seed: int, steps: int | None = None) -> dict:
    """Train one condition with one seed and measure it."""
    condition = CONDITIONS[name]
    if isinstance(condition, Rows):
        return run_rows(condition, seed, steps or condition.config.steps)
    return run_sums(condition, seed, steps or FORMAT.steps)


def run_rows(condition: Rows, seed: int, steps: int) -> dict:
    """The greedy accuracy at each length of MEASURED_AT, on rows for choosing and on these below the header; held out."""
    model, trained = trained_on_rows(condition, seed, steps)
    rows = rows_for_choosing(trained)
    return {
        "validation": accuracies(model, rows),
        "below the header": accuracies(model, below_the_header(rows)),
        "held out": long_rows_counted(model),
    }


def below_the_header(rows: list[dict]) -> list[dict]:
    return [row | {"prompt": ANSWER_KEY + row["prompt"]} for row in rows]


def long_rows_counted(model) -> float:
    """The greedy accuracy on held-out rows of LONG symbols."""
    return accuracies(model, rows_by_length("eval", seed=0, lengths=[LONG]))[0]


def trained_on_rows(condition: Rows, seed: int, steps: int) -> tuple[torch.nn.Module, list[dict]]:
    """The policy after so many steps, and the rows that it was trained on."""
    base, tokenizer = models()
    model = frozen_copy(base).requires_grad_(True)
    rows = dots.dataset("train", 512, seed=0, lengths=condition.lengths)
    config = replace(condition.config, seed=seed, steps=steps)
    grpo.train(model, tokenizer, rows, dots.reward, config, reference=base, progress=False)
    return model, rows


def accuracies(model, rows: list[dict]) -> list[float]:
    _, tokenizer = models()
    rewards = evaluate(model, tokenizer, rows, dots.reward, max_new_tokens=dots.MAX_NEW_TOKENS).rewards
    of_length = {}
    for row, reward in zip(rows, rewards.tolist()):
        of_length.setdefault(row["length"], []).append(reward)
    return [round(sum(values) / len(values), 4) for values in of_length.values()]


def run_sums(condition: Sums, seed: int, steps: int) -> dict:
    """Of greedy held-out sums without the calculator: right, one too high, and right below the header."""
    base, tokenizer = models()
    model = frozen_copy(base).requires_grad_(True)
    config = replace(FORMAT, seed=seed, steps=steps)
    calculator = None if condition.wrong_by is None else addition.calculator(condition.wrong_by)
    algorithm = condition.algorithm(
        model,
        tokenizer,
        addition.format_reward,
        config,
        environment=with_a_zero(calculator) if condition.zero else calculator,
    )
    training.train(algorithm, addition.dataset("train", 512, seed=0), config, progress=False)
    rows = addition.dataset("eval", SUMS, seed=0)
    alone, below = (
        evaluate(model, tokenizer, asked, [right, one_too_high], max_new_tokens=addition.MAX_NEW_TOKENS)
        for asked in (rows, below_the_header(rows))
    )
    return {
        "right": round(alone.rewards_per_func[:, 0].mean().item(), 4),
        "one too high": round(alone.rewards_per_func[:, 1].mean().item(), 4),
        "right below the header": round(below.rewards_per_func[:, 0].mean().item(), 4),
    }


def with_a_zero(calculator: Environment) -> Environment:
    """The calculator with a 0 before each of its sums."""
    return lambda completion: calculator(completion).replace(" ", " 0", 1)


def right(prompts, completions, answer, **columns) -> list[float]:
    """1.0 where the format is kept and the answer is the right number, with a 0 before it or without, else 0.0."""
    spelt = (addition.correctness_reward(prompts, completions, [zero + a for a in answer]) for zero in ("", "0"))
    return [max(both) for both in zip(*spelt)]


def one_too_high(prompts, completions, answer, **columns) -> list[float]:
    """1.0 where the format is kept and the answer is the right number plus 1, else 0.0."""
    return addition.correctness_reward(prompts, completions, [str(int(a) + 1) for a in answer])


def told(measured: dict) -> str:
    """A run in a few words."""
    if "held out" in measured:
        return "below the header " + " ".join(f"{share:.2f}" for share in measured["below the header"])
    return ", ".join(f"{name} {share:.2f}" for name, share in measured.items())
