"""The sweep of `notebooks/gradients.ipynb`: the same poker run with each estimator of the gradient.

All conditions see the same hands in the same order. They differ in the estimator, some also in the size of the group. What is measured is exact: the expected reward and the KL divergence are sums over the eight completions,
on held-out hands, so that the spread over seeds is that of training and not of the measurement.
"""

from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType

import torch
from jaxtyping import Float
from torch import Tensor

from benchmarks.sweeps.measuring import rounded
from shared import grpo, rloo
from shared.exact import Enumeration, enumerate_policy, enumerated_logps
from shared.experience import RolloutConfig
from shared.grpo import GRPOConfig
from shared.models import frozen_copy, load_policy
from shared.prompts import answers_for
from shared.recipes import RECIPES, prepare
from shared.rloo import RLOOConfig
from shared.tasks import poker

STEPS = 30
MEASURED_AT = (10, STEPS)
CURVE_AT = (2, 4, 6, 8, 10, 14, 20, STEPS)
COMMON = dict(
    steps=STEPS,
    prompts_per_step=32,
    num_generations=8,
    max_new_tokens=poker.MAX_NEW_TOKENS,
    learning_rate=RECIPES["poker"].settings["learning_rate"],
    log_every=0,
)
# A penalty and a surrogate on the same scale: both are sums over a completion's tokens.
GROUP_MEAN = GRPOConfig(**COMMON, scale_rewards="none", loss_type="dr_grpo")
BETA = 0.3
# The group's mean takes 1/G off the gradient of the rewards, and of a penalty in them. One in the loss is shortened likewise.
IN_LOSS = replace(GROUP_MEAN, beta=BETA * (1 - 1 / GROUP_MEAN.num_generations))


@dataclass(frozen=True)
class Condition:
    """A condition: an algorithm, its settings, and what is added to every reward."""

    algorithm: ModuleType
    config: RolloutConfig
    added: float = 0.0
    with_curve: bool = False


REINFORCE = RLOOConfig(**COMMON, baseline="none")
LEAVE_ONE_OUT = RLOOConfig(**COMMON)
PAIRS = {"num_generations": 2}

CONDITIONS = {
    "REINFORCE": Condition(rloo, REINFORCE),
    "REINFORCE, reward + 1": Condition(rloo, REINFORCE, added=1.0),
    "RLOO": Condition(rloo, LEAVE_ONE_OUT, with_curve=True),
    "GRPO": Condition(grpo, replace(GROUP_MEAN, scale_rewards="group")),
    "REINFORCE, G = 2": Condition(rloo, replace(REINFORCE, **PAIRS)),
    "REINFORCE, reward + 1, G = 2": Condition(rloo, replace(REINFORCE, **PAIRS), added=1.0),
    "RLOO, G = 2": Condition(rloo, replace(LEAVE_ONE_OUT, **PAIRS)),
    "no penalty": Condition(grpo, GROUP_MEAN),
    "k1 in the loss": Condition(grpo, replace(IN_LOSS, kl_estimator="k1")),
    "k2 in the loss": Condition(grpo, replace(IN_LOSS, kl_estimator="k2")),
    "k3 in the loss": Condition(grpo, replace(IN_LOSS, kl_estimator="k3")),
    # The price at which the KL of two seeds that are not recorded was that of k2, of four lower prices tried.
    "k3, a quarter of the price": Condition(grpo, replace(IN_LOSS, kl_estimator="k3", beta=IN_LOSS.beta / 4)),
    "k1 in the reward": Condition(grpo, replace(GROUP_MEAN, beta=BETA, kl_in="reward")),
}


@cache
def setting() -> dict:
    """The parts that all runs share: model, tokenizer, constraint, hands, completions, reference log-probabilities."""
    base, tokenizer = load_policy()
    materials = prepare(replace(RECIPES["poker"], eval_rows=200), tokenizer)
    shared = {
        "base": frozen_copy(base),
        "tokenizer": tokenizer,
        "completions": answers_for(tokenizer, poker.LABELS),
        "trie": materials.constraint,
        "rows": materials.train_rows,
        "held_out": materials.eval_rows,
        "lens": one_of_each(materials.eval_rows),
    }
    shared["ref_logps"] = logps_of(shared["base"], materials.eval_rows, shared)
    return shared


def one_of_each(rows: list[dict]) -> list[dict]:
    """The first hand of each label, in the labels' order."""
    return [next(row for row in rows if row["answer"] == label) for label in poker.LABELS]


@torch.no_grad()
def logps_of(model, rows: list[dict], shared: dict) -> Float[Tensor, "N K"]:
    prompts = [row["prompt"] for row in rows]
    found = enumerated_logps(model, shared["tokenizer"], prompts, shared["completions"], shared["trie"])
    return found.cpu().double()


def run(name: str, seed: int, steps: int = STEPS) -> dict:
    """Train one condition with one seed; the held-out expected reward and KL along the way, and the curve if any."""
    condition = CONDITIONS[name]
    shared = setting()
    model = frozen_copy(shared["base"]).requires_grad_(True)
    measured = {}
    curve = []

    def reward(prompts, completions, answer, **columns):
        return [r + condition.added for r in poker.reward(prompts, completions, answer)]

    def after_step(record: dict) -> None:
        if record["step"] in MEASURED_AT:
            measured.update(measure(model, record["step"], shared))
        if condition.with_curve and record["step"] in CURVE_AT:
            curve.append({"step": record["step"], "divided by std": turned(under_the_lens(model, shared))})

    condition.algorithm.train(
        model,
        shared["tokenizer"],
        shared["rows"],
        reward,
        replace(condition.config, seed=seed, steps=steps),
        reference=shared["base"],
        constraint=shared["trie"],
        on_step=after_step,
        progress=False,
    )
    return measured | ({"curve": curve} if curve else {})


def measure(model, step: int, shared: dict) -> dict[str, float]:
    """Expected reward and KL to the reference on the held-out hands, both exact."""
    logps = logps_of(model, shared["held_out"], shared)
    right = torch.tensor([[row["answer"] == label for label in poker.LABELS] for row in shared["held_out"]])
    kl = (logps.exp() * (logps - shared["ref_logps"])).sum(dim=1)
    return {
        f"reward at {step}": rounded((logps.exp() * right).sum(dim=1).mean()),
        f"KL at {step}": rounded(kl.mean()),
    }


def under_the_lens(model, shared: dict) -> Enumeration:
    """All that the model can say to the prompts under the lens."""
    prompts = [row["prompt"] for row in shared["lens"]]
    return enumerate_policy(model, shared["tokenizer"], prompts, shared["completions"], shared["trie"])


def turned(now: Enumeration) -> float:
    """The cosine of the exact gradient with that of large groups whose advantages are divided by the deviation, as GRPO's.

    One hand of each label: the reward of completion k for prompt n is 1 where k = n.
    """
    R = torch.eye(len(now.probs), dtype=torch.float64)
    value = now.mean(R)[:, None]  # (N, 1)
    divided = now.probs * (R - value) / (now.spread(R)[:, None] + 1e-4)
    return rounded(now.cosine(divided, now.probs * R))
