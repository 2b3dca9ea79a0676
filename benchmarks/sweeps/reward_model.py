"""The worth of a reward model, fitted to choices, as a reward.

Pairs of the base model's completions are drawn once; each seed chooses among them anew, with noise, and fits a reward
model. GRPO is trained against that, without and with a KL penalty, DPO on the choices themselves. Measured along the
way, on held-out openings: the hidden gold reward, what the reward model believes, and the KL to the base model.
"""

import random
from dataclasses import dataclass, replace
from functools import cache

import torch

from benchmarks.sweeps.measuring import rounded, sampled_with_kl
from shared import dpo, grpo, reward_model
from shared.algorithm import TrainingConfig
from shared.dpo import DPOConfig
from shared.engine.sampling import Sampling
from shared.grpo import GRPOConfig
from shared.models import frozen_copy, load_policy
from shared.reward_model import RewardModel
from shared.rollout import sample
from shared.tasks import sentences

FEW = 200
MANY = 600
HELD_OUT_PAIRS = 100
NOISE = 1.0
MAX_NEW_TOKENS = 48
MEASURED_AT = (2, 4, 6, 9, 12)
ROWS_MEASURED = 48
FIT = TrainingConfig(steps=1, num_iterations=150, learning_rate=0.03, weight_decay=0.03, warmup_steps=0, log_every=0)
GRPO = GRPOConfig(
    steps=12,
    prompts_per_step=4,
    num_generations=8,
    max_new_tokens=MAX_NEW_TOKENS,
    num_iterations=2,
    minibatches=2,
    learning_rate=1e-3,
    warmup_steps=0,
    kl_in="reward",
    log_every=0,
)
DPO = DPOConfig(steps=12, prompts_per_step=25, learning_rate=5e-4, warmup_steps=0, beta=0.1, log_every=0)


@dataclass(frozen=True)
class Condition:
    """A condition: the number of pairs that were chosen from, and the settings of the training."""

    pairs: int
    config: GRPOConfig | DPOConfig


CONDITIONS = {
    "GRPO, 200 pairs": Condition(FEW, GRPO),
    "GRPO, 200 pairs, beta 0.1": Condition(FEW, replace(GRPO, beta=0.1)),
    "GRPO, 600 pairs": Condition(MANY, GRPO),
    "DPO, 200 pairs": Condition(FEW, DPO),
}


@cache
def setting() -> dict:
    """The parts that all runs share: model, tokenizer, openings, and pairs of completions with their gold rewards."""
    base, tokenizer = load_policy()
    base = frozen_copy(base)
    openings = [row["prompt"] for row in sentences.dataset("train", 400, seed=0)]
    return {
        "base": base,
        "tokenizer": tokenizer,
        "pool": pool_of(base, tokenizer, openings, MANY + HELD_OUT_PAIRS),
        "train_rows": [{"prompt": opening} for opening in openings],
        "held_out": [row["prompt"] for row in sentences.dataset("eval", ROWS_MEASURED, seed=0)],
    }


def pool_of(model, tokenizer, openings: list[str], count: int) -> list[dict]:
    """`count` pairs of completions of one opening, both of which ended by themselves: `prompt` and `completions`."""
    pool: list[dict] = []
    step = 0
    while len(pool) < count:
        rollout = sample(model, tokenizer, openings, 2, Sampling(MAX_NEW_TOKENS), seed=0, step=step)
        cut = rollout.truncated.view(-1, 2).any(dim=1).tolist()
        pairs = zip(rollout.completions[::2], rollout.completions[1::2])
        pool += [
            {"prompt": prompt, "completions": pair} for prompt, pair, is_cut in zip(openings, pairs, cut) if not is_cut
        ]
        step += 1
    return pool[:count]


def choices_of(pool: list[dict], seed: int) -> list[dict]:
    """The pool in an order of the seed, each pair chosen from with noise: rows with prompt, chosen and rejected."""
    chance = random.Random(f"choices {seed}")
    rows = []
    for pair in chance.sample(pool, len(pool)):
        first, second = pair["completions"]
        gold = sentences.length_reward([], [first, second])
        if chance.random() >= torch.tensor((gold[0] - gold[1]) / NOISE).sigmoid().item():
            first, second = second, first
        rows.append({"prompt": pair["prompt"], "chosen": first, "rejected": second})
    return rows


@cache
def judge_of(pairs: int, seed: int) -> tuple[RewardModel, float]:
    """The reward model of so many choices, and its accuracy on held-out ones."""
    shared = setting()
    rows = choices_of(shared["pool"], seed)
    judge = RewardModel(shared["base"], shared["tokenizer"])
    config = replace(FIT, prompts_per_step=pairs, seed=seed)
    reward_model.train(judge, rows[:pairs], config, progress=False)
    return judge, reward_model.accuracy(judge, rows[MANY:])


def run(name: str, seed: int, steps: int | None = None) -> dict:
    """Train one condition with one seed; the reward model's accuracy and what was measured along the way."""
    return run_condition(CONDITIONS[name], seed, steps)


def run_condition(condition: Condition, seed: int, steps: int | None = None) -> dict:
    """The same of a condition that need not be among CONDITIONS."""
    shared = setting()
    judge, accuracy = judge_of(condition.pairs, seed)
    policy = frozen_copy(shared["base"]).requires_grad_(True)
    config = replace(condition.config, seed=seed, steps=steps or condition.config.steps)
    curve = [{"step": 0, **measure(shared["base"], judge)}]

    def after_step(record: dict) -> None:
        if record["step"] in MEASURED_AT:
            curve.append({"step": record["step"], **measure(policy, judge)})

    options = {"reference": shared["base"], "on_step": after_step, "progress": False}
    if isinstance(config, DPOConfig):
        rows = choices_of(shared["pool"], seed)[: condition.pairs]
        dpo.train(policy, shared["tokenizer"], rows, config, **options)
    else:
        grpo.train(policy, shared["tokenizer"], shared["train_rows"], judge.reward, config, **options)
    return {"accuracy": accuracy, "curve": curve}


def measure(policy, judge: RewardModel) -> dict[str, float | str]:
    """Of a completion of each held-out opening: gold and proxy reward, KL, and the text of the first one."""
    shared = setting()
    rollout, kl = sampled_with_kl(policy, shared["base"], shared["tokenizer"], shared["held_out"], MAX_NEW_TOKENS)
    gold = torch.tensor(sentences.length_reward(shared["held_out"], rollout.completions))
    proxy = torch.tensor(judge.reward(shared["held_out"], rollout.completions))
    return {
        "gold": rounded(gold.mean(), 4),
        "proxy": rounded(proxy.mean(), 4),
        "KL": rounded(kl.mean(), 4),
        "text": rollout.completions[0],
    }


def told(measured: dict) -> str:
    """A run in a few words."""
    points = (f"gold {p['gold']:.2f}, proxy {p['proxy']:.2f} at KL {p['KL']:.1f}" for p in measured["curve"])
    return f"accuracy {measured['accuracy']:.2f}; " + "; ".join(points)
