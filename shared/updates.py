"""One step of updates: the gradient of a loss, added up over micro-batches, and a step of the optimiser.

`plain_update` is the algorithm. What `algorithm.loss` computes is, for GRPO with clipping at 0.2 and no KL:

    logps = completion_logps(model, rollout)                         # (B, C), of each token under the policy as it is now
    ratio = (logps - rollout.old_logps).exp()                        # (B, C), 1 before the first update
    A = advantages[:, None]                                          # (B, 1), every token of a completion is paid alike
    surrogate = torch.minimum(ratio * A, ratio.clamp(0.8, 1.2) * A)  # (B, C)
    loss = -(surrogate * mask).sum() / mask.sum()                    # a mean over the real tokens

A minibatch that does not fit in memory is cut into pieces (micro-batches), whose gradients `backward` adds up. The loss of a
piece is a mean over the piece, so it is multiplied by the piece's fraction of the minibatch. With three rows of 1, 2 and 1
tokens in two pieces:

    piece           tokens   losses of the tokens   mean   fraction   mean x fraction
    rows 0 and 1    3        1, 3, 2                2      3/4        1.5
    row 2           1        6                      6      1/4        1.5
    minibatch       4        1, 3, 2, 6             3                 3.0       the mean of 2 and 6 would be 4

`update` is what the loop of `shared/training.py` calls: the same, and it cuts the pieces, averages metrics as it does losses,
works in several processes, and makes no step that is not finite (`tests/test_updates.py` holds it to `plain_update`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import torch
from torch import Tensor, nn

from shared.algorithm import Algorithm, Metrics, TrainingBatch, TrainingConfig, trained_parameters
from shared.engine.chance import MINIBATCHES, permutation
from shared.engine.piece_size import PeakMemory, logits_at_once
from shared.engine.precision import autocast
from shared.engine.processes import ALL_ROWS, ALONE, Processes, Share


def plain_update(
    algorithm: Algorithm, pieces: Sequence[TrainingBatch], optimizer: torch.optim.Optimizer, max_grad_norm: float
) -> None:
    """The definition of `update`: one optimiser step on the minibatch that these pieces make together."""
    optimizer.zero_grad()
    num_tokens = sum(algorithm.weight(piece) for piece in pieces)  # or completions, where the loss is a mean over them
    for piece in pieces:
        loss, _ = algorithm.loss(piece)
        fraction = algorithm.weight(piece) / num_tokens
        (loss * fraction).backward()  # adds to the gradients that are there
    nn.utils.clip_grad_norm_(trained_parameters(algorithm.model), max_grad_norm)
    optimizer.step()


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
    """Put the gradient of the minibatch's loss into the parameters' `grad`; its loss and metrics, on the device.

    A metric is a mean as well: over what `algorithm.counts` counts for it, else over the tokens of rows with a gradient.
    """
    # A group whose rewards are all equal has no gradient, so no pass is made for it. It counts in the loss, with 0.
    rows = select_rows(minibatch, algorithm.rows_with_gradient(minibatch)) if len(minibatch) else minibatch
    counts = algorithm.counts(minibatch)
    sizes = [algorithm.weight(minibatch), rows.num_tokens, *counts.values()]
    weight, num_tokens, *sizes_of_counts = processes.total(sizes)  # over all processes
    if not num_tokens:
        return no_gradient(algorithm)
    whole = dict(zip(counts, sizes_of_counts))
    device = device_of(algorithm.model)
    means: dict[str, Tensor] = {}
    for piece in pieces_in_memory(algorithm, rows, device):
        with autocast(device, config.bf16):
            loss, metrics = algorithm.loss(piece)
        fraction = algorithm.weight(piece) / weight
        (loss * fraction).backward()
        fractions = dict.fromkeys(metrics, piece.num_tokens / num_tokens)
        fractions |= {name: count / whole[name] for name, count in algorithm.counts(piece).items()} | {"loss": fraction}
        for name, value in (metrics | {"loss": loss.detach()}).items():
            means[name] = means.get(name, 0.0) + value * fractions[name]
    processes.add_up_gradients(trained_parameters(algorithm.model))
    return processes.total_by_name(means)


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


def learn(
    algorithm: Algorithm,
    experience: TrainingBatch,
    config: TrainingConfig,
    step: int,
    optimizer: torch.optim.Optimizer,
    share: Share = ALL_ROWS,
) -> list[Metrics]:
    """Update on each minibatch of each epoch; the metrics of each update.

    It ends early where the algorithm has `enough`: the policy is too far from the one that sampled (PPO's `target_kl`).
    """
    updates: list[Metrics] = []
    for minibatch in minibatches(experience, config, step, share):
        updates.append(update(algorithm, minibatch, config, optimizer, share.processes))
        if algorithm.enough(updates[-1]):
            break
    return updates


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


def pieces_in_memory(algorithm: Algorithm, rows: TrainingBatch, device: torch.device) -> Iterator[TrainingBatch]:
    """The pieces of a minibatch, one after the other. The first minibatch on a GPU tells what memory a logit takes."""
    cut = pieces(rows, algorithm.numbers_per_place, logits_at_once(device, algorithm.bytes_per_logit))
    with PeakMemory(device, wanted=not algorithm.bytes_per_logit) as peak:
        yield from cut
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
