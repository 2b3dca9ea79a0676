"""The sweep of `notebooks/dots.ipynb`: the notebook's own training with three seeds, by the tested helpers.

What is measured is what the notebook's Cell 7 measures, on the same held-out rows: the greedy reward, and the mean
reward of eight samples of each row.
"""

from dataclasses import replace
from functools import cache

from benchmarks.sweeps.measuring import rounded
from shared import grpo
from shared.evaluate import evaluate
from shared.grpo import GRPOConfig
from shared.models import frozen_copy, load_policy
from shared.recipes import RECIPES
from shared.tasks import dots

HELD_OUT = 200
CONDITIONS = {
    "30 steps": GRPOConfig(
        steps=30,
        prompts_per_step=16,
        num_generations=8,
        max_new_tokens=dots.MAX_NEW_TOKENS,
        learning_rate=RECIPES["dots"].settings["learning_rate"],
        beta=0.02,
        warmup_steps=0,
        log_every=0,
    ),
}


@cache
def base_model():
    """The untrained model, frozen, and its tokenizer."""
    model, tokenizer = load_policy()
    return frozen_copy(model), tokenizer


def run(name: str, seed: int) -> dict[str, float]:
    """Train one condition with one seed; the held-out reward of `greedy` and of `sampled` completions."""
    base, tokenizer = base_model()
    model = frozen_copy(base).requires_grad_(True)
    config = replace(CONDITIONS[name], seed=seed)
    rows = dots.dataset("train", 712, seed=0)[:512]  # as in the notebook, which keeps the others for its settings
    grpo.train(model, tokenizer, rows, dots.reward, config, reference=base, progress=False)
    held_out = dots.dataset("eval", HELD_OUT, seed=0)
    room = dots.MAX_NEW_TOKENS
    greedy = evaluate(model, tokenizer, held_out, dots.reward, max_new_tokens=room)
    sampled = evaluate(
        model, tokenizer, held_out, dots.reward, max_new_tokens=room, temperature=1.0, num_generations=8, step=0
    )
    return {"greedy": rounded(greedy.mean), "sampled": rounded(sampled.mean)}
