"""The one training loop: batches, guarded updates in pieces, checkpoint, interrupt, log.

It knows no algorithm. An algorithm is an object with two methods: `experience(rows, step)` makes what there is to
learn from, and `loss(experience)` a differentiable number; the loop asks for nothing about rewards, groups or
rollouts. `shared/grpo.py`, `ppo.py`, `rloo.py` and `supervised.py` are such objects, and small. What is left out:
learning-rate schedules other than a linear warm-up.

    history = train(GRPO(model, tokenizer, reward, config), rows, config)
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from shared.algorithm import Algorithm, Experience, Metrics, TrainingConfig, trained_parameters
from shared.engine.chance import MINIBATCHES, ROWS, permutation
from shared.engine.memory import keep_freed_memory
from shared.engine.precision import autocast
from shared.engine.processes import ALONE, Processes, Share
from shared.engine.runfile import RunFile
from shared.interrupt import forget, until_interrupted
from shared.telling import above_the_bar, log_line, silence

STOP_AFTER_NON_FINITE = 3
# Logits that one backward pass may have: 80 MB in float32. A 50,000-word vocabulary fills that with 400 tokens.
LOGITS_AT_ONCE = 20_000_000


class NonFiniteTraining(RuntimeError):
    """The loss or the gradient was not finite several steps in a row; `history` holds the steps before."""

    def __init__(self, message: str, history: list[Metrics]):
        super().__init__(message)
        self.history = history


def train(
    algorithm: Algorithm,
    rows: Sequence[dict],
    config: TrainingConfig,
    *,
    evaluate: Callable[[nn.Module], float] | None = None,
    checkpoint_path: str | Path | None = None,
    on_step: Callable[[Metrics], None] | Sequence[Callable[[Metrics], None]] = (),
    progress: bool = True,
    stop: Callable[[], bool] = lambda: False,
    processes: Processes | None = None,
) -> list[Metrics]:
    """Train the algorithm's model in place and return its history, one record of metrics for each step.

    Args:
        rows: the training set.
        evaluate: called with the model every `config.eval_every` steps; its number is logged as `eval_reward`.
        checkpoint_path: save there every `config.checkpoint_every` steps; when the file exists, go on from it,
            along the very trajectory that an uninterrupted run takes.
        on_step: called with each step's record: one function or several (`shared.logs.csv_log`, for instance).
        progress: show a bar.
        stop: asked after each step; when it says so in any process, training is interrupted there, with a checkpoint.
        processes: those that share each step's rows; by default all that were launched together. What they train is
            what one process would. The first one prints, calls `on_step` and writes the checkpoint.

    An interrupt (Ctrl-C, or the stop button of a notebook) ends training and returns the history so far. A step
    whose loss or gradient is not finite is skipped and marked `skipped` in its record.

    Raises:
        ValueError: no rows, no parameters to train, a checkpoint of another run, or a model that an interrupted run
            left half-trained.
        NonFiniteTraining: three such steps in a row.
        ProcessLost: another process has ended.
    """
    # 1. What is trained, and where it goes on
    if not len(rows):
        raise ValueError("The training set is empty.")
    groups = algorithm.parameter_groups(config)
    if not any(len(group["params"]) for group in groups):
        raise ValueError("No parameter of the model requires a gradient: there is nothing to train.")
    keep_freed_memory()
    processes = processes or Processes.here()
    processes.begin_alike(trained_parameters(algorithm.model))
    optimizer = torch.optim.AdamW(groups, weight_decay=config.weight_decay, fused=True)
    run_file = RunFile(
        checkpoint_path,
        algorithm=algorithm.name,
        model=algorithm.model,
        optimizer=optimizer,
        config=asdict(config),
        rows=rows,
        processes=processes,
    )
    learning_rates = [group["lr"] for group in groups]
    listeners = [on_step] if callable(on_step) else list(on_step)
    listeners = listeners if processes.first else []
    say = above_the_bar if processes.first else silence
    advised = False

    with run_file:
        history = run_file.resume()
        if history:
            forget(algorithm.model)  # the checkpoint's weights took the place of those that were there
        silent = not progress or not processes.first
        bar = tqdm(total=config.steps, initial=len(history), desc=algorithm.name, unit="step", disable=silent)
        with until_interrupted(algorithm.model, history, config.steps, say), closing(bar):
            for step in range(len(history), config.steps):
                started = time.perf_counter()
                # 2. The step's learning rate, its rows, what there is to learn from them, the updates
                warm = min(1.0, (step + 1) / max(1, config.warmup_steps))
                for group, learning_rate in zip(optimizer.param_groups, learning_rates):
                    group["lr"] = learning_rate * warm
                record = {"step": step + 1} | one_step(algorithm, rows, config, step, optimizer, processes)
                record["learning_rate"] = learning_rates[0] * warm
                # 3. Tell how it went
                if evaluate is not None and config.eval_every and (step + 1) % config.eval_every == 0:
                    record["eval_reward"] = float(evaluate(algorithm.model))
                record["step_time"] = time.perf_counter() - started
                history.append(record)
                for listener in listeners:
                    listener(record)
                bar.update()
                bar.set_postfix({name: f"{record[name]:.3f}" for name in ("reward", "loss") if name in record})
                if config.log_every and (step + 1) % config.log_every == 0:
                    say(log_line(history[-config.log_every :]))
                if not advised and (advice := algorithm.advice(history)):
                    say(advice)
                    advised = True
                # 4. Keep it, or stop
                stopping = processes.any(stop())
                if stopping or (config.checkpoint_every and (step + 1) % config.checkpoint_every == 0):
                    run_file.save(history)
                stop_when_nothing_is_finite(history)
                if stopping:
                    raise KeyboardInterrupt
        optimizer.zero_grad()
    return history


def one_step(
    algorithm: Algorithm,
    rows: Sequence[dict],
    config: TrainingConfig,
    step: int,
    optimizer: torch.optim.Optimizer,
    processes: Processes = ALONE,
) -> Metrics:
    """Experience from this process's share of the step's rows, and the updates on it; the metrics of the whole step."""
    batch = rows_of_step(rows, config.prompts_per_step, step, config.seed)
    # Dealt out along the first epoch's order, so that each minibatch of it is shared evenly.
    algorithm.share = processes.share(order_of_rows(len(batch), config, step * config.num_iterations))
    with autocast(device_of(algorithm.model), config.bf16):
        experience = algorithm.experience(algorithm.share.of(batch), step)
    updates = learn(algorithm, experience, config, step, optimizer)
    skipped = float(any(not math.isfinite(metrics["grad_norm"]) for metrics in updates))
    return mean_metrics(updates) | experience.metrics | {"skipped": skipped}


def learn(
    algorithm: Algorithm,
    experience: Experience,
    config: TrainingConfig,
    step: int,
    optimizer: torch.optim.Optimizer,
) -> list[Metrics]:
    """num_iterations x minibatches updates on one experience, left early when it is enough; each one's metrics."""
    updates: list[Metrics] = []
    for minibatch in minibatches(experience, config, step, algorithm.share):
        updates.append(update(algorithm, minibatch, config, optimizer))
        if algorithm.enough(updates[-1]):
            break
    return updates


def minibatches(experience: Experience, config: TrainingConfig, step: int, share: Share) -> Iterable[Experience]:
    """This process's rows of each minibatch of the step, in a new order for each epoch; of some it may have none."""
    count = share.rows_of_step(len(experience))
    for iteration in range(config.num_iterations):
        order = torch.tensor(order_of_rows(count, config, step * config.num_iterations + iteration))
        for places in order.chunk(config.minibatches):
            rows = share.rows_among(places.tolist())
            yield experience if rows == list(range(len(experience))) else experience.take(rows)


def order_of_rows(count: int, config: TrainingConfig, epoch: int) -> list[int]:
    """The order in which an epoch goes through a step's rows; as they stand where nothing is split."""
    if config.minibatches == 1:
        return list(range(count))
    return permutation(count, config.seed, epoch, MINIBATCHES).tolist()


def update(
    algorithm: Algorithm, experience: Experience, config: TrainingConfig, optimizer: torch.optim.Optimizer
) -> Metrics:
    """One optimiser step on an experience; the metrics of the whole.

    Nothing is changed when the loss or the gradient is not finite (then `grad_norm` is not), or when the algorithm
    says that the policy has moved far enough. The metrics come to the host once.
    """
    optimizer.zero_grad()
    metrics = add_up_gradient(algorithm, experience, config)
    return guarded_step(algorithm.model, optimizer, config.max_grad_norm, metrics, algorithm.enough)


def add_up_gradient(algorithm: Algorithm, experience: Experience, config: TrainingConfig) -> dict[str, Tensor]:
    """The gradient of the experience's loss, added up over its `pieces`; the loss and its metrics, on the device.

    Rows that have no gradient are in no piece. They count in the loss, as a share of 0, and not in the metrics, which
    are means over the tokens of the others. Where several processes train, each adds its rows to one sum.
    """
    processes = algorithm.share.processes
    rows = algorithm.rows_with_gradient(experience) if len(experience) else []
    working = experience if len(rows) == len(experience) else experience.take(rows)
    whole_weight, working_tokens = processes.total([algorithm.weight(experience), working.num_tokens])
    if not working_tokens:
        return no_gradient(algorithm)
    totals: dict[str, Tensor] = {}
    for piece in pieces(working, algorithm.vocab_size) if len(rows) else []:
        with autocast(device_of(algorithm.model), config.bf16):
            loss, metrics = algorithm.loss(piece)
        share = algorithm.weight(piece) / whole_weight  # of what the loss is a mean over
        token_share = piece.num_tokens / working_tokens  # of what the metrics are means over
        (loss * share).backward()
        for name, value in (metrics | {"loss": loss.detach()}).items():
            totals[name] = totals.get(name, 0.0) + value * (share if name == "loss" else token_share)
    processes.add_up_gradients(trained_parameters(algorithm.model))
    return processes.total_by_name(totals)


def no_gradient(algorithm: Algorithm) -> dict[str, Tensor]:
    """What `add_up_gradient` leaves where there is nothing to learn from: zeros, a loss of 0 and the idle metrics.

    Not None as a gradient: the optimiser passes over a parameter that has none, with its momentum and weight decay.
    """
    for parameter in trained_parameters(algorithm.model):
        parameter.grad = torch.zeros_like(parameter)
    metrics = algorithm.idle_metrics | {"loss": 0.0}
    device = device_of(algorithm.model)
    return {name: torch.tensor(value, device=device) for name, value in metrics.items()}


def pieces(experience: Experience, vocab_size: int) -> list[Experience]:
    """The experience cut by rows, so that the logits of each piece stay below LOGITS_AT_ONCE (or it is one row).

    A pass then keeps the activations of one piece in memory, not of all. Rows of like length go together, so that
    a piece carries little padding.
    """
    at_once = max(1, LOGITS_AT_ONCE * len(experience) // (experience.num_places * vocab_size))
    if at_once >= len(experience):
        return [experience]
    by_length = experience.row_tokens.argsort(stable=True)  # (N,)
    return [experience.take(rows.tolist()) for rows in by_length.split(at_once)]


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


def rows_of_step(rows: Sequence[dict], count: int, step: int, seed: int) -> list[dict]:
    """The rows of one step: the data set in a new seeded order each epoch, so that resuming needs no state."""
    orders: dict[int, list[int]] = {}
    chosen = []
    for position in range(step * count, (step + 1) * count):
        epoch, place = divmod(position, len(rows))
        if epoch not in orders:
            orders[epoch] = permutation(len(rows), seed, epoch, ROWS).tolist()
        chosen.append(rows[orders[epoch][place]])
    return chosen


def mean_metrics(records: Sequence[Metrics]) -> Metrics:
    """The mean of each number over several records of metrics."""
    return {name: sum(record[name] for record in records) / len(records) for name in records[0]}


def stop_when_nothing_is_finite(history: Sequence[Metrics]) -> None:
    """Raise `NonFiniteTraining` when the last STOP_AFTER_NON_FINITE steps were all skipped."""
    last = history[-STOP_AFTER_NON_FINITE:]
    if len(last) == STOP_AFTER_NON_FINITE and all(record["skipped"] for record in last):
        raise NonFiniteTraining(
            f"The loss or its gradient was not finite {len(last)} steps in a row (up to step {last[-1]['step']}), "
            "so training stopped; the weights are those of the last good step. Try a lower learning_rate, a "
            "smaller max_grad_norm, or look for rewards and log-probabilities that are huge or infinite.",
            list(history),
        )
