"""The one training loop: collect experience, update on it, record how it went. The updates are `shared/updates.py`.

    history = train(GRPO(model, tokenizer, reward, config), rows, config)

`plain_train` is the algorithm in fifteen lines, and `train` the same with what a long run needs: a warm-up, guards, a
checkpoint, log lines, an interrupt, several processes. `tests/test_training.py` holds the two together.

A step of the rows a b c d, with `prompts_per_step=4, num_iterations=2, minibatches=2, seed=0`:

    step         a b c d                     collected once, by `algorithm.experience`
    epoch        c b d a     | c d a b       `num_iterations` times through the step's rows, each in an order of its own
    minibatch    c b   d a   | c d   a b     each is followed by one optimiser step: four updates in all
    piece        c, b  d, a  | c, d  a, b    a micro-batch, as many rows as fit in memory, here one: gradients are added up

Rewards, groups and rollouts belong to the `Algorithm` (`shared/algorithm.py`). It has a `model`, `experience` and `loss`, and
further members with a default. `shared/grpo.py`, `ppo.py`, `rloo.py` and `supervised.py` are such algorithms, and
small; `shared/plain.py` has GRPO and this loop in one file. Left out: learning-rate schedules other than a linear warm-up.
"""

import math
import reprlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor, nn
from tqdm.auto import tqdm

from shared.algorithm import Algorithm, Metrics, TrainingBatch, TrainingConfig, require_config, trained_parameters
from shared.engine.chance import ROWS, permutation
from shared.engine.memory import keep_freed_memory
from shared.engine.precision import FEWEST_MOVED, ROUNDED_AWAY, autocast, half_precision_weights, share_moved
from shared.engine.processes import ALL_ROWS, ALONE, Processes, Share
from shared.engine.runfile import RunFile
from shared.interrupt import clear_half_trained_mark, mark_half_trained, until_interrupted
from shared.models import require_model
from shared.progress import above_the_bar, log_line, silence
from shared.rows import check_rows
from shared.updates import device_of, learn, minibatches, order_of_rows


def plain_train(algorithm: Algorithm, rows: Sequence[dict], config: TrainingConfig) -> None:
    """The definition of `train`: one constant learning rate, one process, minibatches that fit in memory."""
    algorithm.begin()  # GRPO: the policy as it is now becomes the reference of the KL
    parameters = trained_parameters(algorithm.model)
    optimizer = torch.optim.AdamW(parameters, lr=config.learning_rate, weight_decay=config.weight_decay)
    for step in range(config.steps):
        batch = rows_of_step(rows, config.prompts_per_step, step, config.seed)
        experience = algorithm.experience(batch, step)  # GRPO: G completions of each prompt, rewards, advantages
        for minibatch in minibatches(experience, config, step):  # of all epochs
            loss, _ = algorithm.loss(minibatch)  # GRPO: minus the clipped surrogate, plus beta times the KL
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, config.max_grad_norm)
            optimizer.step()


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
            model that an interrupted run left half-trained, `on_rollout` for an algorithm that does not sample,
            settings of another algorithm, or a model's name in its place.
        NonFiniteTraining: three such steps in a row.
        ProcessLost: another process has ended.
    """
    check_training(algorithm, rows, config)
    groups = algorithm.parameter_groups(config)
    if not any(len(group["params"]) for group in groups):
        raise ValueError("No parameter of the model requires a gradient: there is nothing to train.")
    keep_freed_memory()  # on the CPU: memory that one step frees serves the next
    processes = processes or Processes.here()
    processes.begin_alike(trained_parameters(algorithm.model))  # adapters and value heads begin at random
    optimizer = torch.optim.AdamW(groups, weight_decay=config.weight_decay, fused=True)
    full_rates = [group["lr"] for group in groups]
    readers = as_list(on_rollout) if processes.first else []
    has_readers = processes.any(bool(readers))  # all processes send their completions, or none does

    with open_run(algorithm, rows, config, optimizer, processes, checkpoint_path, on_step, progress) as run:
        for step in range(len(run.history), config.steps):
            started = time.perf_counter()
            # 1. Collect experience and update on it.
            warm_up(optimizer, full_rates, config.warmup_steps, step)
            with remark_on_rounding(optimizer, config, step, run.say):
                metrics = one_step(
                    algorithm, rows, config, step, optimizer, processes, readers if has_readers else None
                )
            # 2. Record how it went.
            record = record_of(metrics, run.history, optimizer)
            if evaluate is not None and is_due(config.eval_every, step):
                record["eval_reward"] = float(evaluate(algorithm.model))
            record["step_time"] = time.perf_counter() - started
            run.report(record)
            # 3. Save it, or stop.
            if run.ends(stopping=processes.any(stop())):
                break
    optimizer.zero_grad()
    return run.history


def check_training(algorithm: Algorithm, rows: Sequence[dict], config: TrainingConfig) -> None:
    """ValueError for what cannot be trained: another kind of model, settings or rows, or no rows."""
    require_model(algorithm.model)
    require_config(config, algorithm.config_class or TrainingConfig)
    check_rows(rows, *algorithm.columns)
    if not len(rows):
        raise ValueError("The training set is empty.")
    algorithm.check(rows)


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


@contextmanager
def remark_on_rounding(
    optimizer: torch.optim.Optimizer, config: TrainingConfig, step: int, say: Callable[[str], None]
) -> Iterator[None]:
    """Around the first step at the full learning rate: say so when it moves hardly any of the 16-bit weights."""
    first_at_full_rate = min(max(1, config.warmup_steps), config.steps) - 1
    before = half_precision_weights(optimizer) if step == first_at_full_rate else {}
    yield
    if before and (moved := share_moved(before, optimizer)) < FEWEST_MOVED:
        say(ROUNDED_AWAY.format(share=moved, step=step + 1, rate=config.learning_rate))


def record_of(metrics: Metrics, history: Sequence[Metrics], optimizer: torch.optim.Optimizer) -> Metrics:
    """The record of the step behind a history. `num_tokens` is of the whole run so far, as TRL counts."""
    record = {"step": len(history) + 1} | metrics | {"learning_rate": optimizer.param_groups[0]["lr"]}
    if "num_tokens" in metrics and history:
        record["num_tokens"] += history[-1]["num_tokens"]
    return record


@dataclass
class Run:
    """The records of a run: its history and its checkpoint, and all that it shows and says while it trains."""

    algorithm: Algorithm
    config: TrainingConfig
    history: list[Metrics]
    run_file: RunFile
    listeners: list[Callable[[Metrics], None]]
    say: Callable[[str], None]
    bar: tqdm
    has_advised: bool = False

    def report(self, record: Metrics) -> None:
        """Add the record of a step: to the history, the listeners, the bar and the log; and once the algorithm's advice."""
        self.history.append(record)
        for listener in self.listeners:
            listener(record)
        self.bar.update()
        self.bar.set_postfix({name: f"{record[name]:.3f}" for name in ("reward", "loss") if name in record})
        if is_due(self.config.log_every, len(self.history) - 1):
            self.say(log_line(self.history[-self.config.log_every :]))
        advice = None if self.has_advised else self.algorithm.advice(self.history)
        if advice:
            self.say(advice)
            self.has_advised = True

    def ends(self, stopping: bool) -> bool:
        """Save the run where that is due. True, with the model marked as half-trained, where it is to stop here.

        Raises `NonFiniteTraining`, once saved, when the last steps were all skipped.
        """
        if stopping or is_due(self.config.checkpoint_every, len(self.history) - 1):
            self.run_file.save(self.history)
        stop_when_nothing_is_finite(self.history)
        if stopping:
            mark_half_trained(self.algorithm.model, len(self.history), self.config.steps, self.say)
        return stopping


@contextmanager
def open_run(
    algorithm: Algorithm,
    rows: Sequence[dict],
    config: TrainingConfig,
    optimizer: torch.optim.Optimizer,
    processes: Processes,
    checkpoint_path: str | Path | None,
    on_step: Callable[[Metrics], None] | Sequence[Callable[[Metrics], None]],
    progress: bool,
) -> Iterator[Run]:
    """A new run, or one that goes on from its checkpoint. An interrupt ends the block; the model is marked then."""
    remark = algorithm.begin()
    say = above_the_bar if processes.first else silence
    listeners = as_list(on_step) if processes.first else []
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
    with run_file:
        history = run_file.resume()
        if history:
            clear_half_trained_mark(algorithm.model)  # the checkpoint's weights took the place of those that were there
            say(f"Going on from step {len(history)} of {checkpoint_path}.")
        elif remark:
            say(remark)
        bar = tqdm(
            total=config.steps,
            initial=len(history),
            desc=algorithm.name,
            unit="step",
            disable=not (progress and processes.first),
            leave=config.log_every > 0,
        )
        with until_interrupted(algorithm.model, history, config.steps, say), closing(bar):
            yield Run(algorithm, config, history, run_file, listeners, say, bar)


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
