"""A group while a policy learns: the numbers behind the site's "Watch it learn" and its first picture.

    python -m benchmarks.watch            trains dots for 30 steps, writes benchmarks/watch.json and group.svg

For a few held-out prompts, every second step: eight completions that the policy samples, their rewards and advantages,
and the probability that it gives to the right number and nothing else. Settings are those of `notebooks/dots.ipynb`.
"""

import json
from collections.abc import Callable
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from benchmarks.group_picture import picture
from benchmarks.trained import train_as_told
from shared.advantages import group_advantages
from shared.engine.sampling import Sampling
from shared.evaluate import evaluate
from shared.exact import enumerated_logps
from shared.models import frozen_copy, load_policy
from shared.recipes import RECIPES, Materials, prepare
from shared.rollout import sample
from shared.tasks import dots

HERE = Path(__file__).parent
STEPS = 30
EVERY = 2
G = 8
ANSWERS = ("1", "2", "3", "4", "5", "6")  # the first held-out row with each of these answers is shown
SEED = 0
COMMAND = "python -m benchmarks.watch"


def shown_rows(rows: list[dict]) -> list[dict]:
    """The first row with each of the answers."""
    return [next(row for row in rows if row["answer"] == answer) for answer in ANSWERS]


def right_probabilities(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: list[dict]) -> list[float]:
    """For each row the probability of its answer followed at once by the end of the text."""
    texts = [f" {answer}" for answer in ANSWERS]
    with torch.no_grad():
        logps = enumerated_logps(model, tokenizer, [row["prompt"] for row in rows], texts)  # (N, K)
    return [round(logps[n, ANSWERS.index(row["answer"])].exp().item(), 4) for n, row in enumerate(rows)]


def groups(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: list[dict], step: int) -> list[dict]:
    """For each row G sampled completions, their rewards and their advantages."""
    prompts = [row["prompt"] for row in rows]
    sampling = Sampling(max_new_tokens=dots.MAX_NEW_TOKENS, temperature=1.0)
    rollout = sample(model, tokenizer, prompts, G, sampling, seed=SEED, step=step)
    answers = rollout.repeated([row["answer"] for row in rows])
    rewards = dots.reward(rollout.repeated(prompts), rollout.completions, answers)
    advantages, _ = group_advantages(torch.tensor(rewards), G)
    found = []
    for first in range(0, len(rollout), G):
        places = slice(first, first + G)
        found.append(
            {
                "completions": rollout.completions[places],
                "rewards": [int(reward) for reward in rewards[places]],
                "advantages": [round(advantage, 2) for advantage in advantages[places].tolist()],
            }
        )
    return found


def learn(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    materials: Materials,
    steps: int = STEPS,
    evaluate: Callable[[PreTrainedModel], float] | None = None,
) -> None:
    """Train the model in place on dots, with the settings of the notebook."""
    settings = {"steps": steps, "num_generations": G, "eval_every": EVERY if evaluate else 0, "seed": SEED}
    options = {"reference": frozen_copy(model), "evaluate": evaluate}
    train_as_told(RECIPES["dots"], materials, model, tokenizer, **options, **settings)


def recorded(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, steps: int = STEPS) -> dict:
    """Train the model in place, and look at it before the first step and after every second one."""
    recipe = RECIPES["dots"]
    materials = prepare(recipe, tokenizer, seed=SEED)
    rows = shown_rows(materials.eval_rows)
    looks = []

    def look(model: PreTrainedModel) -> float:
        step = EVERY * len(looks)
        options = {"max_new_tokens": materials.max_new_tokens, "progress": False}
        held_out = evaluate(model, tokenizer, materials.eval_rows, recipe.measured, **options).mean
        looks.append(
            {
                "step": step,
                "held_out": round(held_out, 3),
                "probabilities": right_probabilities(model, tokenizer, rows),
                "groups": groups(model, tokenizer, rows, step),
            }
        )
        return held_out

    look(model)
    learn(model, tokenizer, materials, steps, look)
    return arranged(rows, looks)


def arranged(rows: list[dict], looks: list[dict]) -> dict:
    """The record by prompt: for each one its groups and probabilities along training."""
    prompts = []
    for number, row in enumerate(rows):
        prompts.append(
            {
                "prompt": row["prompt"],
                "answer": row["answer"],
                "probabilities": [look["probabilities"][number] for look in looks],
                "groups": [look["groups"][number] for look in looks],
            }
        )
    return {
        "made_by": COMMAND,
        "steps": [look["step"] for look in looks],
        "held_out": [look["held_out"] for look in looks],
        "prompts": prompts,
    }


def main() -> None:
    torch.manual_seed(SEED)
    record = recorded(*load_policy())
    (HERE / "watch.json").write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "group.svg").write_text(picture(record), encoding="utf-8")
    print(f"held-out reward {record['held_out'][0]:.3f} to {record['held_out'][-1]:.3f}")


if __name__ == "__main__":
    main()
