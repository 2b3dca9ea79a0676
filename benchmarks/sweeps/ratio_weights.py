"""The sweep of `notebooks/ratio_weights.ipynb`: what multiplies the gradient, trained with.

Each condition trains with one weight, the loss of all being -weight x A x log pi with a weight that the gradient does not
pass through, so that they differ in the weight alone; the held-out reward is exact. `gradients` holds every weight against
the exact gradient; `ratio_weights_rates` records it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from benchmarks.sweeps.gradients import logps_of, setting
from benchmarks.sweeps.measuring import rounded
from shared import grpo
from shared.advantages import leave_one_out_advantages
from shared.exact import Enumeration, enumerate_policy
from shared.experience import Experience
from shared.grpo import GRPO, GRPOConfig
from shared.logps import completion_logps
from shared.losses import aggregate, ratio_weight
from shared.models import frozen_copy
from shared.recipes import RECIPES
from shared.tasks import poker
from shared.training import train

NOW = 10  # steps of the policy whose gradient is looked at; the samples are of the untrained one
DRAWS, G = 2000, 8
TRAINED = ("no ratio", "ratio", "clip", "CISPO, bound 5", "SAPO")
SETS = 3  # of held-out hands, one of each label in a set
ROLLOUTS = 12
MEASURED_AT = (4, ROLLOUTS)
COMMON = dict(
    prompts_per_step=32,
    num_generations=G,
    max_new_tokens=poker.MAX_NEW_TOKENS,
    learning_rate=RECIPES["poker"].settings["learning_rate"],
    log_every=0,
)
Weight = Callable[[Float[Tensor, "*shape"], Float[Tensor, "*shape"]], Float[Tensor, "*shape"]]


def no_ratio(log_ratio: Float[Tensor, "*shape"], advantages: Float[Tensor, "*#shape"]) -> Float[Tensor, "*shape"]:
    """The plain policy gradient, as if the samples were the policy's own."""
    return torch.ones_like(log_ratio)


def plain_ratio(log_ratio: Float[Tensor, "*shape"], advantages: Float[Tensor, "*#shape"]) -> Float[Tensor, "*shape"]:
    """Importance sampling without a bound."""
    return log_ratio.exp()


def smooth(log_ratio: Float[Tensor, "*shape"], advantages: Float[Tensor, "*#shape"]) -> Float[Tensor, "*shape"]:
    """The notebook's own: 2 ratio / (1 + ratio), below 2."""
    return 2 * torch.sigmoid(log_ratio)


WEIGHTS: dict[str, Weight] = {
    "no ratio": no_ratio,
    "ratio": plain_ratio,
    "clip": partial(ratio_weight, loss_type="grpo"),
    "clip-higher": partial(ratio_weight, loss_type="grpo", epsilon_high=0.28),
    "CISPO, bound 5": partial(ratio_weight, loss_type="cispo", epsilon_high=5.0),
    "CISPO, bound 2": partial(ratio_weight, loss_type="cispo", epsilon_high=2.0),
    "SAPO": partial(ratio_weight, loss_type="sapo"),
    "smooth": smooth,
}


@dataclass(frozen=True)
class Condition:
    """A training run: the weight and the settings."""

    weight: Weight
    config: GRPOConfig


SEVERAL = GRPOConfig(**COMMON, steps=ROLLOUTS, num_iterations=8, warmup_steps=0)
CONDITIONS = {
    "1 update": Condition(plain_ratio, replace(SEVERAL, num_iterations=1)),
    **{f"8 updates, {name}": Condition(WEIGHTS[name], SEVERAL) for name in TRAINED},
}


class Weighted(GRPO):
    """GRPO in which a function of ratio and advantage is what multiplies the gradient."""

    weight_of: Weight

    def loss(self, experience: Experience) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
        rollout, mask = experience.rollout, experience.loss_mask
        logps, _ = completion_logps(self.model, rollout)
        A = experience.advantages[:, None]  # (B, 1)
        weight = self.weight_of((logps - rollout.old_logps).detach(), A)
        loss = aggregate(-weight * A * logps, mask)
        return loss, {"loss": loss.detach()}


def run(name: str, seed: int, steps: int = ROLLOUTS) -> dict:
    """One condition with one seed."""
    return trained(CONDITIONS[name], seed, steps)


def trained(condition: Condition, seed: int, steps: int) -> dict:
    """The exact held-out reward of a training run along the way."""
    shared = setting()
    model = frozen_copy(shared["base"]).requires_grad_(True)
    config = replace(condition.config, seed=seed, steps=steps)
    algorithm = Weighted(model, shared["tokenizer"], poker.reward, config, constraint=shared["trie"])
    algorithm.weight_of = condition.weight
    right = torch.tensor([[row["answer"] == label for label in poker.LABELS] for row in shared["held_out"]])
    measured = {}

    def after_step(record: dict) -> None:
        if record["step"] in MEASURED_AT:
            said = logps_of(model, shared["held_out"], shared).exp()
            measured[f"reward at {record['step']}"] = rounded((said * right).sum(dim=1).mean())

    train(algorithm, shared["rows"], config, on_step=after_step, progress=False)
    return measured


def gradients(seed: int) -> dict:
    """Ten steps of training, and every weight held against the exact gradient, a record for each set of hands."""
    shared = setting()
    model = frozen_copy(shared["base"]).requires_grad_(True)
    config = GRPOConfig(**COMMON, steps=NOW, seed=seed)
    grpo.train(
        model, shared["tokenizer"], shared["rows"], poker.reward, config, constraint=shared["trie"], progress=False
    )
    return {"sets": [of_hands(model, hands, shared) for hands in sets_of(shared["held_out"])]}


def sets_of(rows: list[dict]) -> list[list[dict]]:
    """Sets of hands, the n-th of each label in the n-th set."""
    of_label = [[row for row in rows if row["answer"] == label] for label in poker.LABELS]
    return [[hands[n] for hands in of_label] for n in range(SETS)]


def of_hands(model, hands: list[dict], shared: dict) -> dict:
    """The KL to the untrained policy, whose samples they are, and what `against_exact` finds of each weight."""
    prompts = [row["prompt"] for row in hands]
    now = enumerate_policy(model, shared["tokenizer"], prompts, shared["completions"], shared["trie"])
    stale = logps_of(shared["base"], hands, shared)
    kl = now.mean(now.logps - stale).mean()
    return {
        "KL": rounded(kl),
        "stale": {name: against_exact(now, stale, weight) for name, weight in WEIGHTS.items()},
    }


def against_exact(now: Enumeration, sampler: Float[Tensor, "N K"], weight: Weight) -> dict[str, float]:
    """Bias, noise and error of one draw, over the length of the exact gradient, and the mean gradient's cosine with it;
    `rescaled` is the error that is left when every draw is multiplied by the best number.

    sampler: the log-probabilities of the policy that G completions of each prompt are drawn from.
    """
    N, K = now.logps.shape
    R = torch.eye(N, K, dtype=torch.float64)  # one hand of each label, in the labels' order
    chance = torch.Generator().manual_seed(0)
    drawn = torch.multinomial(sampler.exp(), DRAWS * G, replacement=True, generator=chance)
    drawn = drawn.view(N, DRAWS, G).transpose(0, 1)  # (D, N, G)

    def look_up(table: Tensor) -> Tensor:
        return table.expand(DRAWS, N, K).gather(2, drawn)

    A = leave_one_out_advantages(look_up(R).flatten(), G)[0].view(DRAWS, N, G).double()
    values = weight(look_up(now.logps - sampler), A) * A / (N * G)
    draws = torch.zeros(DRAWS, N, K, dtype=torch.float64).scatter_add(2, drawn, values)
    mean, exact = draws.mean(dim=0), now.probs * R / N
    length = now.norm(exact)
    bias = now.norm(mean - exact) / length
    noise = now.norm(draws - mean).square().mean().sqrt() / length
    cosine = now.cosine(mean, exact)
    share = (
        cosine * now.norm(mean) / length / (now.norm(mean).square() / length**2 + noise**2)
    )  # leaves the least error
    rescaled = (now.norm(share * mean - exact).square() / length**2 + (share * noise) ** 2).sqrt()
    return {
        "bias": rounded(bias, 3),
        "noise": rounded(noise, 3),
        "error": rounded((bias**2 + noise**2).sqrt(), 3),
        "cosine": rounded(cosine, 3),
        "rescaled": rounded(rescaled, 3),
    }


def told(measured: dict) -> str:
    """A run in a few words."""
    if "sets" not in measured:
        return ", ".join(f"{name} {value:.3f}" for name, value in measured.items())
    of_first = measured["sets"][0]
    errors = ", ".join(f"{name} {found['error']:.2f}" for name, found in of_first["stale"].items())
    return f"KL {of_first['KL']:.2f}, errors {errors}"
