"""The one training loop: steps of rows, checkpoint, interrupt, log. The updates of a step are `shared/updates.py`.

    history = train(GRPO(model, tokenizer, reward, config), rows, config)

Without a checkpoint, log lines and further processes it is

    optimizer = AdamW(algorithm.parameter_groups(config))
    for step in range(config.steps):
        batch = algorithm.experience(rows_of_step(rows, config.prompts_per_step, step, config.seed), step)
        learn(algorithm, batch, config, step, optimizer)

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
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
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
from shared.updates import device_of, learn, order_of_rows

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
    # What is trained, and with what
    check_training(algorithm, rows, config)
    groups = parameters_to_train(algorithm, config)
    keep_freed_memory()
    processes = processes or Processes.here()
    processes.begin_alike(trained_parameters(algorithm.model))  # adapters and value heads begin at random
    optimizer = torch.optim.AdamW(groups, weight_decay=config.weight_decay, fused=True)
    full_rates = [group["lr"] for group in groups]
    remark = algorithm.begin()

    # Who hears of it
    say = above_the_bar if processes.first else silence
    listeners = as_list(on_step) if processes.first else []
    readers = as_list(on_rollout) if processes.first else []
    has_readers = processes.any(bool(readers))  # all processes send their completions, or none does

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
        reporter = Reporter(algorithm, config, listeners, say, done=len(history), bar=progress and processes.first)
        with until_interrupted(algorithm.model, history, config.steps, say), closing(reporter):
            for step in range(len(history), config.steps):
                # 1. Collect experience, update on it, measure
                started = time.perf_counter()
                warm_up(optimizer, full_rates, config.warmup_steps, step)
                with remark_on_rounding(optimizer, config, step, say):
                    metrics = one_step(
                        algorithm, rows, config, step, optimizer, processes, readers if has_readers else None
                    )
                record = record_of(metrics, history, optimizer)
                if evaluate is not None and is_due(config.eval_every, step):
                    record["eval_reward"] = float(evaluate(algorithm.model))
                record["step_time"] = time.perf_counter() - started
                history.append(record)
                # 2. Tell how it went
                reporter.report(history)
                # 3. Keep it, or stop. Saved first: a run that ends here with an error is not lost.
                stopping = processes.any(stop())
                if stopping or is_due(config.checkpoint_every, step):
                    run_file.save(history)
                stop_when_nothing_is_finite(history)
                if stopping:
                    mark_half_trained(algorithm.model, len(history), config.steps, say)
                    break
        optimizer.zero_grad()
    return history


def check_training(algorithm: Algorithm, rows: Sequence[dict], config: TrainingConfig) -> None:
    """ValueError for what cannot be trained: another kind of model, settings or rows, or no rows."""
    require_model(algorithm.model)
    require_config(config, algorithm.config_class or TrainingConfig)
    check_rows(rows, *algorithm.columns)
    if not len(rows):
        raise ValueError("The training set is empty.")
    algorithm.check(rows)


def parameters_to_train(algorithm: Algorithm, config: TrainingConfig) -> list[dict]:
    """The algorithm's groups of parameters, each with its learning rate. ValueError where none has a parameter."""
    groups = algorithm.parameter_groups(config)
    if not any(len(group["params"]) for group in groups):
        raise ValueError("No parameter of the model requires a gradient: there is nothing to train.")
    return groups


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


class Reporter:
    """Tells how each step went: to the listeners, on the progress bar, in log lines; and the algorithm's advice, once.

    done: the steps of an earlier run that this one goes on from.    bar: show a progress bar.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        config: TrainingConfig,
        listeners: Sequence[Callable[[Metrics], None]],
        say: Callable[[str], None],
        *,
        done: int,
        bar: bool,
    ):
        self.algorithm = algorithm
        self.config = config
        self.listeners = listeners
        self.say = say
        self.has_advised = False
        self.bar = tqdm(
            total=config.steps,
            initial=done,
            desc=algorithm.name,
            unit="step",
            disable=not bar,
            leave=config.log_every > 0,
        )

    def close(self) -> None:
        self.bar.close()

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
