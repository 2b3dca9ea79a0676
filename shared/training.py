"""The one training loop: batches, guarded updates in pieces, checkpoint, interrupt, log.

    history = train(GRPO(model, tokenizer, reward, config), rows, config)

Four words name what is cut from what. A step of the rows a b c d, with `prompts_per_step=4, num_iterations=2,
minibatches=2, seed=0`:

    step         a b c d                     collected once, by `algorithm.experience`
    epoch        c b d a     | c d a b       `num_iterations` times through the step's rows, each in an order of its own
    minibatch    c b   d a   | c d   a b     each is followed by one optimiser step: four updates in all
    piece        c, b  d, a  | c, d  a, b    as many rows as fit in memory, here one: their gradients are added up

The loop knows nothing of rewards, groups or rollouts. It knows these members of an `Algorithm` (`shared/algorithm.py`).
Three are required: two methods and the model. The others have a default:

    member                             default
    experience(rows, step, share)      required   a batch to learn from, made of this process's share of the step's rows
    loss(batch)                        required   a differentiable mean over the batch, and metrics
    model                              required   the model that is trained
    name                               training   the label of the progress bar and of the checkpoint
    columns                            none       the columns in which every row must have a text
    check(rows)                        nothing    an error, before training, for rows that cannot be learned from
    parameter_groups(config)           one group  the parameters to train, each group with a learning rate
    begin()                            reference  what has to be known before the first update; a remark or ""
    weight(batch)                      tokens     the number of things that `loss` is a mean over
    counts(batch)                      {}         the same of metrics that are means over all rows
    rows_with_gradient(batch)          all        the rows that `loss` must see; the others count with a loss of 0
    numbers_per_place                  V          the logits that a pass makes for one token, real or padding
    idle_metrics                       {}         the metrics of an update in which no row has a gradient
    enough(metrics)                    False      True leaves out this update and the rest of the step's
    advice(history)                    None       a sentence to print once, when the run cannot learn
    completion_records(batch, rows)    an error   the sampled completions of each row, for `on_rollout`
    config_class                       any        the class that its configuration must be of
    reference, past                    none       a frozen model, and weights of earlier steps, which a checkpoint keeps
    bytes_per_logit                    0          what a pass took for a logit, as the loop measured it on a GPU

`shared/grpo.py`, `ppo.py`, `rloo.py` and `supervised.py` are such algorithms, and small. What is left out: learning-rate
schedules other than a linear warm-up.
"""

import math
import reprlib
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import lru_cache
from itertools import chain
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor, nn
from tqdm.auto import tqdm

from shared.algorithm import (
    Algorithm,
    Metrics,
    TrainingBatch,
    TrainingConfig,
    require_config,
    trained_parameters,
)
from shared.engine.chance import MINIBATCHES, ROWS, permutation
from shared.engine.memory import keep_freed_memory
from shared.engine.piece_size import PeakMemory, logits_at_once
from shared.engine.precision import FEWEST_MOVED, ROUNDED_AWAY, autocast, half_precision_weights, share_moved
from shared.engine.processes import ALL_ROWS, ALONE, Processes, Share
from shared.engine.runfile import RunFile
from shared.interrupt import clear_half_trained_mark, mark_half_trained, until_interrupted
from shared.models import require_model
from shared.progress import above_the_bar, log_line, silence
from shared.rows import check_rows

STOP_AFTER_NON_FINITE = 3


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
    on_rollout: Callable[[list[dict]], None] | Sequence[Callable[[list[dict]], None]] = (),
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
        on_rollout: called with the records of each step's completions before the update on them, where the algorithm
            samples: one function or several (`shared.rollouts.rollout_log`, or `extend` of a list).
        progress: show a bar; it goes at the end of a run that logs nothing, one of several short ones.
        stop: asked after each step; when it says so in any process, training ends there as by an interrupt, with a
            checkpoint.
        processes: those that share each step's rows; by default all that were launched together. What they train is
            what one process would. The first one prints, calls `on_step` and `on_rollout`, and writes the checkpoint.

    An interrupt (Ctrl-C, or the stop button of a notebook) ends training and returns the history so far. A step
    whose loss or gradient is not finite is skipped and marked `skipped` in its record.

    Raises:
        ValueError: no rows or others than the algorithm needs, no parameters to train, a checkpoint of another run, a
            model that an interrupted run left half-trained, `on_rollout` for an algorithm that does not sample, or
            something of another kind: settings of another algorithm, a name in a model's place.
        NonFiniteTraining: three such steps in a row.
        ProcessLost: another process has ended.
    """
    # 1. What is trained, and where it goes on
    require_model(algorithm.model)
    require_config(config, algorithm.config_class or TrainingConfig)
    check_rows(rows, *algorithm.columns)
    if not len(rows):
        raise ValueError("The training set is empty.")
    algorithm.check(rows)
    groups = algorithm.parameter_groups(config)
    if not any(len(group["params"]) for group in groups):
        raise ValueError("No parameter of the model requires a gradient: there is nothing to train.")
    keep_freed_memory()
    processes = processes or Processes.here()
    processes.begin_alike(trained_parameters(algorithm.model))  # adapters and value heads begin at random
    optimizer = torch.optim.AdamW(groups, weight_decay=config.weight_decay, fused=True)
    full_rates = [group["lr"] for group in groups]
    first_at_full_rate = min(max(1, config.warmup_steps), config.steps) - 1
    remark = algorithm.begin()
    run_file = RunFile(
        checkpoint_path,
        algorithm=algorithm.name,
        reference=algorithm.reference,
        past=algorithm.past,
        model=algorithm.model,
        optimizer=optimizer,
        config=asdict(config),
        rows=rows,
        processes=processes,
    )
    say = above_the_bar if processes.first else silence
    listeners = as_list(on_step) if processes.first else []
    readers = as_list(on_rollout) if processes.first else []
    has_readers = processes.any(bool(readers))  # all processes send their completions, or none does

    with run_file:
        history = run_file.resume()
        if history:
            clear_half_trained_mark(algorithm.model)  # the checkpoint's weights took the place of those that were there
            say(f"Going on from step {len(history)} of {checkpoint_path}.")
        elif remark:
            say(remark)
        no_bar = not progress or not processes.first
        bar = tqdm(
            total=config.steps,
            initial=len(history),
            desc=algorithm.name,
            unit="step",
            disable=no_bar,
            leave=config.log_every > 0,
        )
        reporter = Reporter(algorithm, config, listeners, bar, say)
        with until_interrupted(algorithm.model, history, config.steps, say), closing(bar):
            for step in range(len(history), config.steps):
                # 2. The step: collect, update, measure
                started = time.perf_counter()
                warm_up(optimizer, full_rates, config.warmup_steps, step)
                weights_before = half_precision_weights(optimizer) if step == first_at_full_rate else {}
                metrics = one_step(
                    algorithm, rows, config, step, optimizer, processes, readers if has_readers else None
                )
                if "num_tokens" in metrics:  # so far, as TRL counts
                    metrics["num_tokens"] += history[-1]["num_tokens"] if history else 0
                record = {"step": step + 1} | metrics | {"learning_rate": optimizer.param_groups[0]["lr"]}
                if evaluate is not None and is_due(config.eval_every, step):
                    record["eval_reward"] = float(evaluate(algorithm.model))
                record["step_time"] = time.perf_counter() - started
                history.append(record)
                # 3. Tell how it went
                reporter.report(history)
                if weights_before and (moved := share_moved(weights_before, optimizer)) < FEWEST_MOVED:
                    say(ROUNDED_AWAY.format(share=moved, step=step + 1, rate=config.learning_rate))
                # 4. Keep it, or stop. Saved first: a run that ends here with an error is not lost.
                stopping = processes.any(stop())
                if stopping or is_due(config.checkpoint_every, step):
                    run_file.save(history)
                stop_when_nothing_is_finite(history)
                if stopping:
                    mark_half_trained(algorithm.model, len(history), config.steps, say)
                    break
        optimizer.zero_grad()
    return history


def as_list(functions: Callable | Sequence[Callable]) -> list[Callable]:
    """One function or several, as a list. ValueError for what cannot be called."""
    several = list(functions) if isinstance(functions, Collection) and not isinstance(functions, str) else [functions]
    for function in several:
        if not callable(function):
            raise ValueError(
                f"on_step or on_rollout is given {reprlib.repr(function)}; give a function. For a file there are csv_log"
                ' of shared.logs, csv_log("run.csv"), and rollout_log of shared.rollouts.'
            )
    return several


def is_due(every: int, step: int) -> bool:
    """True in each `every`-th step; 0 is never. Steps count from 0: `every=5` is due in steps 4, 9, 14, ..."""
    return every != 0 and (step + 1) % every == 0


def warm_up(optimizer: torch.optim.Optimizer, full_rates: Sequence[float], warmup_steps: int, step: int) -> None:
    """Set the learning rate of each parameter group for this step: a linear rise to its full rate.

    A full rate of 1e-3 and `warmup_steps=4`: 2.5e-4, 5e-4, 7.5e-4, 1e-3, 1e-3, ...
    """
    fraction = min(1.0, (step + 1) / max(1, warmup_steps))
    for group, full_rate in zip(optimizer.param_groups, full_rates):
        group["lr"] = full_rate * fraction


class Reporter:
    """Tells how each step went: to the listeners, on the progress bar, in log lines; and the algorithm's advice, once."""

    def __init__(
        self,
        algorithm: Algorithm,
        config: TrainingConfig,
        listeners: Sequence[Callable[[Metrics], None]],
        bar: tqdm,
        say: Callable[[str], None],
    ):
        self.algorithm = algorithm
        self.config = config
        self.listeners = listeners
        self.bar = bar
        self.say = say
        self.has_advised = False

    def report(self, history: Sequence[Metrics]) -> None:
        """Report the last record of the history."""
        record = history[-1]
        for listener in self.listeners:
            listener(record)
        self.bar.update()
        self.bar.set_postfix({name: f"{record[name]:.3f}" for name in ("reward", "loss") if name in record})
        if is_due(self.config.log_every, len(history) - 1):
            self.say(log_line(history[-self.config.log_every :]))
        if not self.has_advised:
            self._advise(history)

    def _advise(self, history: Sequence[Metrics]) -> None:
        advice = self.algorithm.advice(history)
        if advice:
            self.say(advice)
            self.has_advised = True


def one_step(
    algorithm: Algorithm,
    rows: Sequence[dict],
    config: TrainingConfig,
    step: int,
    optimizer: torch.optim.Optimizer,
    processes: Processes = ALONE,
    readers: Sequence[Callable[[list[dict]], None]] | None = None,
) -> Metrics:
    """Collect experience from this process's share of the step's rows and update on it; the metrics of the whole step.

    Rows are dealt to the processes one by one, along the order of the first epoch. In the drawing above that is
    c b d a, so of two processes the first has c and d, and the second b and a. Each has one row of the minibatch c b,
    and one of d a, and neither waits for the other.

    readers: called with the records of the step's completions, [] in a process that only sends its own; None in all
        processes where nobody reads them.
    """
    batch = rows_of_step(rows, config.prompts_per_step, step, config.seed)
    first_epoch = step * config.num_iterations
    share = processes.share(order_of_rows(len(batch), config, first_epoch))
    with autocast(device_of(algorithm.model), config.bf16):
        experience = algorithm.experience(share.of(batch), step, share)
    if readers is not None:
        records = records_of_step(algorithm, experience, share.of(batch), step, share)
        for reader in readers:
            reader(records)
    updates = learn(algorithm, experience, config, step, optimizer, share)
    skipped = float(any(not math.isfinite(metrics["grad_norm"]) for metrics in updates))
    return mean_metrics(updates) | experience.metrics | {"skipped": skipped}


def records_of_step(
    algorithm: Algorithm, experience: TrainingBatch, rows: Sequence[dict], step: int, share: Share = ALL_ROWS
) -> list[dict]:
    """A record of each completion of the step in all processes, in the order of the step's rows, with step and place.

    `place` tells groups apart that have one prompt; steps count from 1, as in the history.
    """
    groups = algorithm.completion_records(experience, rows)
    own = range(len(rows)) if share.own is None else share.own  # a repeated row is another process's
    gathered = chain.from_iterable(share.processes.gather(list(zip(own, groups))))
    in_order = sorted(gathered, key=lambda group: group[0])
    return [{"step": step + 1, "place": place} | record for place, group in in_order for record in group]


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


def minibatches(experience: TrainingBatch, config: TrainingConfig, step: int, share: Share) -> Iterable[TrainingBatch]:
    """This process's rows of each minibatch of the step, in a new order for each epoch.

    A process may get no rows of a minibatch; it still takes part in the sum of gradients. With the shares c d and b a of
    `one_step`, the second epoch's first minibatch c d has no row of the second process.
    """
    count = share.rows_of_step(len(experience))
    for iteration in range(config.num_iterations):
        epoch = step * config.num_iterations + iteration
        order = torch.tensor(order_of_rows(count, config, epoch))
        for minibatch in order.chunk(config.minibatches):
            yield select_rows(experience, share.rows_among(minibatch.tolist()))


def select_rows(experience: TrainingBatch, rows: Sequence[int]) -> TrainingBatch:
    """The part of the experience that has these rows. It is the experience itself, uncopied, for all rows in order."""
    if list(rows) == list(range(len(experience))):
        return experience
    return experience.take(rows)


def order_of_rows(count: int, config: TrainingConfig, epoch: int) -> list[int]:
    """The order in which an epoch goes through a step's `count` rows. With one minibatch it is 0, 1, 2, ..."""
    if config.minibatches == 1:
        return list(range(count))
    return permutation(count, config.seed, epoch, MINIBATCHES).tolist()


def update(
    algorithm: Algorithm,
    minibatch: TrainingBatch,
    config: TrainingConfig,
    optimizer: torch.optim.Optimizer,
    processes: Processes = ALONE,
) -> Metrics:
    """One optimiser step on a minibatch; its metrics, over the rows of all processes.

    Nothing is changed when the loss or the gradient is not finite (then `grad_norm` is nan), or when the algorithm
    says that the policy has moved far enough. The metrics come to the host once.
    """
    optimizer.zero_grad()
    metrics = add_up_gradient(algorithm, minibatch, config, processes)
    return guarded_step(algorithm.model, optimizer, config.max_grad_norm, metrics, algorithm.enough)


def add_up_gradient(
    algorithm: Algorithm, minibatch: TrainingBatch, config: TrainingConfig, processes: Processes = ALONE
) -> dict[str, Tensor]:
    """Put the gradient of the minibatch's loss into the parameters' `grad`; return the loss and its metrics, on the device.

    The gradient is added up, piece by piece and process by process. Each piece's loss is a mean over the piece, so it is
    weighted with the piece's part of the whole: pieces of 3 and 1 tokens count 3/4 and 1/4.

    A row without gradient is in no piece. It counts in the loss, with 0, and in the metrics of `algorithm.counts`. It does
    not count in the other metrics, which are means over the tokens of the other rows.
    """
    working = with_gradient(algorithm, minibatch)
    counts = algorithm.counts(minibatch)
    whole = processes.total([algorithm.weight(minibatch), working.num_tokens, *counts.values()])
    whole_weight, working_tokens, *whole_counts = whole
    whole_counts = dict(zip(counts, whole_counts))
    if not working_tokens:
        return no_gradient(algorithm)
    totals: dict[str, Tensor] = {}
    device = device_of(algorithm.model)
    cut = pieces(working, algorithm.numbers_per_place, logits_at_once(device, algorithm.bytes_per_logit))
    with PeakMemory(device, wanted=not algorithm.bytes_per_logit) as peak:
        for piece in cut:
            with autocast(device, config.bf16):
                loss, metrics = algorithm.loss(piece)
            loss_weight = algorithm.weight(piece) / whole_weight
            metrics_weight = piece.num_tokens / working_tokens
            counted = {name: count / whole_counts[name] for name, count in algorithm.counts(piece).items()}
            (loss * loss_weight).backward()
            weighted = {name: value * counted.get(name, metrics_weight) for name, value in metrics.items()}
            weighted["loss"] = loss.detach() * loss_weight
            for name, value in weighted.items():
                totals[name] = totals.get(name, 0.0) + value
    if cut and not algorithm.bytes_per_logit:
        largest = max(piece.num_places for piece in cut) * algorithm.numbers_per_place
        algorithm.bytes_per_logit = peak.bytes / largest
    processes.add_up_gradients(trained_parameters(algorithm.model))
    return processes.total_by_name(totals)


def with_gradient(algorithm: Algorithm, minibatch: TrainingBatch) -> TrainingBatch:
    """The rows of the minibatch whose loss has a gradient. In a process without rows it is the empty minibatch."""
    if not len(minibatch):
        return minibatch
    return select_rows(minibatch, algorithm.rows_with_gradient(minibatch))


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
    chosen = []
    for position in range(step * count, (step + 1) * count):
        epoch, place = divmod(position, len(rows))
        chosen.append(rows[int(order_of_epoch(len(rows), seed, epoch)[place])])
    return chosen


@lru_cache(maxsize=2)  # a step may end one epoch and begin the next
def order_of_epoch(count: int, seed: int, epoch: int) -> Int[Tensor, "count"]:
    """The order of so many rows in this epoch, kept while the steps go through it: of a million it takes a while."""
    return permutation(count, seed, epoch, ROWS)


def mean_metrics(records: Sequence[Metrics]) -> Metrics:
    """The mean of each number over the records that have it: an update without a token to learn from has no KL."""
    means = {}
    for name in dict.fromkeys(name for record in records for name in record):
        numbers = [record[name] for record in records if name in record]
        means[name] = sum(numbers) / len(numbers)
    return means


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
