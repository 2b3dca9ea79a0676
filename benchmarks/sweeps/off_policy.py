"""The sweep of `notebooks/off_policy.ipynb`: one budget of samples on dots, learnt from in many ways.

Every run has the same 4,096 completions to spend, 32 rollouts of 16 prompts with eight each, and begins at the same
policy; conditions differ in what is done with a rollout. Rates and range were fixed beforehand: the learning rate of
dots' recipe and five times that, and 0.2 as published.
"""

from dataclasses import dataclass, replace
from functools import cache

from benchmarks.sweeps.measuring import Clock, rounded
from shared import training
from shared.engine.chance import EVALUATION
from shared.evaluate import evaluate
from shared.experience import Experience
from shared.grpo import GRPO, GRPOConfig
from shared.logps import completion_logps
from shared.losses import reinforce_loss
from shared.models import frozen_copy, load_policy
from shared.recipes import RECIPES, prepare

ROLLOUTS = 32
PROMPTS = 16
MEASURED_AT = (8, ROLLOUTS)  # rollouts' worth of samples
SLOW, FAST = 1e-4, 5e-4
UNCLIPPED = 1e6  # a range that no ratio leaves
DRAWS = 4


class Plain(GRPO):
    """-A log pi, without a ratio: the policy gradient as if the rollout were always the policy's own."""

    def loss(self, experience: Experience):
        logps, _ = completion_logps(self.model, experience.rollout)
        return reinforce_loss(logps, experience.advantages, experience.rollout.completion_mask)


@dataclass(frozen=True)
class Condition:
    """Settings that differ from the common ones, the algorithm and the task.

    task: a name of RECIPES.
    """

    settings: dict
    algorithm: type[GRPO] = GRPO
    task: str = "dots"


FOUR = {"num_iterations": 4}
CONDITIONS = {
    "1 update": Condition({}),
    "4 updates, no ratio": Condition(FOUR, Plain),
    "4 updates, ratio": Condition(FOUR | {"epsilon": UNCLIPPED}),
    "4 updates, clipped": Condition(FOUR),
    "fast, 1 update": Condition({"learning_rate": FAST}),
    "fast, 4 updates, ratio": Condition(FOUR | {"learning_rate": FAST, "epsilon": UNCLIPPED}),
    "fast, 4 updates, clipped": Condition(FOUR | {"learning_rate": FAST}),
}


def config_of(condition: Condition, seed: int, rollouts: int = ROLLOUTS) -> GRPOConfig:
    """The condition's settings for a number of rollouts' worth of samples."""
    common = {
        "steps": rollouts,
        "prompts_per_step": PROMPTS,
        "max_new_tokens": RECIPES[condition.task].task.MAX_NEW_TOKENS,
        "learning_rate": SLOW,
        "warmup_steps": 0,
        "log_every": 0,
        "seed": seed,
    }
    return GRPOConfig(**common | condition.settings)


@cache
def setting(task: str) -> dict:
    """The parts that all runs on a task share: the model they begin with, its tokenizer, the rewards, the rows, and
    the completions that are allowed.
    """
    base, tokenizer = load_policy()
    recipe = replace(RECIPES[task], train_rows=512, eval_rows=200)
    return {
        "base": frozen_copy(base),
        "tokenizer": tokenizer,
        "reward": recipe.measured,
        "materials": prepare(recipe, tokenizer),
    }


def run(name: str, seed: int, rollouts: int = ROLLOUTS) -> dict:
    """Train one condition with one seed; what is sampled on held-out rows on the way, and the training's own record."""
    return trained(CONDITIONS[name], seed, rollouts)


def trained(condition: Condition, seed: int, rollouts: int = ROLLOUTS) -> dict:
    """The same of any condition, whether the sweep has it or not."""
    shared = setting(condition.task)
    materials = shared["materials"]
    model = frozen_copy(shared["base"]).requires_grad_(True)
    config = config_of(condition, seed, rollouts)
    algorithm = condition.algorithm(
        model, shared["tokenizer"], shared["reward"], config, constraint=materials.constraint
    )
    measured = {}
    clock = Clock()

    def after_step(record: dict) -> None:
        seen = record["step"]
        if seen in MEASURED_AT:
            with clock.stopped():
                found = measure(model, shared)
            measured.update({f"{key} at {seen}": value for key, value in found.items()})

    history = training.train(algorithm, materials.train_rows, config, on_step=after_step, progress=False)
    measured["training seconds"] = round(clock.seconds, 2)
    measured["clipped"] = rounded(sum(record.get("clip_ratio", 0.0) for record in history) / len(history))
    measured["entropy"] = rounded(history[-1]["entropy"])
    measured["rewards"] = [rounded(record["reward"]) for record in history]
    return measured


def measure(model, shared: dict, draws: int = DRAWS, step: int = EVALUATION) -> dict[str, float]:
    """Sampled on the held-out rows: the reward, and how many tokens a wrong completion has, its EOS not counted.

    draws: completions of each row.     step: what they depend on, as in `evaluate`.
    """
    materials = shared["materials"]
    found = evaluate(
        model,
        shared["tokenizer"],
        materials.eval_rows,
        shared["reward"],
        max_new_tokens=materials.max_new_tokens,
        temperature=1.0,
        num_generations=draws,
        step=step,
        constraint=materials.constraint,
    )
    wrong = [text for text, reward in zip(found.completions, found.rewards.tolist()) if not reward]
    tokens = sum(len(shared["tokenizer"](text, add_special_tokens=False)["input_ids"]) for text in wrong)
    return {"reward": rounded(found.mean), "wrong length": rounded(tokens / max(1, len(wrong)))}
