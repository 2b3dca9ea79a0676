"""The updates of one training step: minibatches, a gradient added up in pieces, and a guarded step of the optimiser.

The loop in `shared/training.py` calls `learn`; its drawing shows what is cut from what. An `update` is

    optimizer.zero_grad()
    loss, metrics = algorithm.loss(minibatch)
    loss.backward()
    clip_grad_norm_(parameters, config.max_grad_norm)
    optimizer.step()

where the minibatch fits in memory. If it does not, it is cut into pieces (micro-batches), whose gradients `backward` adds up.
The loss of a piece is a mean over the piece, so it is multiplied by the piece's part of the minibatch. With three rows of
1, 2 and 1 tokens in two pieces:

    piece           tokens   losses of the tokens   mean   part   mean x part
    rows 0 and 1    3        1, 3, 2                2      3/4    1.5
    row 2           1        6                      6      1/4    1.5
    minibatch       4        1, 3, 2, 6             3             3.0            the mean of 2 and 6 would be 4
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from shared.algorithm import Algorithm, Metrics, TrainingBatch, TrainingConfig, trained_parameters
from shared.engine.chance import MINIBATCHES, permutation
from shared.engine.piece_size import PeakMemory, logits_at_once
from shared.engine.precision import autocast
from shared.engine.processes import ALL_ROWS, ALONE, Processes, Share

OTHERS = "other metrics"


def learn(
    algorithm: Algorithm,
    experience: TrainingBatch,
    config: TrainingConfig,
    step: int,
    optimizer: torch.optim.Optimizer,
    share: Share = ALL_ROWS,
) -> list[Metrics]:
    """Update on each minibatch of each epoch, until the algorithm says `enough`; the metrics of each update."""
    updates: list[Metrics] = []
    for minibatch in minibatches(experience, config, step, share):
        updates.append(update(algorithm, minibatch, config, optimizer, share.processes))
        if algorithm.enough(updates[-1]):
            break
    return updates


def update(
    algorithm: Algorithm,
    minibatch: TrainingBatch,
    config: TrainingConfig,
    optimizer: torch.optim.Optimizer,
    processes: Processes = ALONE,
) -> Metrics:
    """One optimiser step on a minibatch, or none (`guarded_step`); its metrics, over the rows of all processes."""
    optimizer.zero_grad()
    metrics = add_up_gradient(algorithm, minibatch, config, processes)
    return guarded_step(algorithm.model, optimizer, config.max_grad_norm, metrics, algorithm.enough)


def add_up_gradient(
    algorithm: Algorithm, minibatch: TrainingBatch, config: TrainingConfig, processes: Processes = ALONE
) -> dict[str, Tensor]:
    """Put the gradient of the minibatch's loss into the parameters' `grad`, piece by piece and process by process.

    Returns the loss and its metrics, on the device: sums over the pieces, each number times the piece's part of it.
    """
    working = with_gradient(algorithm, minibatch)
    counts = denominators(algorithm, minibatch) | {OTHERS: working.num_tokens}
    whole = dict(zip(counts, processes.total(list(counts.values()))))
    if not whole[OTHERS]:
        return no_gradient(algorithm)
    totals: dict[str, Tensor] = {}
    device = device_of(algorithm.model)
    cut = pieces(working, algorithm.numbers_per_place, logits_at_once(device, algorithm.bytes_per_logit))
    with memory_measured(algorithm, cut, device):
        for piece in cut:
            with autocast(device, config.bf16):
                loss, metrics = algorithm.loss(piece)
            part = {name: count / whole[name] for name, count in denominators(algorithm, piece).items()}
            (loss * part["loss"]).backward()
            for name, value in (metrics | {"loss": loss.detach()}).items():
                totals[name] = totals.get(name, 0.0) + value * part.get(name, part[OTHERS])
    processes.add_up_gradients(trained_parameters(algorithm.model))
    return processes.total_by_name(totals)


def denominators(algorithm: Algorithm, batch: TrainingBatch) -> dict[str, float]:
    """The number of things that the loss and each metric is a mean over: tokens, but for those that the algorithm names."""
    return {"loss": algorithm.weight(batch), OTHERS: batch.num_tokens} | algorithm.counts(batch)


def guarded_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    max_grad_norm: float,
    metrics: dict[str, Tensor],
    enough: Callable[[Metrics], bool] = lambda metrics: False,
) -> Metrics:
    """One optimiser step on the gradient that is there, its norm clipped; `metrics` as numbers, with `grad_norm`.

    A `loss` (among the metrics) or a gradient that is not finite changes nothing, and `grad_norm` is nan; when
    `enough(metrics)` nothing changes either. All metrics come to the host in one transfer.
    """
    grad_norm = nn.utils.clip_grad_norm_(trained_parameters(model), max_grad_norm)
    numbers = on_host(metrics | {"grad_norm": grad_norm})
    if not math.isfinite(numbers["loss"]) or not math.isfinite(numbers["grad_norm"]):
        numbers["grad_norm"] = math.nan
    elif not enough(numbers):
        optimizer.step()
    optimizer.zero_grad()
    return numbers


def minibatches(
    experience: TrainingBatch, config: TrainingConfig, step: int, share: Share = ALL_ROWS
) -> Iterable[TrainingBatch]:
    """This process's rows of each minibatch of the step, in a new order for each epoch.

    A process may get no rows of a minibatch; it still takes part in the sum of gradients.
    """
    count = share.rows_of_step(len(experience))
    for iteration in range(config.num_iterations):
        epoch = step * config.num_iterations + iteration
        order = torch.tensor(order_of_rows(count, config, epoch))
        for minibatch in order.chunk(config.minibatches):
            yield select_rows(experience, share.rows_among(minibatch.tolist()))


def order_of_rows(count: int, config: TrainingConfig, epoch: int) -> list[int]:
    """The order in which an epoch goes through a step's `count` rows. With one minibatch it is 0, 1, 2, ..."""
    if config.minibatches == 1:
        return list(range(count))
    return permutation(count, config.seed, epoch, MINIBATCHES).tolist()


def select_rows(experience: TrainingBatch, rows: Sequence[int]) -> TrainingBatch:
    """The part of the experience that has these rows. It is the experience itself, uncopied, for all rows in order."""
    if list(rows) == list(range(len(experience))):
        return experience
    return experience.take(rows)


def with_gradient(algorithm: Algorithm, minibatch: TrainingBatch) -> TrainingBatch:
    """The rows of the minibatch whose loss has a gradient. In a process without rows it is the empty minibatch.

    A group whose rewards are all equal has none, so no pass is made for it. It counts in the loss, with 0, and in the
    metrics of `algorithm.counts`; the other metrics are means over the tokens of the other rows.
    """
    if not len(minibatch):
        return minibatch
    return select_rows(minibatch, algorithm.rows_with_gradient(minibatch))


@contextmanager
def memory_measured(algorithm: Algorithm, cut: Sequence[TrainingBatch], device: torch.device) -> Iterator[None]:
    """Around the first update on a GPU: keep the memory that a logit takes, by which later minibatches are cut."""
    with PeakMemory(device, wanted=not algorithm.bytes_per_logit) as peak:
        yield
    if cut and not algorithm.bytes_per_logit:
        largest = max(piece.num_places for piece in cut) * algorithm.numbers_per_place
        algorithm.bytes_per_logit = peak.bytes / largest


def no_gradient(algorithm: Algorithm) -> dict[str, Tensor]:
    """The gradient and metrics where there is nothing to learn from: zeros, a loss of 0 and the idle metrics.

    Not None as a gradient: the optimiser passes over a parameter that has none, with its momentum and weight decay.
    """
    for parameter in trained_parameters(algorithm.model):
        parameter.grad = torch.zeros_like(parameter)
    metrics = algorithm.idle_metrics | {"loss": 0.0}
    device = device_of(algorithm.model)
    return {name: torch.tensor(value, device=device) for name, value in metrics.items()}


def pieces(experience: TrainingBatch, numbers_per_place: int, at_once: int) -> list[TrainingBatch]:
    """Cut the experience by rows into pieces of at most `at_once` logits, or of one row. No rows: no piece.

    A pass then keeps the activations of one piece in memory, not of all. A *place* is a token position that the pass
    computes, real or padding: 8 rows padded to 50 tokens have 400 places. With a vocabulary of 50,000 that makes
    20 million logits, which is one piece on the CPU (`shared.engine.piece_size`); 16 such rows are cut into two. Rows of
    like length go together, so that a piece carries little padding.
    """
    if not len(experience):
        return []
    rows_at_once = max(1, at_once * len(experience) // (experience.num_places * numbers_per_place))
    if rows_at_once >= len(experience):
        return [experience]
    by_length = experience.row_tokens.argsort(stable=True)  # (N,)
    return [experience.take(rows.tolist()) for rows in by_length.split(rows_at_once)]


def apply_gradient(loss: Tensor, model: nn.Module, optimizer: torch.optim.Optimizer, max_grad_norm: float) -> float:
    """`loss.backward()` and a guarded step, for loops that are written out; the gradient's norm before clipping.

    A loss or gradient that is not finite changes nothing, and the norm returned is nan.
    """
    optimizer.zero_grad()
    loss.backward()
    return guarded_step(model, optimizer, max_grad_norm, {"loss": loss.detach()})["grad_norm"]


def on_host(metrics: dict[str, Tensor]) -> Metrics:
    """The numbers of 0-dim tensors, brought from the device in one transfer."""
    return dict(zip(metrics, torch.stack([value.float() for value in metrics.values()]).tolist()))


def device_of(model: nn.Module) -> torch.device:
    """The device that the model's parameters are on."""
    return next(model.parameters()).device
