"""GRPO: its settings, how it collects experience, its loss (Shao et al. 2024, DeepSeekMath, arXiv:2402.03300).

A step is `collect` (sample, reward, reference, advantages) and `policy_loss` (a differentiable number); `grpo_step`
is the two together, with no optimiser in it. The loop around them is `shared/training.py`. Left out of the paper's algorithm 1: the outer loop that replaces the reference by the current policy, and the learnt reward model.
`notebooks/dots.ipynb` writes the formulas of a step; the other notebooks import it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import training
from shared.advantages import ScaleRewards, group_advantages, rated_in_groups
from shared.algorithm import Metrics, require_at_least, require_positive
from shared.engine.past_weights import Weights, keep_weights, past_weights
from shared.engine.processes import ALL_ROWS, Share
from shared.engine.rounded import BITS, rounded_weights
from shared.experience import (
    Experience,
    RolloutAlgorithm,
    RolloutConfig,
    reference_logps,
    rewarded_rollout,
    sequence_kl,
    take_sampling_options,
)
from shared.kl import KLEstimator
from shared.logps import completion_logps
from shared.losses import (
    CLIP_RATIOS,
    CorrectionMode,
    LossType,
    RatioLevel,
    averages_over_tokens,
    bound_of,
    clips,
    grpo_loss,
    sampler_correction,
)
from shared.reference import Reference, refuse_the_policy_as_reference
from shared.rewards import RewardFunction
from shared.rollout import Rollout
from shared.updates import on_host


@dataclass(frozen=True)
class GRPOConfig(RolloutConfig):
    """Settings of a GRPO run: those of `TrainingConfig` and `RolloutConfig`, and these.

    num_iterations: update epochs over one rollout; with 1 the ratio is 1 and clipping never acts.
    kl_estimator: k1, k2 or k3, of the penalty in the loss.
    kl_in: "loss" adds beta x KL to each token's loss; "reward" subtracts beta x the completion's summed k1 from
        its reward before the group is normalised.
    epsilon: how far below 1 the ratio may go before it is clipped.
    epsilon_high: the same above 1; None means the same. Under cispo it is the bound of the ratio itself, such as 5.
    importance_sampling_level: one ratio for each "token", or as in GSPO one for each "sequence", which wants a much
        smaller epsilon.
    loss_type: "grpo" averages over each completion's tokens, "dapo" over all tokens, "dr_grpo" divides by a constant;
        "cispo" bounds the ratio in the place of clipping and averages as dapo, "sapo" has a smooth gate and averages as
        grpo.
    sapo_temperature_pos: how fast that gate closes where the advantage is positive.
    sapo_temperature_neg: the same where it is not.
    scale_rewards: advantages are divided by the standard deviation of the "group", of the "batch", by "none", or by the
        group's "mean" reward, as in MaxRL.
    advantage_eps: added to what advantages are divided by.
    entropy_coef: weight of an entropy bonus; 0 gives none.
    mask_truncated_completions: leave completions that max_new_tokens cut off out of the loss; their rewards still count
        in their group.
    staleness: sample with the weights of so many steps ago, as where sampling and learning run at the same time.
    sampler_bits: sample with the policy's matrices rounded to so many bits, 2 to 8, or 16 for bfloat16; 0 samples with
        the policy itself.
    decoupled: what such a sampler drew has two ratios: the policy that begins the step over the sampler, which is the
        correction below, and the policy of now over that one, which is clipped. False makes them one, which is clipped.
    vllm_importance_sampling_correction: weight what such a sampler drew by how much likelier the policy makes it; the
        name is TRL's, the sampler need not be vLLM.
    vllm_importance_sampling_mode: that weight of each token or of the whole sequence, truncated to its bounds, or masked
        to 0 outside of them.
    vllm_importance_sampling_clip_max: the upper bound of that weight; None for none.
    vllm_importance_sampling_clip_min: the lower bound; None for none.
    """

    kl_estimator: KLEstimator = "k3"
    epsilon: float = 0.2
    epsilon_high: float | None = None
    importance_sampling_level: RatioLevel = "token"
    loss_type: LossType = "grpo"
    sapo_temperature_pos: float = 1.0
    sapo_temperature_neg: float = 1.05
    scale_rewards: ScaleRewards = "group"
    advantage_eps: float = 1e-4
    entropy_coef: float = 0.0
    mask_truncated_completions: bool = False
    staleness: int = 0
    sampler_bits: int = 0
    decoupled: bool = True
    vllm_importance_sampling_correction: bool = True
    vllm_importance_sampling_mode: CorrectionMode = "sequence_mask"
    vllm_importance_sampling_clip_max: float | None = 3.0
    vllm_importance_sampling_clip_min: float | None = None

    def __post_init__(self):
        super().__post_init__()
        require_at_least(self, 2, "num_generations")
        require_at_least(self, 0, "entropy_coef", "advantage_eps", "staleness")
        require_positive(self, "epsilon", "sapo_temperature_pos", "sapo_temperature_neg")
        if self.epsilon_high is not None:
            require_positive(self, "epsilon_high")
        if self.loss_type == "cispo":
            bound_of(self.epsilon_high)
        if self.scale_rewards == "mean" and self.beta and self.kl_in == "reward":
            raise ValueError(
                'scale_rewards="mean" divides by the mean reward, which a KL penalty in the reward may make negative: '
                'choose kl_in="loss".'
            )
        if self.sampler_bits not in (0, *BITS):
            raise ValueError(
                f"sampler_bits is {self.sampler_bits}; choose 2 to 8, 16 for bfloat16, or 0 to sample with the policy."
            )
        for bound in ("vllm_importance_sampling_clip_max", "vllm_importance_sampling_clip_min"):
            if getattr(self, bound) is not None:
                require_positive(self, bound)


class GRPO(RolloutAlgorithm[PreTrainedModel, Experience, GRPOConfig]):
    """GRPO as the training loop takes it."""

    name = "GRPO"
    config_class = GRPOConfig

    @property
    def idle_metrics(self) -> Metrics:
        """Without a gradient nothing has moved and nothing is clipped."""
        return {"ratio": 1.0} | dict.fromkeys(names_of_clipping(self.config.loss_type), 0.0)

    def begin(self) -> str:
        self.past = {}
        return super().begin()

    def lag(self, step: int) -> int:
        """The age, in steps, of the weights that sample this step. A queue may have another rule."""
        return self.config.staleness

    def sampler_weights(self, step: int) -> Weights | None:
        """The weights that sample this step, where they are not those of now."""
        if not self.config.staleness:
            return None
        if self.past is None:
            self.past = {}
        return keep_weights(self.past, self.model, step, self.lag(step))

    def collect(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Experience:
        return collect(
            self.model,
            self.tokenizer,
            rows,
            self.reward_funcs,
            self.config,
            reference=self.reference,
            step=step,
            share=share,
            sampler_weights=self.sampler_weights(step),
            **self.sampled_with,
        )

    def loss(self, experience: Experience) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
        return policy_loss(self.model, experience, self.config)

    def weight(self, experience: Experience) -> float:
        """dapo and cispo divide by tokens, the others by completions."""
        return experience.num_tokens if averages_over_tokens(self.config.loss_type) else experience.num_completions

    def counts(self, experience: Experience) -> dict[str, float]:
        """The number of ratios that each metric of clipping is a mean over: one a token, or one a completion."""
        by_token = self.config.importance_sampling_level == "token"
        shares = [name for name in names_of_clipping(self.config.loss_type) if name != "clip_ratio"]
        return dict.fromkeys(shares, experience.num_tokens if by_token else experience.num_completions)

    def rows_with_gradient(self, experience: Experience) -> Sequence[int]:
        """A group whose rewards are all equal has none, unless KL or entropy act on it as well."""
        if penalty_in_loss(self.config) or self.config.entropy_coef:
            return super().rows_with_gradient(experience)
        return experience.rows_with_advantages


def names_of_clipping(loss_type: LossType) -> tuple[str, ...]:
    """The metrics in which a loss says what it clips; sapo clips nothing."""
    if clips(loss_type):
        return "clip_ratio", *CLIP_RATIOS
    return ("cispo_clip_ratio",) if loss_type == "cispo" else ()


def penalty_in_loss(config: GRPOConfig) -> float:
    """The coefficient of the KL penalty in the loss; 0 where it is in the reward."""
    return config.beta if config.kl_in == "loss" else 0.0


def collect(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: GRPOConfig,
    *,
    reference: Reference | None = None,
    step: int = 0,
    share: Share = ALL_ROWS,
    sampler_weights: Weights | None = None,
    **sampled_with,
) -> Experience:
    """Sample a group for each row, reward it, and take the group advantages.

    Args:
        rows: N rows of a data set, each with `prompt` and the columns that the rewards need.
        reference: the frozen reference; None with LoRA adapters (they are switched off) or with beta 0.
        step: with `config.seed`, what chance depends on.
        share: which of the step's rows these are, where several processes train.
        sampler_weights: trained weights by name, of an earlier step, to sample with.
        sampled_with: `constraint`, `environment` or `environment_factory` of `shared.rollout.sample`.

    Raises:
        ValueError: beta is not 0 and there is no reference, or it is the policy; or what `sample` and `score` refuse.
    """
    refuse_the_policy_as_reference(model, reference)
    with past_weights(model, sampler_weights), rounded_weights(model, config.sampler_bits):
        rollout, rewards_per_func, rewards, metrics = rewarded_rollout(
            model, tokenizer, rows, reward_funcs, config, step, share, **sampled_with
        )
    if config.sampler_bits or sampler_weights is not None:
        rollout, difference = scored_by_policy(model, rollout, share)
        metrics["sampling/sampling_logp_difference/mean"] = difference
    returns = rewards
    ref_logps = None
    if config.beta:
        ref_logps = reference_logps(model, reference, rollout)  # (B, C)
    if ref_logps is not None and config.kl_in == "reward":
        kl = sequence_kl(rollout, ref_logps)  # (B,)
        returns = rewards - config.beta * kl
        metrics["kl"] = (share.whole(kl).sum() / share.whole(rollout.own_lengths).sum()).item()
    rated = rated_in_groups(share.whole(rewards), config.num_generations)
    advantages, group_metrics = group_advantages(
        share.whole(returns), config.num_generations, config.scale_rewards, config.advantage_eps, rated
    )
    return Experience(
        rollout=rollout,
        rewards_per_func=rewards_per_func,
        rewards=rewards,
        advantages=share.mine(advantages).to(rollout.old_logps.device),
        ref_logps=ref_logps,
        metrics=group_metrics | metrics,  # the reward of the task, without the penalty
        learned=~rollout.truncated if config.mask_truncated_completions else None,
        rated=None if rated.all() else share.mine(rated),
    )


@torch.no_grad()
def scored_by_policy(model: PreTrainedModel, rollout: Rollout, share: Share = ALL_ROWS) -> tuple[Rollout, float]:
    """A rollout of another sampler with the policy's log-probabilities as `old_logps`, the sampler's own beside them.

    The second value is how far the two are apart, in nats a token of the whole step.
    """
    scored = replace(rollout, old_logps=completion_logps(model, rollout)[0], sampler_logps=rollout.old_logps)
    apart = share.whole((scored.old_logps - rollout.old_logps).abs())  # (B, C), 0 in the padding
    return scored, (apart.sum() / share.whole(rollout.own_lengths).sum()).item()


def correction_of(rollout: Rollout, config: GRPOConfig) -> Float[Tensor, "B #C"] | None:
    """The factor of each token's policy term that corrects for a sampler which was not the policy.

    None where the policy sampled, where the correction is off, and with `decoupled=False`, whose one ratio has it already.
    """
    if rollout.sampler_logps is None or not (config.decoupled and config.vllm_importance_sampling_correction):
        return None
    return sampler_correction(
        rollout.old_logps,
        rollout.sampler_logps,
        rollout.loss_mask,
        config.vllm_importance_sampling_mode,
        config.vllm_importance_sampling_clip_max,
        config.vllm_importance_sampling_clip_min,
    )


def policy_loss(
    model: PreTrainedModel, experience: Experience, config: GRPOConfig
) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
    """The GRPO loss of the current policy on an experience, with gradient; see `shared.losses.grpo_loss`."""
    rollout = experience.rollout
    beta = penalty_in_loss(config)
    logps, entropy = completion_logps(model, rollout, with_entropy=config.entropy_coef > 0)
    one_ratio = rollout.sampler_logps is not None and not config.decoupled
    loss, metrics = grpo_loss(
        logps,
        rollout.sampler_logps if one_ratio else rollout.old_logps,
        experience.advantages,
        experience.loss_mask,
        experience.ref_logps if beta else None,
        entropy,
        beta=beta,
        epsilon=config.epsilon,
        epsilon_high=config.epsilon_high,
        kl_estimator=config.kl_estimator,
        entropy_coef=config.entropy_coef,
        loss_type=config.loss_type,
        max_completion_length=config.max_new_tokens,
        importance_sampling_level=config.importance_sampling_level,
        sapo_temperature_pos=config.sapo_temperature_pos,
        sapo_temperature_neg=config.sapo_temperature_neg,
        correction=correction_of(rollout, config),
    )
    if not averages_over_tokens(config.loss_type):
        loss = experience.over_completions(loss)
    return loss, metrics | {"loss": loss.detach()}


def grpo_step(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: GRPOConfig,
    **options,
) -> tuple[Float[Tensor, ""], Experience, Metrics]:
    """`collect` and `policy_loss`: the loss (call `.backward()` on it), the experience and all metrics.

    No optimiser steps here, so a notebook can look at the advantages and the initial loss and change nothing.
    `options` are those of `collect`.
    """
    experience = collect(model, tokenizer, rows, reward_funcs, config, **options)
    loss, metrics = policy_loss(model, experience, config)
    return loss, experience, on_host(metrics) | experience.metrics


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: GRPOConfig = GRPOConfig(),
    *,
    reference: Reference | None = None,
    **options,
) -> list[Metrics]:
    """Train `model` in place and return its history, one record of metrics for each step.

    Args:
        rows: the training set.
        reference: `frozen_copy(model)` made before training; None with LoRA or with beta 0.
        options: `constraint`, which restricts every completion to the answers of a trie, `environment` or
            `environment_factory`, which writes into them (`shared.environment`; its tokens are in no loss), and those of
            `shared.training.train`, which also says what is raised.
    """
    sampled_with = take_sampling_options(options)
    algorithm = GRPO(model, tokenizer, reward_funcs, config, reference=reference, **sampled_with)
    return training.train(algorithm, rows, config, **options)
