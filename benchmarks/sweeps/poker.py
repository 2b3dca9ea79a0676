"""The sweep of `notebooks/poker.ipynb`: versions 2 and 3 along the way, and version 2 with weights that count.

A run that is held by a penalty and one that is stopped early are compared at equal KL, so each is measured on its way. The
policy cannot tell a flush from a high card: which of the two it says is measured on the hands of both. All of it is exact,
sums over the eight completions of held-out hands.
"""

from dataclasses import replace

from benchmarks.sweeps.gradients import logps_of, measure, setting
from benchmarks.sweeps.measuring import rounded
from shared import grpo
from shared.grpo import GRPOConfig
from shared.models import frozen_copy
from shared.recipes import RECIPES
from shared.tasks import poker

STEPS = 60  # as the notebook trains
MEASURED_AT = (8, 10, 12, 14, 20, 40, STEPS)
LOOK_ALIKE = ("flush", "high card")
VERSION_2 = GRPOConfig(
    steps=STEPS,
    prompts_per_step=32,
    num_generations=8,
    max_new_tokens=poker.MAX_NEW_TOKENS,
    learning_rate=RECIPES["poker"].settings["learning_rate"],
    log_every=0,
)
CONDITIONS = {
    "version 2": VERSION_2,
    "version 3": replace(VERSION_2, beta=0.2),
    "version 2, undivided": replace(VERSION_2, scale_rewards="none"),
}


def run(name: str, seed: int, steps: int = STEPS) -> dict:
    """Train one condition with one seed; `path` has the share right and the KL in nats per completion at some steps,
    `said` how likely each of two labels is at the end, by the hand's own label."""
    shared = setting()
    model = frozen_copy(shared["base"]).requires_grad_(True)
    path = []

    def after_step(record: dict) -> None:
        step = record["step"]
        if step in MEASURED_AT:
            found = measure(model, step, shared)
            path.append({"step": step, "right": found[f"reward at {step}"], "KL": found[f"KL at {step}"]})

    grpo.train(
        model,
        shared["tokenizer"],
        poker.dataset("train", 2000, seed=0),
        poker.weighted_reward,
        replace(CONDITIONS[name], seed=seed, steps=steps),
        reference=shared["base"],
        constraint=shared["trie"],
        on_step=after_step,
        progress=False,
    )
    return {"path": path, "said": said_by(model, shared)}


def said_by(model, shared: dict) -> dict[str, dict[str, float]]:
    """The mean probability of each of the two labels, for the held-out hands of each of the two."""
    found = {}
    for truth in LOOK_ALIKE:
        rows = [row for row in shared["held_out"] if row["answer"] == truth]
        means = logps_of(model, rows, shared).exp().mean(dim=0)
        found[truth] = {label: rounded(means[poker.LABELS.index(label)]) for label in LOOK_ALIKE}
    return found


def told(measured: dict) -> str:
    """A run in a few words: the end of its path."""
    return "step {step}: right {right:.3f}, KL {KL:.3f}".format(**measured["path"][-1])
