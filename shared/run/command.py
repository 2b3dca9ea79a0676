"""The command line of `python -m shared.run`."""

import os
from collections.abc import Callable, Collection
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperCommand

from shared.engine.processes import Processes, ProcessLost
from shared.recipes import RECIPES
from shared.run import session
from shared.run.algorithms import ALGORITHMS
from shared.run.options import Setting, settings_of_all, with_settings
from shared.run.plan import Plan
from shared.run.settings_file import overridden, read_options
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
    "A run that is told again:  [bold]--settings run.json[/bold],  where it was written by --result; options change it.\n\n"
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


CONTEXT = {"allow_extra_args": True, "help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A command that says what is wrong with a value in its own words alone, not in those of the checking library."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


@app.command(cls=Command, help=HELP, no_args_is_help=True, context_settings=CONTEXT)
@with_settings(FOR_THE_TASK, panel_of)
def command(
    context: typer.Context,
    task: Annotated[
        Task | None, typer.Argument(help="The task, each explained in its notebook.", show_default=False)
    ] = None,
    settings_file: Annotated[
        Path | None,
        typer.Option("--settings", help="A file of --result: the same run again, with what else is given changed."),
    ] = None,
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
        bool | None,
        typer.Option("--load-in-4bit/--no-load-in-4bit", help="Hold the weights in 4 bits, train adapters (QLoRA)."),
    ] = None,
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
        typer.Option(help="csv:FILE, tensorboard:FOLDER or rollouts:FILE, written as it trains. Repeatable."),
    ] = None,
    engine: Annotated[
        Engine | None,
        typer.Option(help="course, or trl: the same in trl.GRPOTrainer, for models that do not fit one device."),
    ] = None,
    use_vllm: Annotated[
        bool, typer.Option("--use-vllm", help="With --engine trl: sample with vLLM beside the training processes.")
    ] = False,
    vllm_server: Annotated[
        str | None, typer.Option(help="With --engine trl: sample with the vLLM server at this address.")
    ] = None,
    **settings,
) -> None:
    given = {"task": task, "algorithm": algorithm, "engine": engine, "model": model, "lora": lora}
    given |= {"load_in_4bit": load_in_4bit, "constrained": constrained}
    given |= {"train_rows": train_rows, "eval_rows": eval_rows} | settings
    places = {"checkpoint": checkpoint, "save": save, "result": result, "logs": tuple(log or ())}
    for_trl = {"use_vllm": use_vllm, "vllm_server": vllm_server, "trl_options": tuple(context.args)}
    try:
        options = options_of({name: value for name, value in given.items() if value is not None}, settings_file)
        plan = plan_of(options, set(settings), places | for_trl)
        result = run_with(plan.engine)(plan)
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


def options_of(given: dict[str, object], settings_file: Path | None) -> dict[str, object]:
    """The options of the command line by name, over those of a file where one is named, which is said.

    Raises ValueError: the file holds no run, or one of another algorithm; or neither names a task.
    """
    given = {name: str(value) if isinstance(value, StrEnum) else value for name, value in given.items()}
    if settings_file is None:
        if "task" not in given:
            raise ValueError(f"Name a task, one of {', '.join(RECIPES)}, or a run with --settings FILE.")
        return given
    kept = read_options(settings_file)
    if given.get("algorithm", kept["algorithm"]) != kept["algorithm"]:
        raise ValueError(f"The settings of {settings_file} are those of {kept['algorithm']}: leave --algorithm out.")
    if int(os.environ.get("RANK", 0)) == 0:
        print(overridden(kept, given, settings_file))
    return kept | given


def plan_of(options: dict[str, object], settings: Collection[str], others: dict[str, object]) -> Plan:
    """The plan of these options, some of which are `settings` of the algorithm. `others`: further fields of the plan.

    Raises ValueError for what is TRL's alone without TRL, and for a task or algorithm that is not known.
    """
    engine = options.get("engine", "course")
    if engine == "course" and (others["use_vllm"] or others["vllm_server"] or others["trl_options"]):
        what = " ".join(others["trl_options"]) or "--use-vllm"
        raise ValueError(f"{what} is for TRL alone: add --engine trl, or leave it out.")
    recipe = RECIPES[options["task"]]
    changes = {name: options[name] for name in ("train_rows", "eval_rows", "constrained") if name in options}
    return Plan(
        recipe=replace(recipe, **changes),
        algorithm=options.get("algorithm", recipe.algorithm),
        settings={name: value for name, value in options.items() if name in settings},
        model=options.get("model"),
        lora=options.get("lora"),
        load_in_4bit=options.get("load_in_4bit", False),
        engine=engine,
        **others,
    )


def run_with(engine: str) -> Callable[[Plan], dict]:
    """The function that carries out a plan. TRL takes seconds to import, so only who asks for it waits.

    Raises ValueError when it is not installed.
    """
    if engine == "course":
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
