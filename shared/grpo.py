"""One GRPO step, and the training loop around it (Shao et al. 2024, DeepSeekMath, arXiv:2402.03300, algorithm 1).

A step is `collect` (sample, reward, advantages, reference) and `policy_loss` (a differentiable number); `grpo_step`
is the two together, with no optimiser in it. What is left out of the paper's algorithm: the outer loop that replaces
the reference by the current policy, and the learnt reward model. `notebooks/dots.ipynb` builds all of it from
scratch; the other notebooks import it.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from tqdm.auto import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.engine import checkpoint
from shared.advantages import ScaleRewards, group_advantages
from shared.constrain import AnswerTrie
from shared.kl import ESTIMATORS, KLEstimator, k1
from shared.logps import completion_logps
from shared.losses import LossType, grpo_loss
from shared.engine.memory import keep_freed_memory
from shared.models import reference_model
from shared.rewards import RewardFunction, add_up, score_rollout
from shared.engine.sampling import Sampling
from shared.rollout import Rollout, sample

STOP_AFTER_NON_FINITE = 3
# Logits that one backward pass may have: 80 MB in float32. A 50,000-word vocabulary fills that with 400 tokens.
LOGITS_AT_ONCE = 20_000_000


class NonFiniteTraining(RuntimeError):
    """The loss or the gradient was not finite several steps in a row; `history` holds the steps before."""

    def __init__(self, message: str, history: list[dict]):
        super().__init__(message)
        self.history = history


@dataclass(frozen=True)
class GRPOConfig:
    """Settings of a GRPO run; checked when made. Names are TRL's where TRL has one.

    steps: rollouts to collect.
    prompts_per_step: N, prompts in a rollout.
    num_generations: G, completions for each prompt.
    max_new_tokens, temperature, top_k, top_p: see `shared.rollout.Sampling`; temperature must be positive.
    num_iterations: update epochs over one rollout; with 1 the ratio is 1 and clipping never acts.
    minibatches: parts, by prompts, into which an epoch is split, with an update after each.
    learning_rate, weight_decay, warmup_steps, max_grad_norm: AdamW, linear warm-up, gradient-norm clipping.
    beta: coefficient of the KL penalty; 0 needs no reference.
    kl_estimator: k1, k2 or k3, of the penalty in the loss.
    kl_in: "loss" adds beta x KL to each token's loss; "reward" subtracts beta x the completion's summed k1 from
        its reward before the group is normalised.
    epsilon, epsilon_high: clipping range below and above 1; epsilon_high None means the same.
    loss_type, scale_rewards, advantage_eps, entropy_coef: see `shared.losses` and `shared.advantages`.
    reward_weights: one weight for each reward function; None weighs all 1.
    log_every: print a line of averages so often; 0 prints nothing.
    eval_every: call `evaluate` of `train` so often; 0 never.
    checkpoint_every: save so often when `train` has a path; 0 never.
    seed: of the order of prompts and of sampling.
    """

    steps: int = 100
    prompts_per_step: int = 16
    num_generations: int = 8
    max_new_tokens: int = 16
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    num_iterations: int = 1
    minibatches: int = 1
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    warmup_steps: int = 5
    max_grad_norm: float = 1.0
    beta: float = 0.0
    kl_estimator: KLEstimator = "k3"
    kl_in: Literal["loss", "reward"] = "loss"
    epsilon: float = 0.2
    epsilon_high: float | None = None
    loss_type: LossType = "grpo"
    scale_rewards: ScaleRewards = "group"
    advantage_eps: float = 1e-4
    entropy_coef: float = 0.0
    reward_weights: tuple[float, ...] | None = None
    log_every: int = 10
    eval_every: int = 0
    checkpoint_every: int = 0
    seed: int = 0

    def __post_init__(self):
        at_least = {"steps": 1, "prompts_per_step": 1, "num_generations": 2, "num_iterations": 1, "minibatches": 1,
                    "warmup_steps": 0, "log_every": 0, "eval_every": 0, "checkpoint_every": 0}
        for name, least in at_least.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least {least}.")
        for name in ("learning_rate", "max_grad_norm", "temperature", "epsilon"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be positive and finite.")
        for name in ("beta", "entropy_coef", "weight_decay", "advantage_eps"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 0 or positive.")
        choices = {"kl_estimator": tuple(ESTIMATORS), "kl_in": ("loss", "reward"),
                   "loss_type": ("grpo", "dapo", "dr_grpo"), "scale_rewards": ("group", "batch", "none")}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}; choose one of {', '.join(allowed)}.")
        if self.minibatches > self.prompts_per_step:
            raise ValueError(f"{self.minibatches} minibatches cannot be cut from {self.prompts_per_step} prompts a step.")
        _ = self.sampling  # checks its own fields

    @property
    def sampling(self) -> Sampling:
        return Sampling(self.max_new_tokens, self.temperature, self.top_k, self.top_p)


@dataclass(frozen=True)
class Experience:
    """A rollout with everything the loss needs beside the policy: all without gradient.

    rewards_per_func: (B, F); rewards, advantages: (B,); ref_logps: (B, C), or None without a KL penalty.
    """

    rollout: Rollout
    rewards_per_func: Float[Tensor, "B F"]
    rewards: Float[Tensor, "B"]
    advantages: Float[Tensor, "B"]
    ref_logps: Float[Tensor, "B C"] | None
    metrics: dict[str, float]

    def take(self, prompts: Sequence[int]) -> "Experience":
        """The part that belongs to these prompts."""
        rollout, rows = self.rollout.take(prompts), self.rollout.rows_of(prompts)
        width = rollout.completion_ids.size(1)
        return Experience(
            rollout, self.rewards_per_func[rows], self.rewards[rows], self.advantages[rows],
            None if self.ref_logps is None else self.ref_logps[rows, :width], self.metrics,
        )


def collect(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: GRPOConfig,
    *,
    reference: PreTrainedModel | None = None,
    constraint: AnswerTrie | None = None,
    generator: torch.Generator | None = None,
) -> Experience:
    """Sample a group for each row, reward it, and take the group advantages.

    Args:
        rows: N rows of a data set, each with `prompt` and the columns that the rewards need.
        reference: the frozen reference; None with LoRA adapters (they are switched off) or with beta 0.

    Raises:
        ValueError: beta is not 0 and there is no reference; or what `sample` and `score` refuse.
    """
    prompts = [row["prompt"] for row in rows]
    rollout = sample(
        model, tokenizer, prompts, config.num_generations, config.sampling, constraint=constraint, generator=generator
    )
    rewards_per_func = score_rollout(reward_funcs, rollout, rows)  # (B, F)
    rewards = add_up(rewards_per_func, config.reward_weights)  # (B,)

    ref_logps, metrics = None, {}
    if config.beta:
        with torch.no_grad(), reference_model(model, reference) as frozen:
            ref_logps, _ = completion_logps(frozen, rollout)  # (B, C)
    returns = rewards
    if config.beta and config.kl_in == "reward":
        sequence_kl = k1(rollout.old_logps, ref_logps).sum(dim=1).cpu()  # (B,), the padding is 0 in both
        returns = rewards - config.beta * sequence_kl
        metrics["kl"] = (sequence_kl.sum() / rollout.lengths.sum().cpu()).item()

    advantages, group_metrics = group_advantages(
        returns, config.num_generations, config.scale_rewards, config.advantage_eps
    )
    metrics |= group_metrics | {"reward": rewards.mean().item()} | rollout.length_metrics
    return Experience(rollout, rewards_per_func, rewards, advantages.to(rollout.old_logps.device), ref_logps, metrics)


def policy_loss(
    model: PreTrainedModel, experience: Experience, config: GRPOConfig
) -> tuple[Float[Tensor, ""], dict[str, float]]:
    """The GRPO loss of the current policy on an experience, with gradient; see `shared.losses.grpo_loss`."""
    rollout = experience.rollout
    logps, entropy = completion_logps(
        model, rollout, with_entropy=True, entropy_gradient=config.entropy_coef > 0
    )
    return grpo_loss(
        logps,
        rollout.old_logps,
        experience.advantages,
        rollout.completion_mask,
        experience.ref_logps,
        entropy,
        beta=config.beta if config.kl_in == "loss" else 0.0,
        epsilon=config.epsilon,
        epsilon_high=config.epsilon_high,
        kl_estimator=config.kl_estimator,
        entropy_coef=config.entropy_coef,
        loss_type=config.loss_type,
        max_completion_length=config.max_new_tokens,
    )


def grpo_step(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: GRPOConfig,
    **options,
) -> tuple[Float[Tensor, ""], Experience, dict[str, float]]:
    """`collect` and `policy_loss`: the loss (call `.backward()` on it), the experience and all metrics.

    No optimiser steps here, so a notebook can look at the advantages and the initial loss and change nothing.
    `options` are those of `collect`.
    """
    experience = collect(model, tokenizer, rows, reward_funcs, config, **options)
    loss, metrics = policy_loss(model, experience, config)
    return loss, experience, experience.metrics | metrics


def pieces(experience: Experience, vocabulary: int) -> list[Experience]:
    """The experience cut by prompts, so that the logits of each piece stay below LOGITS_AT_ONCE (or it is one prompt).

    A pass then keeps the activations of one piece in memory, not of all. Prompts of like length go together, so that
    a piece carries little padding.
    """
    rollout = experience.rollout
    N = len(rollout.prompts)
    at_once = max(1, LOGITS_AT_ONCE * N // (rollout.completion_ids.numel() * vocabulary))
    if at_once >= N:
        return [experience]
    by_length = rollout.prompt_mask.sum(dim=1).argsort(stable=True)  # (N,)
    return [experience.take(prompts.tolist()) for prompts in by_length.split(at_once)]


def update(
    model: PreTrainedModel, experience: Experience, config: GRPOConfig, optimizer: torch.optim.Optimizer
) -> dict[str, float]:
    """One optimiser step on an experience, with the gradient added up over its `pieces`; the metrics of the whole.

    A piece's loss is weighted by its share of what `config.loss_type` divides by: completions, or tokens for dapo.
    """
    rollout, totals = experience.rollout, Counter()

    def losses():
        for piece in pieces(experience, model.config.vocab_size):
            tokens = (piece.rollout.lengths.sum() / rollout.lengths.sum()).item()
            weight = tokens if config.loss_type == "dapo" else len(piece.rollout) / len(rollout)
            loss, metrics = policy_loss(model, piece, config)
            for name, value in metrics.items():
                totals[name] += value * (weight if name == "loss" else tokens)
            yield loss * weight

    grad_norm = apply_gradient(losses(), model, optimizer, config.max_grad_norm)
    return dict(totals) | {"grad_norm": grad_norm}


def apply_gradient(
    loss: Tensor | Iterable[Tensor], model: torch.nn.Module, optimizer: torch.optim.Optimizer, max_grad_norm: float
) -> float:
    """One optimiser step on `loss` with the gradient norm clipped; the norm before clipping.

    Several losses are added up; of an iterator's, each is freed before the next is made. A loss or gradient that is
    not finite changes nothing, and the norm returned is nan or inf.
    """
    optimizer.zero_grad(set_to_none=True)
    for part in [loss] if isinstance(loss, Tensor) else loss:
        if not part.isfinite():
            optimizer.zero_grad(set_to_none=True)
            return math.nan
        part.backward()
    trained = [p for p in model.parameters() if p.requires_grad]
    grad_norm = torch.nn.utils.clip_grad_norm_(trained, max_grad_norm).item()
    if math.isfinite(grad_norm):
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return grad_norm


def rows_of_step(rows: Sequence[dict], count: int, step: int, seed: int) -> list[dict]:
    """The rows of one step: the data set in a new seeded order each epoch, so that resuming needs no state."""
    chosen = []
    for position in range(step * count, (step + 1) * count):
        epoch, place = divmod(position, len(rows))
        order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed * 100_003 + epoch))
        chosen.append(rows[int(order[place])])
    return chosen


def mean_metrics(records: Sequence[dict]) -> dict[str, float]:
    """The mean of each number over several records of metrics."""
    return {name: sum(r[name] for r in records) / len(records) for name in records[0]}


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: GRPOConfig = GRPOConfig(),
    *,
    reference: PreTrainedModel | None = None,
    constraint: AnswerTrie | None = None,
    evaluate: Callable[[PreTrainedModel], float] | None = None,
    checkpoint_path: str | Path | None = None,
    progress: bool = True,
) -> list[dict]:
    """Train `model` in place and return its history, one record of metrics for each step.

    Args:
        rows: the training set.
        reference: `frozen_copy(model)` made before training; None with LoRA or with beta 0.
        evaluate: called with the model every `config.eval_every` steps; its number is logged as `eval_reward`.
        checkpoint_path: save there every `config.checkpoint_every` steps; when the file exists, go on from it,
            along the very trajectory that an uninterrupted run takes.
        progress: show a bar.

    An interrupt (Ctrl-C, or the stop button of a notebook) ends training and returns the history so far. A step
    whose loss or gradient is not finite is skipped and marked `skipped` in its record.

    Raises:
        ValueError: no rows, no parameters to train, or a checkpoint of another configuration.
        NonFiniteTraining: three such steps in a row.
    """
    if not len(rows):
        raise ValueError("The training set is empty.")
    trained = [p for p in model.parameters() if p.requires_grad]
    if not trained:
        raise ValueError("No parameter of the model requires a gradient: there is nothing to train.")
    keep_freed_memory()
    optimizer = torch.optim.AdamW(trained, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True)
    history = _resume(checkpoint_path, model, optimizer, config)
    skipped_in_a_row = 0

    bar = tqdm(total=config.steps, initial=len(history), desc="GRPO", unit="step", disable=not progress)
    try:
        for step in range(len(history), config.steps):
            for group in optimizer.param_groups:
                group["lr"] = config.learning_rate * min(1.0, (step + 1) / max(1, config.warmup_steps))
            record = _train_step(
                model, tokenizer, rows, reward_funcs, config, step, optimizer, reference=reference, constraint=constraint
            )
            if evaluate is not None and config.eval_every and (step + 1) % config.eval_every == 0:
                record["eval_reward"] = float(evaluate(model))
            history.append({"step": step + 1} | record)
            bar.update()
            bar.set_postfix(reward=f"{record['reward']:.3f}")
            if config.log_every and (step + 1) % config.log_every == 0:
                tqdm.write(log_line(history[-config.log_every :]))
            if checkpoint_path and config.checkpoint_every and (step + 1) % config.checkpoint_every == 0:
                _save(checkpoint_path, model, optimizer, config, history)

            skipped_in_a_row = skipped_in_a_row + 1 if record["skipped"] else 0
            if skipped_in_a_row == STOP_AFTER_NON_FINITE:
                raise NonFiniteTraining(
                    f"The loss or its gradient was not finite {skipped_in_a_row} steps in a row (up to step {step + 1}), "
                    "so training stopped; the weights are those of the last good step. Try a lower learning_rate, a "
                    "smaller max_grad_norm, or look for rewards and log-probabilities that are huge or infinite.",
                    history,
                )
    except KeyboardInterrupt:
        tqdm.write(f"Interrupted after {len(history)} of {config.steps} steps; what was learned so far is kept.")
    finally:
        bar.close()
        optimizer.zero_grad(set_to_none=True)
    return history


def _train_step(model, tokenizer, rows, reward_funcs, config, step, optimizer, *, reference, constraint) -> dict:
    """Collect one rollout and make `num_iterations` x `minibatches` updates on it; the step's metrics."""
    device = next(model.parameters()).device
    generator = torch.Generator(device=device).manual_seed(config.seed * 1_000_003 + step)
    batch = rows_of_step(rows, config.prompts_per_step, step, config.seed)
    experience = collect(
        model, tokenizer, batch, reward_funcs, config, reference=reference, constraint=constraint, generator=generator
    )
    updates = []
    for _ in range(config.num_iterations):
        order = torch.arange(config.prompts_per_step)
        if config.minibatches > 1:
            order = torch.randperm(config.prompts_per_step, generator=torch.Generator().manual_seed(config.seed + step))
        for prompts in order.chunk(config.minibatches):
            part = experience if config.minibatches == 1 else experience.take(prompts.tolist())
            updates.append(update(model, part, config, optimizer))
    skipped = float(any(not math.isfinite(update["grad_norm"]) for update in updates))
    return mean_metrics(updates) | experience.metrics | {"skipped": skipped}


def log_line(records: Sequence[dict]) -> str:
    """One line of averages over the last steps, for reading while it trains."""
    mean = mean_metrics([{k: v for k, v in r.items() if k not in ("step", "eval_reward")} for r in records])
    shown = {"reward": "average reward", "loss": "average loss", "kl": "kl", "entropy": "entropy",
             "frac_reward_zero_std": "equal groups", "completions/mean_length": "length"}
    parts = [f"{label} {mean[name]:6.3f}" for name, label in shown.items() if name in mean]
    if "eval_reward" in records[-1]:
        parts.append(f"held-out {records[-1]['eval_reward']:.3f}")
    if mean["skipped"]:
        parts.append(f"skipped {sum(r['skipped'] for r in records):.0f}")
    return f"step {records[-1]['step']:4d} | " + " | ".join(parts)


def _trained_state(model: torch.nn.Module) -> dict[str, Tensor]:
    """The trained parameters only: under LoRA the frozen base stays out of the checkpoint."""
    return {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}


def _save(path, model, optimizer, config, history) -> None:
    checkpoint.save(
        path,
        {"model": _trained_state(model), "optimizer": optimizer.state_dict(), "config": asdict(config), "history": history},
    )


def _resume(path, model, optimizer, config) -> list[dict]:
    """Load a checkpoint into model and optimiser and return its history; [] when there is none."""
    state = checkpoint.load(path) if path else None
    if state is None:
        return []
    # How long to train and what to print may change between two runs; what shapes the trajectory may not.
    free = ("steps", "log_every", "checkpoint_every")
    for name, value in asdict(config).items():
        if name not in free and state["config"].get(name) != value:
            raise ValueError(
                f"The checkpoint {path} was made with {name} = {state['config'].get(name)}, now it is {value}. "
                "Use the same configuration, or another checkpoint path."
            )
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, value in state["model"].items():
            parameters[name].copy_(value)
    optimizer.load_state_dict(state["optimizer"])
    return state["history"]
