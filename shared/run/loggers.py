"""Loggers of a run, chosen by a text such as "tensorboard:runs/dots".

Of each step's record: a table or TensorBoard. Of each step's completions: a file to be read (`shared.rollouts`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from shared.logs import Record, csv_log
from shared.rollouts import MOST_A_STEP, rollout_log

Listener = Callable[[Record], None]
Reader = Callable[[list[dict]], None]
INSTALL = '{name} is not installed; `pip install -e ".[scale]"` installs it, or log to a table: --log csv:run.csv'


def listening(where: str, settings: Mapping[str, object]) -> AbstractContextManager[Listener | Reader]:
    """A context whose value takes what a run tells: `csv:FILE`, `tensorboard:FOLDER`, `rollouts:FILE`.

    settings: how it is trained, kept beside the records where there is a place for it.

    Raises ValueError: see `check`.
    """
    check(where)
    kind, _, name = where.partition(":")
    return KINDS[kind].open(name, settings)


def all_listening(stack: ExitStack, places: Sequence[str], settings: Mapping[str, object]) -> dict[str, list]:
    """Every logger, open until the stack ends, as the arguments `on_step` and `on_rollout` of a training."""
    told: dict[str, list] = {"on_step": [], "on_rollout": []}
    for where in places:
        told[told_by(where)].append(stack.enter_context(listening(where, settings)))
    return told


def told_by(where: str) -> str:
    """The argument of a training through which this log is told: `on_step` or `on_rollout`."""
    return KINDS[where.partition(":")[0]].told_by


def check(where: str) -> None:
    """ValueError for another kind of log, no name behind the colon, wrong numbers, or a library that is not installed."""
    kind, _, name = where.partition(":")
    if kind not in KINDS or not name:
        known = ", ".join(f"{kind}:{known.name}" for kind, known in KINDS.items())
        raise ValueError(f"The log is {where!r}; choose one of {known}.")
    needs = KINDS[kind].needs
    if needs is not None and find_spec(needs) is None:
        raise ValueError(INSTALL.format(name=needs))
    if kind == "rollouts":
        _file_and_numbers(name)


def file_of(where: str) -> Path | None:
    """The file that a log is written to; None for one that is a folder's or a program's."""
    kind, _, name = where.partition(":")
    if kind == "rollouts":
        return Path(_file_and_numbers(name)[0])
    return Path(name) if kind == "csv" else None


@contextmanager
def _csv(path: str, settings: Mapping[str, object]) -> Iterator[Listener]:
    yield csv_log(path)


@contextmanager
def _tensorboard(folder: str, settings: Mapping[str, object]) -> Iterator[Listener]:
    from torch.utils.tensorboard import SummaryWriter

    with ExitStack() as stack:
        writers = []

        def add(record: Record) -> None:
            if not writers:
                # What an interrupted run wrote from this step on, beyond its checkpoint, is no longer shown.
                writer = stack.enter_context(SummaryWriter(folder, purge_step=record["step"]))
                writer.add_text("settings", "\n".join(f"- {name}: {value}" for name, value in settings.items()))
                writers.append(writer)
            for name, value in _without_step(record).items():
                writers[0].add_scalar(name, value, record["step"])

        yield add


@contextmanager
def _rollouts(path: str, settings: Mapping[str, object]) -> Iterator[Reader]:
    file, numbers = _file_and_numbers(path)
    yield rollout_log(file, **numbers)


def _file_and_numbers(name: str) -> tuple[str, dict[str, int]]:
    """The file of rollouts and the numbers behind it: "run.jsonl,every=10,most=64". ValueError for other words there."""
    file, *parts = name.split(",")
    numbers = {}
    for part in parts:
        word, _, number = part.partition("=")
        if word not in ("every", "most") or not number.isdecimal() or int(number) < 1:
            raise ValueError(
                f"Behind the file of rollouts stands {part!r}; there may be every=N, to keep every Nth step, and most=M, "
                f"completions of a step ({MOST_A_STEP} unless said otherwise): rollouts:{file},every=10,most=16."
            )
        numbers[word] = int(number)
    return file, numbers


def _without_step(record: Record) -> Record:
    return {name: value for name, value in record.items() if name != "step"}


@dataclass(frozen=True)
class Kind:
    """open: makes the context from what stands behind the colon, which the help calls `name`.    needs: a library.

    told_by: the argument of a training that takes the context's value.
    """

    open: Callable[[str, Mapping[str, object]], AbstractContextManager[Listener]]
    name: str
    needs: str | None = None
    told_by: str = "on_step"


KINDS = {
    "csv": Kind(_csv, "FILE"),
    "tensorboard": Kind(_tensorboard, "FOLDER", "tensorboard"),
    "rollouts": Kind(_rollouts, "FILE", told_by="on_rollout"),
}
