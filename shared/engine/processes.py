"""Several processes that train one model: each has a share of every step's rows, and all make the same update.

What one process would compute over all rows is computed over the shares and added up: gradients, and the counts that
they are means over. Where a formula needs all rows at once, as a standard deviation over a batch does, the rows'
numbers are put together in the step's order (`Share.whole`), and each process works out the same. The course's models
fit one device, so nothing is wrapped around them; `accelerate` finds the others and carries the numbers. One process
is the case in which nothing is carried.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

T = TypeVar("T")
# Gradients travel in parcels of so many numbers, 100 MB in float32: few messages, and little memory beside the model.
PARCEL = 25_000_000


class ProcessLost(RuntimeError):
    """Another process of this run has ended, so that what it would have contributed never comes."""


@dataclass(frozen=True)
class Processes:
    """The processes of a run, seen from one of them.

    rank: which one this is.    count: how many there are.    device: where numbers are put that travel.
    """

    rank: int = 0
    count: int = 1
    device: torch.device = torch.device("cpu")

    @classmethod
    def here(cls) -> "Processes":
        """Those that `accelerate launch` or `torchrun` started together with this one; else this one alone.

        Each is given its GPU, where there are some: call this before a model is loaded.
        """
        if int(os.environ.get("WORLD_SIZE", 1)) == 1:
            return ALONE
        from accelerate import PartialState

        asked = os.environ.get("COURSE_DEVICE", "")
        state = PartialState(cpu=asked == "cpu" or not torch.cuda.is_available())
        return cls(state.process_index, state.num_processes, state.device)

    @property
    def first(self) -> bool:
        """Whether this is the one that prints and writes."""
        return self.rank == 0

    def share(self, order: Sequence[int]) -> "Share":
        """This process's share of a step's rows, dealt out one by one along `order`, a permutation of their places.

        Whatever stretch of the order is taken, each process has as many rows of it as any other, or one less.
        """
        if self.count == 1:
            return ALL_ROWS
        own = sorted(order[self.rank :: self.count])
        return Share(own or [order[0]], list(own), len(order), self)

    def total(self, numbers: Sequence[float]) -> list[float]:
        """The sum of each number over all processes."""
        if self.count == 1:
            return list(numbers)
        return self._sum(torch.tensor(numbers, dtype=torch.float64, device=self.device)).tolist()

    def total_by_name(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """The sum of each 0-dim tensor over the processes that have one of its name."""
        if self.count == 1:
            return tensors
        names = sorted({name for names in self.gather(list(tensors)) for name in names})
        values = [tensors.get(name, torch.zeros(())).to(self.device, torch.float64) for name in names]
        return dict(zip(names, self._sum(torch.stack(values)).unbind()))

    def add_up_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Make every parameter's gradient the sum of all processes'; one that has none counts as 0."""
        if self.count == 1:
            return
        with torch.no_grad():
            for parcel in _parcels(list(parameters)):
                gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parcel]
                summed = self._sum(torch.cat([gradient.flatten() for gradient in gradients]))
                for parameter, part in zip(parcel, summed.split([p.numel() for p in parcel])):
                    parameter.grad = part.view_as(parameter)

    def begin_alike(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give every process the first one's values: what begins at random, as adapters do, begins alike."""
        if self.count == 1:
            return
        from accelerate.utils import broadcast

        with torch.no_grad(), _others_alive():
            for parameter in parameters:
                parameter.copy_(broadcast(parameter.detach().clone()))

    def any(self, here: bool) -> bool:
        """Whether it is so in any process."""
        return self.total([float(here)])[0] > 0

    def gather(self, value: T) -> list[T]:
        """Every process's value, in their order; anything that pickles."""
        if self.count == 1:
            return [value]
        from accelerate.utils import gather_object

        with _others_alive():
            return gather_object([value])

    def from_first(self, make: Callable[[], T]) -> T:
        """What `make` returns in the first process, in all of them; so is an exception that it raises."""
        if self.count == 1:
            return make()
        from accelerate.utils import broadcast_object_list

        outcome: list[Any] = [None, None]
        if self.first:
            try:
                outcome[0] = make()
            except Exception as error:  # the others wait for an answer, whatever it is
                outcome[1] = error
        with _others_alive():
            value, error = broadcast_object_list(outcome)
        if error is not None:
            raise error
        return value

    def leave(self) -> None:
        """The end of a run: wait until all are there, then let go of each other.

        A process that simply ends takes its connections with it, and one that still listens to them may be aborted.
        """
        if self.count == 1:
            return
        with _others_alive():
            torch.distributed.barrier()
        torch.distributed.destroy_process_group()

    def _sum(self, tensor: Tensor) -> Tensor:
        from accelerate.utils import reduce

        with _others_alive():
            return reduce(tensor, "sum")


ALONE = Processes()


@dataclass(frozen=True)
class Share:
    """The rows of a step that this process has, by their places among all of them; without places, all rows.

    places: those it samples and scores. A process that is left without a row repeats another's, to have something in
        its hands, and learns nothing from it.
    own: those it answers for.    count: N, how many rows the step has in all processes.
    """

    places: list[int] | None = None
    own: list[int] | None = None
    count: int = 0
    processes: Processes = field(default=ALONE)

    def of(self, rows: Sequence[T]) -> list[T]:
        """This process's rows among the step's."""
        return list(rows) if self.places is None else [rows[place] for place in self.places]

    def rows_of_step(self, here: int) -> int:
        """How many rows the step's experience has in all processes, when this one holds so many."""
        return here if self.own is None else self.count

    def rows_among(self, places: Iterable[int]) -> list[int]:
        """Which of this process's rows, numbered as it has them, stand at these places and are its own."""
        if self.own is None:
            return list(places)
        number = {place: row for row, place in enumerate(self.own)}
        return [number[place] for place in places if place in number]

    def whole(self, values: Tensor) -> Tensor:
        """The values of all processes' rows in the step's order, on the CPU: (R x G, ...) to (N x G, ...).

        Rows of G values stand next to each other; a second dimension is made as wide as the widest, with zeros.
        """
        if self.own is None:
            return values
        per_row = len(values) // len(self.places)
        parts = self.processes.gather((self.own, values[: len(self.own) * per_row].cpu()))
        width = max(part.shape[1:] for _, part in parts)
        put_together = values.new_zeros((self.count, per_row, *width), device="cpu")
        for places, part in parts:
            rows = part.view(len(places), per_row, *part.shape[1:])
            if width:
                put_together[places, :, : part.size(1)] = rows
            else:
                put_together[places] = rows
        return put_together.flatten(0, 1)

    def mine(self, values: Tensor) -> Tensor:
        """Of values (N x G, ...) of all rows those of this process, in the order in which it has them."""
        if self.own is None:
            return values
        return values.view(self.count, -1, *values.shape[1:])[self.places].flatten(0, 1)


ALL_ROWS = Share()


def _parcels(parameters: list[nn.Parameter]) -> Iterable[list[nn.Parameter]]:
    """Neighbours of one type of numbers, as many as fit into a parcel."""
    parcel: list[nn.Parameter] = []
    size = 0
    for parameter in parameters:
        fits = size + parameter.numel() <= PARCEL and parcel and parcel[0].dtype == parameter.dtype
        if parcel and not fits:
            yield parcel
            parcel = []
            size = 0
        parcel.append(parameter)
        size += parameter.numel()
    if parcel:
        yield parcel


class _others_alive:
    """Turns the error of a connection that broke into a sentence."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if isinstance(error, RuntimeError):
            raise ProcessLost(
                "Another process of this run has ended, so this one ends as well: what it would have contributed to "
                "the update is missing. What that process said stands above, or it was killed, for instance for want "
                "of memory. The same command goes on from the last checkpoint, where --checkpoint names one."
            ) from error
