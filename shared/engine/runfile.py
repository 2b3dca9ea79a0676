"""The file of a run: held by one writer while it trains, read once, written every so often."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

from torch import nn
from torch.optim import Optimizer

from shared.engine import checkpoint
from shared.engine.processes import ALONE, Processes
from shared.engine.resume import fingerprint, pack, unpack


class RunFile:
    """A run's checkpoint. Without a path it holds, reads and writes nothing.

    with RunFile(path, ...) as run_file:
        history = run_file.resume()
        ...
        run_file.save(history)
    """

    def __init__(
        self,
        path: str | Path | None,
        *,
        algorithm: str,
        reference: object,
        past: dict | None = None,
        model: nn.Module,
        optimizer: Optimizer,
        config: Mapping,
        rows: Sequence[dict],
        processes: Processes = ALONE,
    ):
        """`reference`: of the run; its `adapters`, where it has some, are kept and read with the rest. `past`:
        weights of earlier steps, likewise.

        `processes`: the first of them holds, reads and writes for all, and all learn how it went."""
        self.path = path
        self.algorithm = algorithm
        self.adapters = getattr(reference, "adapters", None)
        self.past = past
        self.model = model
        self.optimizer = optimizer
        self.config = config
        self.rows = rows
        self.processes = processes

    def __enter__(self) -> Self:
        """Raises ValueError when another process, or another run of this one, is writing to the path."""
        if self.path is not None:
            self.lock = checkpoint.hold(self.path)
            self.processes.from_first(self.lock.__enter__)
        return self

    def __exit__(self, *exception) -> None:
        if self.path is not None and self.processes.first:
            self.lock.__exit__(*exception)

    def resume(self) -> list[dict]:
        """Put what the file holds into model and optimiser; its history, [] when there is no file.

        Raises ValueError for a file that is damaged, foreign or of another run; then nothing has changed.
        """
        if self.path is None:
            return []
        state = self.processes.from_first(lambda: checkpoint.load(self.path))
        if state is None:
            return []
        return unpack(
            state,
            path=self.path,
            model=self.model,
            optimizer=self.optimizer,
            config=self.config,
            fingerprint=self._fingerprint,
            algorithm=self.algorithm,
            reference=self.adapters,
            past=self.past,
        )

    def save(self, history: list[dict]) -> None:
        """Write the run as it is now; an interrupted write leaves the file as it was."""
        if self.path is not None:
            self.processes.from_first(lambda: self._write(history))

    @cached_property
    def _fingerprint(self) -> dict:
        """The fingerprint of everything that no step changes, taken once."""
        return fingerprint(self.model, self.rows)

    def _write(self, history: list[dict]) -> None:
        state = pack(
            algorithm=self.algorithm,
            config=self.config,
            fingerprint=self._fingerprint,
            reference=self.adapters,
            past=self.past,
            model=self.model,
            optimizer=self.optimizer,
            history=history,
        )
        checkpoint.save(self.path, state)
