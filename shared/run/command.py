"""The command line of `python -m shared.run`."""

import os
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from shared.engine.processes import Processes, ProcessLost
from shared.recipes import RECIPES
from shared.run import session
from shared.run.algorithms import ALGORITHMS
from shared.run.options import Setting, settings_of_all, with_settings
from shared.run.plan import Plan
from shared.training import NonFiniteTraining

Task = StrEnum("Task", list(RECIPES))
AlgorithmName = StrEnum("AlgorithmName", list(ALGORITHMS))
Engine = StrEnum("Engine", ["course", "trl"])
# Exit codes: the run could not go on, or it was asked for something that cannot be.
FAILED = 1
MISTAKE = 2
INTERRUPTED = 130  # as a shell says it of Ctrl-C

HELP = (
    "Train a model on a task of the course, measure it on held-out rows before and after, and keep it.\n\n"
    "[bold]python -m shared.run dots[/bold] trains the embedded model with the settings of the task; each setting is an"
    " option, so that you can change one thing at a time:"
    "  [bold]python -m shared.run dots --steps 80 --beta 0 --log csv:run.csv[/bold]\n\n"
    "Several processes, each with a share of every batch:"
    "  [bold]torchrun --nproc_per_node 2 -m shared.run dots[/bold]\n\n"
    "A long run is given a file:  [bold]--checkpoint runs/poker.pt[/bold].  The same command goes on from it.\n\n"
    "A model that does not fit one device:  [bold]--engine trl[/bold].  What follows  [bold]--[/bold]  goes to"
    " trl.GRPOConfig as it is:  [bold]... --engine trl -- --gradient_checkpointing false[/bold]"
)


def panel_of(setting: Setting) -> str:
    """The heading that a setting stands under: the algorithms that have it."""
    having = [name for name, kind in ALGORITHMS.items() if setting.name in kind.config.__dataclass_fields__]
    if len(having) < len(ALGORITHMS):
        return f"Settings of {' and '.join(having)}"
    return f"Settings of every algorithm ({setting.owner.__name__})"


SETTINGS = settings_of_all([kind.config for kind in ALGORITHMS.values()])
# What is shown as a default is the configuration's; where the recipes say something else, the help says so.
BY_TASK = {name for recipe in RECIPES.values() for own in (recipe.settings, *recipe.own.values()) for name in own}
FOR_THE_TASK = {
    name: replace(s, default=f"the task's, else {s.default}") if name in BY_TASK | {"max_new_tokens"} else s
    for name, s in SETTINGS.items()
}
app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)


@app.command(help=HELP, no_args_is_help=True, context_settings={"allow_extra_args": True})
@with_settings(FOR_THE_TASK, panel_of)
def command(
    context: typer.Context,
    task: Annotated[Task, typer.Argument(help="The task, each explained in its notebook.")],
    algorithm: Annotated[
        AlgorithmName | None, typer.Option(help="How it is trained; default: as in the task's notebook.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A folder or a name on the hub, name@revision; default: the embedded model.")
    ] = None,
    lora: Annotated[
        bool | None, typer.Option("--lora/--no-lora", help="Train LoRA adapters and leave the weights as they are.")
    ] = None,
    load_in_4bit: Annotated[
        bool, typer.Option("--load-in-4bit", help="Hold the weights in 4 bits and train adapters (QLoRA).")
    ] = False,
    constrained: Annotated[
        bool | None,
        typer.Option(
            "--constrained/--free", help="Whether completions may be the task's labels alone, where it has some."
        ),
    ] = None,
    train_rows: Annotated[
        int | None, typer.Option(help="Rows of the training set; default: the task's.", min=1)
    ] = None,
    eval_rows: Annotated[int | None, typer.Option(help="Held-out rows; default: the task's.", min=1)] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A file that the run is kept in; when it is there, the run goes on from it.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="A folder for the tuned model and its card.")] = None,
    result: Annotated[
        Path | None, typer.Option(help="A file for what was measured, the settings and every step, as JSON.")
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(help="csv:FILE, tensorboard:FOLDER or trackio:PROJECT, written as it trains. Repeatable."),
    ] = None,
    engine: Annotated[
        Engine,
        typer.Option(help="course, or trl: the same in trl.GRPOTrainer, for models that do not fit one device."),
    ] = Engine.course,
    use_vllm: Annotated[
        bool, typer.Option("--use-vllm", help="With --engine trl: sample with vLLM beside the training processes.")
    ] = False,
    vllm_server: Annotated[
        str | None, typer.Option(help="With --engine trl: sample with the vLLM server at this address.")
    ] = None,
    **settings,
) -> None:
    if engine is Engine.course and (use_vllm or vllm_server or context.args):
        complain(f"{' '.join(context.args) or '--use-vllm'} is for TRL alone: add --engine trl, or leave it out.")
        raise typer.Exit(MISTAKE)
    recipe = RECIPES[task]
    changes = {"train_rows": train_rows, "eval_rows": eval_rows, "constrained": constrained}
    changes = {name: value for name, value in changes.items() if value is not None}
    plan = Plan(
        recipe=replace(recipe, **changes),
        algorithm=str(algorithm or recipe.algorithm),
        settings={name: value for name, value in settings.items() if value is not None},
        model=model,
        lora=lora,
        load_in_4bit=load_in_4bit,
        checkpoint=checkpoint,
        save=save,
        result=result,
        logs=tuple(log or ()),
        engine=str(engine),
        use_vllm=use_vllm,
        vllm_server=vllm_server,
        trl_options=tuple(context.args),
    )
    try:
        result = run_with(engine)(plan)
        # Not after an error: the other processes may be gone, and to wait for them would take for ever.
        Processes.here().leave()
    except (ValueError, OSError) as error:
        complain(str(error))
        raise typer.Exit(MISTAKE) from error
    except (NonFiniteTraining, ProcessLost) as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    if result.get("interrupted"):
        raise typer.Exit(INTERRUPTED)


def run_with(engine: Engine) -> Callable[[Plan], dict]:
    """The function that carries out a plan. TRL takes seconds to import, so only who asks for it waits.

    Raises ValueError when it is not installed.
    """
    if engine is Engine.course:
        return session.run
    try:
        from shared.run import hand_over
    except ImportError as error:
        raise ValueError(f'TRL is not installed ({error}); `pip install -e ".[scale]"` installs it.') from error
    return hand_over.run


def complain(sentence: str) -> None:
    """Say on stderr what is wrong, and of several processes which one says so."""
    count = int(os.environ.get("WORLD_SIZE", 1))
    who = f" in process {os.environ.get('RANK', 0)} of {count}" if count > 1 else ""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]error{who}[/red]  {escape(sentence)}")
