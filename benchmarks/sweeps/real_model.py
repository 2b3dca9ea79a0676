"""The sweep of `benchmarks/real_model.md`: SmolLM2 learns to think, then answer, and what that costs it.

GRPO gets one worked turn in the prompt and two rewards that look at completions alone. Beside it stand two controls:
the same with rewards drawn by lot, and supervised training on right answers, which GRPO never sees, for as many
processor seconds as GRPO with the same seed took. What a run does to what the model knew is measured as well: the
answers to plain questions that it answers rightly before, and the surprise at a plain text.
"""

import random
from dataclasses import dataclass
from functools import cache

import torch

from benchmarks.sweeps.measuring import Clock, rounded
from shared import grpo, supervised
from shared.algorithm import TrainingConfig
from shared.evaluate import evaluate
from shared.interrupt import put_back, trained_weights
from shared.kept import answered_rightly, surprise
from shared.model_classes import REAL, REAL_LORA, settings_for
from shared.models import add_lora, load_policy
from shared.prompts import max_new_tokens_for, rows_for
from shared.rewards import RewardFunction
from shared.tasks import addition

MODEL = "smollm2"
TRAIN_ROWS, HELD_OUT = 256, 48
SUPERVISED_ROWS, SUPERVISED_RATE = 8, 1e-5
REWARDS = (addition.format_reward, addition.correctness_reward)


@dataclass(frozen=True)
class Condition:
    """A way to train.

    lora: adapters alone, else all weights.
    learned_from: "nothing", "rewards" of the task, "lots" in their place, or "answers", for as long as "rewards" takes.
    """

    lora: bool
    learned_from: str


CONDITIONS = {
    "untrained": Condition(False, "nothing"),
    "GRPO, all weights": Condition(False, "rewards"),
    "rewards by lot, all weights": Condition(False, "lots"),
    "right answers, all weights": Condition(False, "answers"),
    "GRPO, LoRA": Condition(True, "rewards"),
}


def by_lot(seed: int) -> RewardFunction:
    """A reward of 0 or 1 that depends on nothing."""
    drawn = random.Random(f"lots {seed}")
    return lambda prompts, completions, **columns: [float(drawn.random() < 0.5) for _ in completions]


@cache
def setting(lora: bool) -> dict:
    """The common start of all runs of one kind: the policy, its weights as they were, and the rows."""
    torch.manual_seed(0)
    policy, tokenizer = load_policy(MODEL)
    if lora:
        policy = add_lora(policy)
    return {
        "policy": policy,
        "tokenizer": tokenizer,
        "untrained": trained_weights(policy),
        "train": rows_for(tokenizer, addition.dataset("train", TRAIN_ROWS), addition),
        "held out": rows_for(tokenizer, addition.dataset("eval", HELD_OUT), addition),
    }


def run(name: str, seed: int, steps: int | None = None) -> dict:
    """Train one condition with one seed, and measure the policy on held-out sums and on what it knew."""
    condition = CONDITIONS[name]
    if condition.learned_from == "nothing":
        return measure(condition.lora)
    made = setting(condition.lora)
    policy, tokenizer = made["policy"], made["tokenizer"]
    answers = condition.learned_from == "answers"
    given = seconds_of_grpo(seed) if answers and steps is None else 1.0
    put_back(policy, made["untrained"])
    clock = Clock()
    if answers:
        updates = learn_from_answers(seed, given)
        return {"training seconds": rounded(clock.seconds, 3), "updates": updates} | measure(condition.lora)
    paid = REWARDS if condition.learned_from == "rewards" else (by_lot(seed),)
    kind = REAL_LORA if condition.lora else REAL
    settings = settings_for("addition", kind) | ({"steps": steps} if steps else {})
    config = grpo.GRPOConfig(
        num_generations=8,
        max_new_tokens=max_new_tokens_for(tokenizer, addition),
        seed=seed,
        log_every=0,
        **settings,
    )
    history = grpo.train(policy, tokenizer, made["train"], paid, config, progress=False)
    seconds = clock.seconds
    SECONDS[name, seed] = seconds
    curve = [rounded(record["reward"], 3) for record in history]
    return {"training seconds": rounded(seconds, 3), "reward by step": curve} | measure(condition.lora)


# Of each run by condition and seed, for the control that trains for as long.
SECONDS: dict[tuple[str, int], float] = {}


def seconds_of_grpo(seed: int) -> float:
    """The processor seconds of GRPO's run with this seed, which is made if it did not come before."""
    if ("GRPO, all weights", seed) not in SECONDS:
        run("GRPO, all weights", seed)
    return SECONDS["GRPO, all weights", seed]


def learn_from_answers(seed: int, seconds: float) -> int:
    """Supervised updates on right answers to the training questions until the seconds are over; their number."""
    made = setting(False)
    rows = [addition.solved(row) for row in made["train"]]
    clock = Clock()
    config = TrainingConfig(
        steps=len(rows),
        prompts_per_step=SUPERVISED_ROWS,
        learning_rate=SUPERVISED_RATE,
        seed=seed,
        log_every=0,
    )
    return len(
        supervised.train(
            made["policy"], made["tokenizer"], rows, config, progress=False, stop=lambda: clock.seconds > seconds
        )
    )


def measure(lora: bool) -> dict[str, float]:
    """Shares of held-out sums in the format and right, greedy and sampled, and what is left of what the model knew."""
    made = setting(lora)
    policy, tokenizer = made["policy"], made["tokenizer"]
    found = {}
    for name, temperature in (("greedy", 0.0), ("sampled", 1.0)):
        told = evaluate(
            policy,
            tokenizer,
            made["held out"],
            REWARDS,
            temperature=temperature,
            max_new_tokens=max_new_tokens_for(tokenizer, addition),
        )
        formatted, correct = told.rewards_per_func.mean(dim=0).tolist()
        found |= {f"format, {name}": rounded(formatted, 3), f"correct, {name}": rounded(correct, 3)}
    kept = {"known": answered_rightly(policy, tokenizer), "nats a token": rounded(surprise(policy, tokenizer), 4)}
    return found | kept
