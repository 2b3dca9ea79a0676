"""Experience of any algorithm with a rollout, before its own formula: sample, reward, score under the reference."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.algorithm import Algorithm, Metrics, Model, TrainingConfig, require_at_least, require_positive
from shared.constrain import AnswerTrie
from shared.engine.llama import take_general_path
from shared.engine.positions import check_fit, check_same_vocabulary
from shared.engine.processes import ALL_ROWS, Share
from shared.engine.sampling import Sampling
from shared.environment import Environment, EnvironmentFactory
from shared.guard import GuardReport, verify, verify_start
from shared.kl import k1
from shared.logps import score_in_parts
from shared.models import eos_token_ids
from shared.reference import Reference, reference_model, refuse_the_policy_as_reference
from shared.rewards import RewardFunction, add_up, functions_of, name_of, score_rollout
from shared.rollout import Rollout, sample
from shared.rollout_record import length_metrics
from shared.rows import check_rows
from shared.tokens import check_template, prompt_ids

# So many steps in which every group had equal rewards are taken for a run that cannot learn.
STEPS_WITHOUT_SIGNAL = 10
NO_SIGNAL = (
    "In the last {steps} steps the completions of every group had equal rewards (average {reward:.3f}), so there was "
    "nothing to learn from: a group teaches by the differences within it. If they are all wrong, the model may never "
    "give a right answer: look at some completions, then try an easier task, a reward that pays for a part of it, a "
    "larger num_generations or temperature, or another model. If they are all right, there is nothing left to learn."
)


@dataclass(frozen=True)
class RolloutConfig(TrainingConfig):
    """Settings of any algorithm that samples and rewards completions.

    num_generations: G, completions for each prompt.
    max_new_tokens: tokens a completion may have; it ends there or with an EOS.
    temperature: 1 samples from the model as it is, below 1 nearer to its likeliest answer; must be positive.
    top_k: sample among the k likeliest tokens; 0 among all.
    top_p: sample among the likeliest tokens that make up this probability; 1 among all.
    beta: coefficient of the KL penalty; 0 needs no reference. Where advantages are divided by a standard deviation
        below 1, the same beta holds back less.
    kl_in: "loss" or "reward", where the penalty acts; each algorithm says how.
    reward_weights: one weight for each reward function; None weighs all 1.
    """

    num_generations: int = 8
    max_new_tokens: int = 16
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    beta: float = 0.0
    kl_in: Literal["loss", "reward"] = "loss"
    reward_weights: tuple[float, ...] | None = None

    def __post_init__(self):
        super().__post_init__()
        require_at_least(self, 1, "num_generations")
        require_at_least(self, 0, "beta")
        require_positive(self, "temperature")
        for weight in self.reward_weights or ():
            if not math.isfinite(weight):
                raise ValueError(f"reward_weights has {weight}; weights must be finite.")
        _ = self.sampling  # checks its own fields

    @property
    def needs_reference(self) -> bool:
        """True where a frozen model is needed beside the policy."""
        return self.beta > 0

    @property
    def sampling(self) -> Sampling:
        return Sampling(self.max_new_tokens, self.temperature, self.top_k, self.top_p)


@dataclass(frozen=True)
class Experience:
    """A rollout with everything the loss needs beside the policy: all without gradient.

    rewards_per_func: (B, F); rewards: (B,).
    advantages: (B,), one for all tokens of a completion, or (B, C).
    ref_logps: (B, C), or None without a KL penalty.
    learned: (B,), on the CPU, the completions whose tokens the loss is about; None for all.
    rated: (B,), on the CPU, the completions that count at all: the loss is as if the others had not been sampled. None
        for all.
    """

    rollout: Rollout
    rewards_per_func: Float[Tensor, "B F"]
    rewards: Float[Tensor, "B"]
    advantages: Float[Tensor, "B"] | Float[Tensor, "B C"]
    ref_logps: Float[Tensor, "B C"] | None
    metrics: Metrics
    learned: Bool[Tensor, "B"] | None = field(default=None, kw_only=True)
    rated: Bool[Tensor, "B"] | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.rollout.prompts)

    @property
    def row_tokens(self) -> Tensor:
        return self.rollout.prompt_lengths

    @property
    def loss_mask(self) -> Int[Tensor, "B C"]:
        """1 for the tokens that the loss is about."""
        mask = self.rollout.loss_mask
        for kept in (self.learned, self.rated):
            if kept is not None:
                mask = mask * kept.to(mask.device)[:, None]
        return mask

    @property
    def num_tokens(self) -> int:
        lengths = self.rollout.own_lengths
        for kept in (self.learned, self.rated):
            if kept is not None:
                lengths = lengths * kept
        return int(lengths.sum())

    @property
    def num_completions(self) -> int:
        """The number of completions that count."""
        return len(self.rollout) if self.rated is None else int(self.rated.sum())

    def over_completions(self, mean: Float[Tensor, ""]) -> Float[Tensor, ""]:
        """The mean over the completions that count, from one over all of them, to which the others add 0."""
        return mean if self.rated is None else mean * len(self.rollout) / max(1, self.num_completions)

    @property
    def num_places(self) -> int:
        return self.rollout.completion_ids.numel()

    @property
    def rows_with_advantages(self) -> list[int]:
        """The prompts with a completion that is better or worse than expected: the others teach no policy gradient."""
        differ = self.advantages.reshape(len(self), -1).any(dim=1).tolist()  # N of them, in one transfer to the host
        return [row for row, it_differs in enumerate(differ) if it_differs]

    def take(self, prompts: Sequence[int]) -> "Experience":
        """The part that belongs to these prompts."""
        rollout = self.rollout.take(prompts)
        return replace(self, rollout=rollout, **self.parts(prompts, rollout))

    def parts(self, prompts: Sequence[int], rollout: Rollout) -> dict[str, Tensor | None]:
        """The rows of these prompts in every tensor; an experience with more tensors adds its own."""
        return {
            "rewards_per_func": self.rewards_per_func[self.rollout.rows_of(prompts)],
            "rewards": self.rewards[self.rollout.rows_of(prompts)],
            "advantages": self.part(self.advantages, prompts, rollout),
            "ref_logps": self.part(self.ref_logps, prompts, rollout),
            "learned": self.part(self.learned, prompts, rollout),
            "rated": self.part(self.rated, prompts, rollout),
        }

    def part(self, values: Tensor | None, prompts: Sequence[int], rollout: Rollout) -> Tensor | None:
        """The rows of these prompts among values (B,), (B, C) or (B, C, V), as wide as their rollout."""
        if values is None:
            return None
        rows = values[self.rollout.rows_of(prompts)]
        return rows if rows.ndim == 1 else rows[:, : rollout.completion_ids.size(1)]


def completion_records(experience: Experience, rows: Sequence[dict], reward_names: Sequence[str]) -> list[list[dict]]:
    """For each of N rows the records of its G completions, as plain values that a person or a file takes.

    rewards: that of each function by its name, None where the function gave none; reward: their weighted sum, or
        None.
    advantage: the mean over the tokens that the policy drew, where they have one each.
    length: tokens, EOS among them.    columns: those of the row other than `prompt`.
    """
    rollout = experience.rollout
    columns = [{name: value for name, value in row.items() if name != "prompt"} for row in rows]
    records = [
        {
            "prompt": prompt,
            "completion": completion,
            "rewards": {name: None if math.isnan(one) else one for name, one in zip(reward_names, rewards)},
            "reward": None if math.isnan(reward) else reward,
            "advantage": advantage,
            "length": length,
            "truncated": truncated,
            "columns": of_row,
        }
        for prompt, completion, rewards, reward, advantage, length, truncated, of_row in zip(
            rollout.repeated(rollout.prompts),
            rollout.completions,
            experience.rewards_per_func.tolist(),
            experience.rewards.tolist(),
            mean_advantages(experience).tolist(),
            rollout.lengths.tolist(),
            rollout.truncated.tolist(),
            rollout.repeated(columns),
            strict=True,
        )
    ]
    G = rollout.num_generations
    return [records[first : first + G] for first in range(0, len(records), G)]


def mean_advantages(experience: Experience) -> Float[Tensor, "B"]:
    """One advantage a completion: as it is, or the mean over the tokens that the policy drew."""
    if experience.advantages.ndim == 1:
        return experience.advantages
    mask = experience.rollout.loss_mask  # (B, C)
    return (experience.advantages * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)


Rewarded = TypeVar("Rewarded", bound=Experience)
Config = TypeVar("Config", bound=RolloutConfig)


class RolloutAlgorithm(Algorithm[Model, Rewarded], Generic[Model, Rewarded, Config]):
    """An algorithm that learns from rewarded completions. `collect` and `loss` make it one or another."""

    columns = ("prompt",)
    reference_is = "reference"  # in errors

    def __init__(
        self,
        model: Model,
        tokenizer: PreTrainedTokenizerBase,
        reward_funcs: RewardFunction | Sequence[RewardFunction],
        config: Config,
        *,
        reference: Reference | None = None,
        constraint: AnswerTrie | None = None,
        environment: Environment | None = None,
        environment_factory: EnvironmentFactory | None = None,
    ):
        """Raises ValueError when the reference is the policy itself, or a reward is no function."""
        refuse_the_policy_as_reference(model, reference)
        functions_of(reward_funcs)  # looked at now and not in the first step
        self.model = model
        self.tokenizer = tokenizer
        self.reward_funcs = reward_funcs
        self.config = config
        self.reference = reference
        # What completions are sampled with, as `shared.rollout.sample` takes it.
        self.sampled_with = {
            "constraint": constraint,
            "environment": environment,
            "environment_factory": environment_factory,
        }
        self.verified = False

    @property
    def needs_reference(self) -> bool:
        return self.config.needs_reference

    def check(self, rows: Sequence[dict]) -> None:
        """Raises ValueError for prompts that do not fit, and for a reference with another vocabulary."""
        eos_token_ids(self.policy, self.tokenizer)  # names what is no tokenizer
        check_template(self.tokenizer)
        if isinstance(self.reference, nn.Module):
            check_same_vocabulary(self.policy, self.reference, self.reference_is)
        prompts = prompt_ids(self.tokenizer, [row["prompt"] for row in rows])
        check_fit(self.policy, self.tokenizer, prompts, self.config.max_new_tokens)

    @abstractmethod
    def collect(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Rewarded:
        """A rollout of these rows with its rewards and advantages."""

    def experience(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Rewarded:
        """`collect`, the first time with a look at whether sampling, scoring and the model's own pass agree.

        Raises `shared.guard.UntrustedModel` when they do not.
        """
        experience = self.collect(rows, step, share)
        while not self.verified:
            report = self.verify(experience)
            # The guard may have left a fast pass that was wrong. Then this was sampled with the wrong one: all processes
            # leave it, and sample again.
            fell_back = share.processes.any(report.fell_back)
            self.verified = not fell_back
            if fell_back:
                if not report.fell_back:
                    take_general_path(self.policy)
                if isinstance(self.reference, nn.Module):
                    take_general_path(self.reference)
                experience = self.collect(rows, step, share)
        if step == 0 and self.starts_at_reference:
            verify_start(self.policy, self.reference, experience.rollout)
        return experience

    def verify(self, experience: Rewarded) -> GuardReport:
        """The guard's comparisons for the model that sampled. Raises `UntrustedModel` as `shared.guard.verify` does."""
        return verify(self.policy, experience.rollout)

    def completion_records(self, experience: Rewarded, rows: Sequence[dict]) -> list[list[dict]]:
        names = [name_of(function) for function in functions_of(self.reward_funcs)]
        return completion_records(experience, rows, names)

    def without_signal(self, record: Metrics) -> bool:
        """True for a step in which all rewards that are compared were equal, so that they taught nothing."""
        return record["frac_reward_zero_std"] == 1

    def advice(self, history: Sequence[Metrics]) -> str | None:
        last = history[-STEPS_WITHOUT_SIGNAL:]
        if len(last) < STEPS_WITHOUT_SIGNAL or not all(map(self.without_signal, last)):
            return None
        return NO_SIGNAL.format(steps=len(last), reward=last[-1]["reward"])


def take_sampling_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take those of a training's options out that completions are sampled with."""
    return {name: options.pop(name) for name in ("constraint", "environment", "environment_factory") if name in options}


def rewarded_rollout(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: RolloutConfig,
    step: int = 0,
    share: Share = ALL_ROWS,
    **sampled_with,
) -> tuple[Rollout, Float[Tensor, "B F"], Float[Tensor, "B"], Metrics]:
    """G completions for each of N rows, the rewards of each function and their weighted sum, on the CPU, and metrics.

    With a `share` the rows are a part of the step's, at its places; the metrics are still of the whole step.
    `sampled_with` are `constraint`, `environment` and `environment_factory` of `shared.rollout.sample`.

    The metrics are TRL's: `reward`, `rewards/<function>/mean` and `/std`, those of the completions' lengths,
    `num_tokens`, of prompts and completions in this step (a history has the sum so far), and `entropy`, the mean over all
    sampled tokens of that of the distribution which each was drawn from. `rewards/unrated` is ours: the number of completions
    that no function rates; their reward is nan, and they are in none of the other means of rewards.
    """
    check_rows(rows, "prompt")
    rollout = sample(
        model,
        tokenizer,
        [row["prompt"] for row in rows],
        config.num_generations,
        config.sampling,
        rows=rows,
        seed=config.seed,
        step=step,
        places=share.places,
        **sampled_with,
    )
    rewards_per_func = score_rollout(reward_funcs, rollout, rows)  # (B, F)
    rewards = add_up(rewards_per_func, config.reward_weights)  # (B,)
    lengths = share.whole(rollout.lengths)
    whole = share.whole(rewards)
    unrated = whole.isnan()
    metrics = {"reward": whole[~unrated].mean().item(), "rewards/unrated": unrated.sum().item()} | length_metrics(
        lengths, share.whole(rollout.truncated)
    )
    prompt_tokens = share.whole(rollout.prompt_lengths.repeat_interleave(rollout.num_generations))
    metrics["num_tokens"] = (prompt_tokens.sum() + share.whole(rollout.own_lengths).sum()).item()
    assert rollout.entropy is not None  # `sample` measures it
    metrics["entropy"] = (share.whole(rollout.entropy).sum() / share.whole(rollout.own_lengths).sum()).item()
    for function, column in zip(functions_of(reward_funcs), share.whole(rewards_per_func).unbind(dim=1)):
        given = column[~column.isnan()]  # without those that were none of this function's
        metrics[f"rewards/{name_of(function)}/mean"] = given.mean().item()
        metrics[f"rewards/{name_of(function)}/std"] = given.std(correction=0).item() if len(given) else math.nan
    return rollout, rewards_per_func, rewards, metrics


def reference_logps(model: PreTrainedModel, reference: Reference | None, rollout: Rollout) -> Float[Tensor, "B C"]:
    """The rollout's log-probabilities under the frozen reference, (B, C); see `reference_model`."""
    with reference_model(model, reference) as frozen:
        return score_in_parts(frozen, rollout)


def sequence_kl(rollout: Rollout, ref_logps: Float[Tensor, "B C"]) -> Float[Tensor, "B"]:
    """k1 of the policy that sampled to the reference, summed over each completion, on the CPU where rewards are, (B,)."""
    return k1(rollout.old_logps, ref_logps).sum(dim=1).cpu()  # the padding is 0 in both
