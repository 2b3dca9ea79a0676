"""One run from end to end: load, measure, train, measure again, save, say."""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import supervised, training
from shared.algorithm import TrainingConfig
from shared.distill import TEACHER_PROMPT
from shared.engine.positions import positions_of
from shared.engine.processes import Processes
from shared.evaluate import Evaluation, evaluate
from shared.experience import RolloutAlgorithm, RolloutConfig
from shared.model_classes import class_of
from shared.models import frozen_copy, load_policy, parameter_summary
from shared.progress import silence
from shared.recipes import TRAINED, Recipe, WarmUp, documents_for, measuring, prepare, with_teacher_prompts
from shared.run import loggers
from shared.run.algorithms import ALGORITHMS
from shared.run.outcome import keep, measured_of, result_of
from shared.run.plan import Plan, check
from shared.run.signals import stop_after_the_step


@dataclass(frozen=True)
class Ready:
    """A run before its first step.

    model: the language model that is trained.    algorithm: what trains it, maybe with a critic.
    measure: `measure(name)` evaluates the model, as it is by then, on the held-out rows.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    algorithm: RolloutAlgorithm
    config: RolloutConfig
    train_rows: Sequence[dict]
    measure: Callable[[str], Evaluation]


def run(plan: Plan) -> dict:
    """Train as planned, in as many processes as were launched; what was measured, as `result_of` makes it.

    Interrupted, the model is kept as it is, and not measured again.

    Raises ValueError: the plan cannot be carried out; the sentence says why. Nothing was trained then.
    """
    check(plan)
    processes = Processes.here()
    say = print if processes.first else silence
    made = ready(plan, processes)
    say(parameter_summary(made.model))
    before = made.measure("before")
    with ExitStack() as stack:
        places = plan.logs if processes.first else ()
        listeners = loggers.all_listening(stack, places, asdict(made.config))
        stop = stack.enter_context(stop_after_the_step(say))
        history = training.train(
            made.algorithm,
            made.train_rows,
            made.config,
            evaluate=lambda trained: made.measure("").mean,
            checkpoint_path=plan.checkpoint,
            stop=stop,
            progress=sys.stderr.isatty(),  # a bar in a file is a line for each step, one behind the other
            processes=processes,
            **listeners,
        )
    after = made.measure("after") if len(history) == made.config.steps else None
    measured = measured_of(before, after, show=processes.first)
    result = result_of(plan, made.config, made.model, measured, history)
    if processes.first:
        keep(plan, made.model, made.tokenizer, made.config, result)
    return result


def ready(plan: Plan, processes: Processes, *, rows_seed: int = 0) -> Ready:
    """Load, warm up and prepare what a plan names. `rows_seed` draws the rows of both splits, the plan's own the rest."""
    seed = plan.settings.get("seed", 0)
    torch.manual_seed(seed)  # of the adapters' and the critic's first weights
    model, tokenizer = load_policy(plan.model, lora=plan.trained == "lora", load_in_4bit=plan.load_in_4bit)
    positions = positions_of(model)
    materials = prepare(plan.recipe, tokenizer, seed=rows_seed, eval_seed=rows_seed, positions=positions)
    warm = plan.recipe.warm_up_of(class_of(tokenizer, plan.trained))
    if warm is not None:
        warm_up(plan.recipe, warm, model, tokenizer, materials.examples, seed)
    reference = None
    if not hasattr(model, "peft_config"):  # with adapters the run needs no copy of the model
        reference = frozen_copy(model)
        model = TRAINED[plan.trained](model)
    config = plan.config(materials.max_new_tokens, tokenizer)
    options = measuring(plan.recipe, materials) | {"max_new_tokens": config.max_new_tokens}

    def measure(name: str) -> Evaluation:
        return evaluate(
            model,
            tokenizer,
            materials.eval_rows,
            plan.recipe.measured,
            name=name,
            processes=processes,
            **options,
        )

    kind = ALGORITHMS[plan.algorithm]
    train_rows = materials.train_rows
    if TEACHER_PROMPT in kind.algorithm.columns:
        train_rows = with_teacher_prompts(plan.recipe, train_rows, tokenizer)
    algorithm = kind.algorithm(
        kind.trained(model),
        tokenizer,
        plan.recipe.reward_funcs,
        config,
        reference=reference if config.needs_reference else None,
        constraint=materials.constraint,
        environment_factory=plan.recipe.environment_factory,
    )
    return Ready(model, tokenizer, algorithm, config, train_rows, measure)


def warm_up(
    recipe: Recipe, warm: WarmUp, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, examples: int, seed: int
) -> None:
    """Train the model in place on the warm-up's documents: what is measured and trained begins there."""
    config = TrainingConfig(**warm.settings, seed=seed, log_every=0)
    documents = documents_for(recipe, warm.documents(warm.count, seed), tokenizer, examples)
    supervised.train(model, tokenizer, documents, config, progress=False)
