"""One run from end to end: load, measure, train, measure again, save, say."""

import json
import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import training
from shared.engine.files import written_beside
from shared.evaluate import Evaluation, bootstrap_interval, compare, evaluate
from shared.experience import RolloutConfig
from shared.models import frozen_copy, load_policy, parameter_summary
from shared.recipes import TRAINED, Recipe, measuring, prepare
from shared.run import loggers
from shared.run.algorithms import ALGORITHMS, config_for
from shared.saving import base_of, refuse_to_overwrite, save_policy

CHECKPOINT_EVERY = 10


@dataclass(frozen=True)
class Plan:
    """What the command line asked for.

    settings: those of the algorithm that were given; the others are the recipe's, and then the configuration's.
    model: a folder or hub name, None for the embedded one.    lora: None does as the recipe says.
    checkpoint, save, result: paths, None for none.    logs: see `shared.run.loggers`.
    """

    recipe: Recipe
    algorithm: str
    settings: dict[str, object]
    model: str | None = None
    lora: bool | None = None
    load_in_4bit: bool = False
    checkpoint: Path | None = None
    save: Path | None = None
    result: Path | None = None
    logs: tuple[str, ...] = ()

    @property
    def adapters(self) -> bool:
        return self.load_in_4bit or (self.recipe.trained == "lora" if self.lora is None else self.lora)

    def config(self, max_new_tokens: int) -> RolloutConfig:
        """The settings in force. Raises ValueError for one that the algorithm lacks or refuses."""
        config_class = ALGORITHMS[self.algorithm].config
        settings = self.recipe.settings_of(self.algorithm, config_class) | {"max_new_tokens": max_new_tokens}
        if self.checkpoint is not None:
            settings["checkpoint_every"] = CHECKPOINT_EVERY
        return config_for(self.algorithm, settings | self.settings)


def run(plan: Plan, say: Callable[[str], None] = print) -> dict:
    """Train as planned; what was measured, as `result_of` makes it.

    Raises ValueError: the plan cannot be carried out; the sentence says why. Nothing was trained then.
    """
    check(plan)
    torch.manual_seed(plan.settings.get("seed", 0))  # of the adapters' and the critic's first weights
    model, tokenizer = load_policy(plan.model, lora=plan.adapters, load_in_4bit=plan.load_in_4bit)
    reference = None if plan.adapters else frozen_copy(model)
    if not plan.adapters and plan.recipe.trained != "lora":
        model = TRAINED[plan.recipe.trained](model)
    say(parameter_summary(model))
    materials = prepare(plan.recipe, tokenizer)
    config = plan.config(materials.max_new_tokens)
    options = measuring(plan.recipe, materials) | {"max_new_tokens": config.max_new_tokens}

    def measure(measured_model: PreTrainedModel, name: str = "") -> Evaluation:
        return evaluate(measured_model, tokenizer, materials.eval_rows, plan.recipe.measured, name=name, **options)

    kind = ALGORITHMS[plan.algorithm]
    algorithm = kind.algorithm(
        kind.trained(model),
        tokenizer,
        plan.recipe.reward_funcs,
        config,
        reference=reference if config.beta else None,
        constraint=materials.constraint,
    )
    before = measure(model, "before")
    with ExitStack() as stack:
        listeners = [stack.enter_context(loggers.listening(where, asdict(config))) for where in plan.logs]
        history = training.train(
            algorithm,
            materials.train_rows,
            config,
            evaluate=lambda trained: measure(algorithm.policy).mean,
            checkpoint_path=plan.checkpoint,
            on_step=listeners,
        )
    after = measure(model, "after")
    measured = with_intervals(compare(before, after), before, after)
    result = result_of(plan, config, model, measured, history)
    keep(plan, model, tokenizer, config, result)
    return result


def check(plan: Plan) -> None:
    """Tell a mistake before a model is loaded, and not after a night of training. Raises ValueError."""
    plan.config(max_new_tokens=1)
    for where in plan.logs:
        loggers.check(where)
    if plan.save is not None:
        refuse_to_overwrite(plan.save)


def with_intervals(measured: dict[str, float], before: Evaluation, after: Evaluation) -> dict[str, float]:
    """What `compare` returned, with the 95 % intervals of both measurements and the number of held-out prompts."""
    for name, evaluation in (("baseline", before), ("fine-tuned", after)):
        low, high = bootstrap_interval(evaluation.per_prompt)
        measured = measured | {f"{name}_low": low, f"{name}_high": high}
    return measured | {"held_out_prompts": len(before.per_prompt)}


def result_of(
    plan: Plan, config: RolloutConfig, model: PreTrainedModel, measured: dict[str, float], history: list[dict]
) -> dict:
    """What a program wants to know of a run, as JSON takes it: a number that is not finite, of a skipped step, is null."""
    records = [{name: value if math.isfinite(value) else None for name, value in r.items()} for r in history]
    return {
        "task": plan.recipe.name,
        "algorithm": plan.algorithm,
        "model": asdict(base_of(model)),
        "adapters": plan.adapters,
        "settings": asdict(config),
        "measured": measured,
        "history": records,
    }


def keep(
    plan: Plan,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    config: RolloutConfig,
    result: dict,
) -> None:
    """Save the tuned model with its card, and the result, where the plan names places for them."""
    if plan.save is not None:
        save_policy(model, tokenizer, plan.save, task=plan.recipe.name, measured=result["measured"], settings=config)
    if plan.result is not None:
        plan.result.parent.mkdir(parents=True, exist_ok=True)
        with written_beside(plan.result) as file:
            file.write((json.dumps(result, indent=2, default=str) + "\n").encode())
