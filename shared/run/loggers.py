"""Loggers of each step's record: a table, TensorBoard or trackio, chosen by a text such as "tensorboard:runs/dots"."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from shared.logs import Record, csv_log

Listener = Callable[[Record], None]
INSTALL = '{name} is not installed; `pip install -e ".[scale]"` installs it, or log to a table: --log csv:run.csv'


def listening(where: str, settings: Mapping[str, object]) -> AbstractContextManager[Listener]:
    """A context whose value takes the records of a run: `csv:FILE`, `tensorboard:FOLDER` or `trackio:PROJECT`.

    settings: how it is trained, kept beside the records where there is a place for it.

    Raises ValueError: see `check`.
    """
    check(where)
    kind, _, name = where.partition(":")
    return KINDS[kind].open(name, settings)


def check(where: str) -> None:
    """ValueError for another kind of log, no name behind the colon, or a library that is not installed."""
    kind, _, name = where.partition(":")
    if kind not in KINDS or not name:
        known = ", ".join(f"{kind}:{known.name}" for kind, known in KINDS.items())
        raise ValueError(f"The log is {where!r}; choose one of {known}.")
    needs = KINDS[kind].needs
    if needs is not None and find_spec(needs) is None:
        raise ValueError(INSTALL.format(name=needs))


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
def _trackio(project: str, settings: Mapping[str, object]) -> Iterator[Listener]:
    import trackio

    trackio.init(project=project, config=dict(settings))
    try:
        yield lambda record: trackio.log(_without_step(record), step=record["step"])
    finally:
        trackio.finish()


def _without_step(record: Record) -> Record:
    return {name: value for name, value in record.items() if name != "step"}


@dataclass(frozen=True)
class Kind:
    """open: makes the context from what stands behind the colon, which the help calls `name`.    needs: a library."""

    open: Callable[[str, Mapping[str, object]], AbstractContextManager[Listener]]
    name: str
    needs: str | None = None


KINDS = {
    "csv": Kind(_csv, "FILE"),
    "tensorboard": Kind(_tensorboard, "FOLDER", "tensorboard"),
    "trackio": Kind(_trackio, "PROJECT", "trackio"),
}
