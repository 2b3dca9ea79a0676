"""The outcome of a run: the numbers a program wants, the tuned model in a folder."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict

from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.engine.files import written_beside
from shared.evaluate import Evaluation, compare
from shared.experience import RolloutConfig
from shared.run.plan import Plan
from shared.saving import base_of, save_policy


def measured_of(before: Evaluation, after: Evaluation | None, *, show: bool = True) -> dict[str, float]:
    """The result of `compare`, with the 95 % interval of each measurement and the number of held-out prompts.

    after: None where training was interrupted; there is nothing to compare then.
    """
    measured = {"held_out_prompts": len(before.per_prompt), "baseline": before.mean}
    evaluations = {"baseline": before}
    if after is not None:
        measured |= compare(before, after, show=show)
        evaluations["fine-tuned"] = after
    for name, evaluation in evaluations.items():
        low, high = evaluation.interval()
        measured |= {f"{name}_low": low, f"{name}_high": high}
    return measured


def result_of(
    plan: Plan, config: RolloutConfig, model: PreTrainedModel, measured: dict[str, float], history: list[dict]
) -> dict:
    """The figures of a run for a program, as JSON takes them: a number that is not finite, of a skipped step, is null."""
    records = [{name: _finite(value) for name, value in record.items()} for record in history]
    return {
        "task": plan.recipe.name,
        "algorithm": plan.algorithm,
        "model": asdict(base_of(model)),
        "engine": plan.engine,
        "trained": plan.trained,
        "load_in_4bit": plan.load_in_4bit,
        "constrained": plan.recipe.constrained,
        "train_rows": plan.recipe.train_rows,
        "eval_rows": plan.recipe.eval_rows,
        "settings": asdict(config),
        "interrupted": "fine-tuned" not in measured,
        "measured": measured,
        "history": records,
    }


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def keep(
    plan: Plan,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    config: RolloutConfig,
    result: dict,
    weights: Mapping[str, Tensor] | None = None,
) -> None:
    """Save the tuned model with its card, and the result, where the plan names places for them, and say where.

    weights: the whole of the model, where this process holds a part.
    """
    if plan.save is not None:
        save_policy(
            model,
            tokenizer,
            plan.save,
            task=plan.recipe.name,
            measured=result["measured"],
            settings=config,
            weights=weights,
        )
        print(f"The tuned model is in {plan.save}.")
    if plan.result is not None:
        plan.result.parent.mkdir(parents=True, exist_ok=True)
        with written_beside(plan.result) as file:
            file.write((json.dumps(result, indent=2, default=str) + "\n").encode())
        print(f"What was measured, the settings and every step are in {plan.result}.")
    if plan.checkpoint is not None:
        print(f"The checkpoint is in {plan.checkpoint}: the same command with more --steps goes on from it.")
    for where in plan.logs:
        print(f"The log is {where}.")
