"""The direction of k3 as a loss on dots, for `notebooks/gradients.ipynb`: completions are free there, unlike poker's.

Fourteen completions, the ten numbers and the model's four remarks, hold nearly all of the probability: how much is
recorded as `mass`. Over these the KL and the gradients are summed, as `gradients` sums them over poker's eight.
"""

from dataclasses import replace
from functools import cache

from benchmarks.sweeps.gradients import CURVE_AT, STEPS, estimators, logps_of, under_the_lens
from benchmarks.sweeps.measuring import rounded
from shared import rloo
from shared.models import frozen_copy, load_policy
from shared.prompts import answers_for
from shared.recipes import RECIPES, prepare
from shared.rloo import RLOOConfig
from shared.tasks import dots

PROMPTS = 8  # held-out ones, on which the gradients are compared
CONDITIONS = {
    "RLOO": RLOOConfig(
        steps=STEPS,
        prompts_per_step=16,
        num_generations=8,
        max_new_tokens=dots.MAX_NEW_TOKENS,
        learning_rate=RECIPES["dots"].settings["learning_rate"],
        log_every=0,
    )
}


@cache
def setting() -> dict:
    """The parts that all runs share: model, tokenizer, rows, and every completion that is looked at."""
    base, tokenizer = load_policy()
    materials = prepare(RECIPES["dots"], tokenizer)
    numbers = answers_for(tokenizer, [str(number) for number in range(10)])
    return {
        "base": frozen_copy(base),
        "tokenizer": tokenizer,
        "completions": [*numbers, *dots.REMARKS],
        "trie": None,
        "rows": materials.train_rows,
        "lens": materials.eval_rows[:PROMPTS],
    }


def run(name: str, seed: int, steps: int = STEPS) -> dict:
    """Train one condition with one seed; `curve` has what `gradients.estimators` finds along the way, and the `mass`."""
    shared = setting()
    model = frozen_copy(shared["base"]).requires_grad_(True)
    curve = []

    def after_step(record: dict) -> None:
        if record["step"] in CURVE_AT:
            found = estimators(under_the_lens(model, shared), shared)
            curve.append({"step": record["step"], **found, "mass": mass(model, shared)})

    config = replace(CONDITIONS[name], seed=seed, steps=steps)
    rloo.train(model, shared["tokenizer"], shared["rows"], dots.reward, config, on_step=after_step, progress=False)
    return {"curve": curve}


def mass(model, shared: dict) -> float:
    """The least probability that the completions hold together, of any prompt, by the policy or by the reference."""
    totals = [logps_of(policy, shared["lens"], shared).exp().sum(dim=1) for policy in (model, shared["base"])]
    return rounded(min(total.min() for total in totals))


def told(measured: dict) -> str:
    """A run in a few words: where its curve ends."""
    return ", ".join(f"{name} {value:.3f}" for name, value in measured["curve"][-1].items())
