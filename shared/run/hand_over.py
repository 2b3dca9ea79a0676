"""`--engine trl`: the same rows, rewards and settings in TRL's trainers, for models that do not fit one device.

FSDP, DeepSpeed and vLLM are then TRL's and accelerate's to run (`configs/`). The model is loaded by TRL from its name,
and held-out rows are completed by TRL as well, with whatever generates there: sampled, one completion each.
"""

import os
import sys
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict

from datasets import Dataset
from transformers import AutoConfig, PreTrainedTokenizerBase, TrainerCallback
from transformers.trainer_utils import get_last_checkpoint
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

from shared.engine.hub import Source, find
from shared.engine.named import location_of
from shared.engine.positions import positions_in
from shared.evaluate import Evaluation
from shared.experience import RolloutConfig
from shared.model_classes import class_of
from shared.models import (
    Origin,
    best_device,
    load,
    load_tokenizer,
    lora_config,
    name_and_revision,
    nf4,
    without_checkpointing_warnings,
)
from shared.recipes import Materials, prepare
from shared.rewards import RewardFunction, add_up, name_of, score
from shared.run import loggers
from shared.run.algorithms import ALGORITHMS
from shared.run.outcome import keep, measured_of, result_of
from shared.run.plan import Plan, check
from shared.run.trl_settings import COUNTERPARTS, trl_settings, with_extra
from shared.tokens import prompt_ids

WITHOUT_TRAINER = {
    "ppo": "TRL took its PPO trainer out",
    "distill": "the teacher of TRL's distillation is another model, where ours reads another prompt",
}
ROW = "held_out_row"  # a column that tells which row a completion belongs to, whatever process made it


class Watched:
    """A reward function as TRL calls it; while `watching` it also keeps what it was called with."""

    def __init__(self, function: RewardFunction):
        self.function = function
        self.__name__ = name_of(function)
        self.seen: dict[int, str] | None = None

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **columns) -> list[float]:
        if self.seen is not None:
            self.seen |= dict(zip(columns[ROW], completions))
        return self.function(prompts=prompts, completions=completions, **columns)


class Records(TrainerCallback):
    """TRL's record of each update, for the listeners that the course's own loop has."""

    def __init__(self, listeners: Sequence[loggers.Listener]):
        self.listeners = listeners

    def on_log(self, args, state, control, logs=None, **others):
        if not state.is_world_process_zero or "loss" not in logs:
            return
        record = {"step": state.global_step} | {k: v for k, v in logs.items() if isinstance(v, int | float)}
        for listener in self.listeners:
            listener(record)


def refuse_other_tokens(tokenizer: PreTrainedTokenizerBase, prompt: str) -> None:
    """ValueError where the tokenizer reads a prompt, as TRL gives it the text, otherwise than the model is asked here."""
    (ours,) = prompt_ids(tokenizer, [prompt])
    theirs = tokenizer(prompt)["input_ids"]
    if theirs != ours:
        raise ValueError(
            f"TRL would read the prompt {prompt!r} as {tokenizer.decode(theirs)!r}, and the model is asked "
            f"{tokenizer.decode(ours)!r} here, as its template is: leave --engine trl out."
        )


def refuse_adapters(source: Source) -> None:
    """ValueError for a model that holds adapters: TRL would put its own on the model below them, and measure the KL from there."""
    if source.adapters:
        raise ValueError(
            f"{source.name} holds adapters, and TRL begins with a model alone: write the two as one, `python -m "
            f"shared.run.convert {source.name} FOLDER`, and give --model FOLDER. Or leave --engine trl out."
        )


def refuse(plan: Plan) -> None:
    """ValueError for a plan that TRL has no counterpart for, with what to add to the command."""
    if ALGORITHMS[plan.algorithm].config not in COUNTERPARTS:
        why = WITHOUT_TRAINER[plan.algorithm]
        raise ValueError(
            f"{plan.recipe.name} is to be trained with {plan.algorithm}, and {why}: add --algorithm grpo, or rloo."
        )
    if any(loggers.told_by(where) == "on_rollout" for where in plan.logs):
        raise ValueError(
            "TRL keeps completions in its own way: leave --log rollouts:... out, and add `--log_completions true` behind --."
        )
    if plan.recipe.constrained:
        raise ValueError(
            f"Completions of {plan.recipe.name} are restricted to its labels, for which TRL has no counterpart: add --free."
        )
    if plan.recipe.environment_factory is not None:
        raise ValueError(
            f"In {plan.recipe.name} an environment answers inside of a completion. TRL's own environments are tools that a "
            "chat model calls, and its rollout_func is given prompts without their rows, to be completed without TRL's vLLM "
            "and sharded weights: leave --engine trl out."
        )
    if plan.trained == "upper half":
        raise ValueError(
            f"Of the model for {plan.recipe.name} the upper half is trained, for which TRL has no counterpart: add "
            "--lora for adapters or --no-lora for all weights."
        )


def tell_of_warm_up(plan: Plan, tokenizer: PreTrainedTokenizerBase) -> None:
    """Warn where the model would learn right answers first: TRL's trainer begins with the model as it is."""
    if plan.recipe.warm_up_of(class_of(tokenizer, plan.trained)) is not None:
        name = plan.recipe.name
        warnings.warn(
            f"{name} begins with a warm-up on right answers, which TRL's trainer leaves out. To have it, write a model that "
            f"learned them, `python -m shared.run {name} --steps 1 --save FOLDER` with this --model, and give TRL that folder.",
            stacklevel=2,
        )


def run(plan: Plan) -> dict:
    """Train as planned in TRL's trainer; what was measured, as `result_of` makes it.

    Raises ValueError: the plan cannot be carried out; the sentence says why.
    """
    check(plan)
    refuse(plan)
    source = find(*name_and_revision(plan.model))
    refuse_adapters(source)
    tokenizer = load_tokenizer(plan.model)
    model_config = load(AutoConfig, source)
    materials = prepare(plan.recipe, tokenizer, positions=positions_in(model_config))
    refuse_other_tokens(tokenizer, materials.train_rows[0]["prompt"])
    tell_of_warm_up(plan, tokenizer)
    config = plan.config(materials.max_new_tokens, tokenizer)
    with ExitStack() as stack:
        stack.enter_context(without_checkpointing_warnings())
        folder = plan.checkpoint or stack.enter_context(tempfile.TemporaryDirectory())
        args = arguments(plan, config, str(folder))
        first = int(os.environ.get("RANK", 0)) == 0
        places = plan.logs if first else ()
        listeners = [stack.enter_context(loggers.listening(where, asdict(config))) for where in places]
        trainer = trainer_for(plan, config, args, tokenizer, materials)
        trainer.add_callback(Records(listeners))
        before = measure(trainer, plan, materials, "before")
        resumed = plan.checkpoint is not None and plan.checkpoint.is_dir() and get_last_checkpoint(str(plan.checkpoint))
        if resumed and first:
            print(f"Going on from {resumed}.")
        trainer.train(resume_from_checkpoint=resumed or None)
        after = measure(trainer, plan, materials, "after")
        # Every process holds a part of the weights, so all take part in this before the others leave.
        weights = trainer.accelerator.get_state_dict(trainer.model) if plan.save is not None else None
        if not trainer.is_world_process_zero():
            return {}
        measured = measured_of(before, after)
        model = trainer.accelerator.unwrap_model(trainer.model)
        model.loaded_from = Origin(*name_and_revision(plan.model))
        result = result_of(plan, config, model, measured, trainer.state.log_history)
        keep(plan, model, tokenizer, config, result, weights)
    return result


def arguments(plan: Plan, config: RolloutConfig, folder: str) -> GRPOConfig | RLOOConfig:
    """TRL's configuration for the plan, the options behind `--` over ours."""
    processes = int(os.environ.get("WORLD_SIZE", 1))
    settings = trl_settings(config, on_cpu=best_device().type == "cpu", processes=processes)
    _, revision = name_and_revision(plan.model)
    settings |= {
        "output_dir": folder,
        "report_to": [],
        "disable_tqdm": not sys.stderr.isatty(),
        "num_generations_eval": 1,
        "model_init_kwargs": {"dtype": "float32", "revision": revision},
        "use_vllm": plan.use_vllm or plan.vllm_server is not None,
    }
    if plan.logs:
        settings["logging_steps"] = 1
    if plan.vllm_server is not None:
        settings |= {"vllm_mode": "server", "vllm_server_base_url": plan.vllm_server}
    return with_extra(settings, plan.trl_options, config, processes)


def trainer_for(
    plan: Plan,
    config: RolloutConfig,
    args: GRPOConfig | RLOOConfig,
    tokenizer: PreTrainedTokenizerBase,
    materials: Materials,
) -> GRPOTrainer | RLOOTrainer:
    """TRL's trainer with the recipe's rows and rewards, and a model that it loads itself."""
    name, _ = name_and_revision(plan.model)
    functions = list(plan.recipe.reward_funcs)
    held_out = [row | {ROW: i} for i, row in enumerate(materials.eval_rows)]
    return COUNTERPARTS[type(config)].trainer(
        model=location_of(name),
        reward_funcs=[Watched(functions[0]), *functions[1:]],
        args=args,
        train_dataset=Dataset.from_list(list(materials.train_rows)),
        eval_dataset=Dataset.from_list(held_out),
        processing_class=tokenizer,
        quantization_config=nf4(best_device()) if plan.load_in_4bit else None,
        peft_config=lora_config() if plan.trained == "lora" else None,
    )


def measure(trainer: GRPOTrainer | RLOOTrainer, plan: Plan, materials: Materials, name: str) -> Evaluation:
    """One completion of each held-out row, made by TRL, with the reward that the recipe measures."""
    from accelerate.utils import gather_object

    watched = trainer.reward_funcs[0]
    watched.seen = {}
    trainer.evaluate()
    by_row = dict(gather_object(list(watched.seen.items())))
    watched.seen = None
    rows = materials.eval_rows
    prompts = [row["prompt"] for row in rows]
    completions = [by_row[i] for i in range(len(rows))]
    columns = {column: [row[column] for row in rows] for column in rows[0] if column != "prompt"}
    rewards_per_func = score(plan.recipe.measured, prompts, completions, columns)
    return Evaluation(name, prompts, completions, add_up(rewards_per_func), rewards_per_func)
