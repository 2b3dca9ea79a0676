"""Several processes that train one model: each has a share of every step's rows, and all make the same update.

A step of five rows in two processes, G = 2 completions for each row:

    rows of the step       a     b     c     d     e
    places                 0     1     2     3     4

                           process 0                        process 1
    share                  places 0, 2, 4: a c e            places 1, 3: b d
    rewards here           a: 1 0   c: 0 0   e: 1 1         b: 1 1   d: 0 1
                                 |                              |
    share.whole(rewards)       1 0   1 1   0 0   0 1   1 1          the same in both, in the step's order
    a formula over all rows    standard deviation 0.49              the same in both
                                 |                              |
    share.mine(...)        those of a c e                   those of b d
    gradient here          sum over a c e                   sum over b d
                                 |                              |
    add_up_gradients           sum over all five rows               the same in both, so the models stay equal

A mean is taken last: sums, and the counts that they are divided by, add up over processes, and means do not. The
course's models fit one device, so nothing is wrapped around them; `accelerate` finds the other processes and carries the
numbers. With one process nothing is carried. *Share*: see CONTRIBUTING: house words.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

T = TypeVar("T")
# The numbers of a parcel, in which gradients travel: 100 MB in float32, few messages and little memory beside the model.
PARCEL = 25_000_000


class ProcessLost(RuntimeError):
    """An error for a run of which another process has ended: its part of the update never comes."""


@dataclass(frozen=True)
class Processes:
    """The processes of a run, seen from one of them.

    rank: the number of this one.    count: of all of them.    device: the device from which numbers travel.
    """

    rank: int = 0
    count: int = 1
    device: torch.device = torch.device("cpu")

    @classmethod
    def here(cls) -> "Processes":
        """The processes that `accelerate launch` or `torchrun` started together with this one; else this one alone.

        Where there are GPUs, each process is given one of them: call this before a model is loaded.
        """
        if int(os.environ.get("WORLD_SIZE", 1)) == 1:
            return ALONE
        from accelerate import PartialState

        asked = os.environ.get("COURSE_DEVICE", "")
        state = PartialState(cpu=asked == "cpu" or not torch.cuda.is_available())
        return cls(state.process_index, state.num_processes, state.device)

    @property
    def first(self) -> bool:
        """True in the one process that prints and writes."""
        return self.rank == 0

    def share(self, order: Sequence[int]) -> "Share":
        """This process's share of a step's rows, dealt out one by one along `order`, a permutation of their places.

        A minibatch is a stretch of the order. Of every stretch each process has as many rows as any other, or one less.
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
        """Give every process the parameters of the first: adapters begin at random, and must begin alike."""
        if self.count == 1:
            return
        from accelerate.utils import broadcast

        with torch.no_grad(), _others_alive():
            for parameter in parameters:
                parameter.copy_(broadcast(parameter.detach().clone()))

    def any(self, here: bool) -> bool:
        """True when `here` is true in at least one process."""
        return self.total([float(here)])[0] > 0

    def gather(self, value: T) -> list[T]:
        """Every process's value, in their order; anything that pickles."""
        if self.count == 1:
            return [value]
        from accelerate.utils import gather_object

        with _others_alive():
            return gather_object([value])

    def from_first(self, make: Callable[[], T]) -> T:
        """The value that `make` returns in the first process, given to all; an exception of it is raised in all."""
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
        """End the run: wait until all processes are here, then close the connections.

        A process that simply ended would take its connections with it, and another that still listens may be aborted.
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
    """The rows of a step that this process has, by their places among all of them; None stands for all rows.

    places: the rows that it samples and scores. Where there are fewer rows than processes, one that is left without any
        repeats another's row, so that every pass has something to compute, and learns nothing from it.
    own: the places that it learns from, none in such a process.
    count: N, the number of the step's rows in all processes.
    """

    places: list[int] | None = None
    own: list[int] | None = None
    count: int = 0
    processes: Processes = field(default=ALONE)

    def of(self, rows: Sequence[T]) -> list[T]:
        """This process's rows among the step's."""
        return list(rows) if self.places is None else [rows[place] for place in self.places]

    def rows_of_step(self, here: int) -> int:
        """The number of the step's rows in all processes; `here` is the number in this one."""
        return here if self.own is None else self.count

    def rows_among(self, places: Iterable[int]) -> list[int]:
        """The rows at these places that are this process's own, by their numbers in its hands."""
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
        """This process's part of values (N x G, ...) of all rows, in the order in which it has them."""
        if self.own is None:
            return values
        return values.view(self.count, -1, *values.shape[1:])[self.places].flatten(0, 1)


ALL_ROWS = Share()


def _parcels(parameters: list[nn.Parameter]) -> Iterable[list[nn.Parameter]]:
    """The parameters cut into parcels: neighbours of one dtype, PARCEL numbers at most, or a single larger one."""
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
