"""REINFORCE and RLOO: the policy gradient without ratio or clipping (Williams 1992; Ahmadian et al. 2024, arXiv:2402.14740).

A completion is one action: its log-probability is the sum over its tokens, its reward (less the KL penalty) is
compared with a baseline, and each rollout is used for one update, so that no ratio is needed: we are on policy.
The baseline is the mean of the prompt's other completions (RLOO) or nothing (REINFORCE). What differs from TRL's
RLOOTrainer: it allows several updates a rollout and clips a ratio for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import training
from shared.advantages import leave_one_out_advantages, rated_in_groups
from shared.algorithm import Metrics, require_at_least
from shared.engine.processes import ALL_ROWS, Share
from shared.experience import (
    Experience,
    RolloutAlgorithm,
    RolloutConfig,
    reference_logps,
    rewarded_rollout,
    sequence_kl,
    take_sampling_options,
)
from shared.kl import per_token_kl
from shared.logps import completion_logps
from shared.losses import masked_mean
from shared.reference import Reference
from shared.rewards import RewardFunction


@dataclass(frozen=True)
class RLOOConfig(RolloutConfig):
    """Settings of a REINFORCE or RLOO run: those of `TrainingConfig` and `RolloutConfig`, and these.

    baseline: "leave_one_out" is RLOO and needs two completions a prompt; "none" is REINFORCE.
    kl_in: "reward" only, beta x the completion's summed k1 is taken off its reward.
    """

    baseline: Literal["leave_one_out", "none"] = "leave_one_out"
    kl_in: Literal["reward"] = "reward"

    def __post_init__(self):
        super().__post_init__()
        if self.baseline == "leave_one_out":
            require_at_least(self, 2, "num_generations")
        if self.num_iterations * self.minibatches > 1:
            raise ValueError(
                "num_iterations and minibatches must be 1: after the first update the rollout is no longer the "
                "policy's own, and REINFORCE has no ratio to correct for that. GRPO and PPO have."
            )


class RLOO(RolloutAlgorithm[PreTrainedModel, Experience, RLOOConfig]):
    """REINFORCE with or without the leave-one-out baseline, as the training loop takes it."""

    name = "RLOO"
    config_class = RLOOConfig

    def collect(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Experience:
        config = self.config
        rollout, rewards_per_func, rewards, metrics = rewarded_rollout(
            self.model, self.tokenizer, rows, self.reward_funcs, config, step, share, **self.sampled_with
        )
        returns = rewards
        ref_logps = None
        if config.beta:
            ref_logps = reference_logps(self.model, self.reference, rollout)  # (B, C)
            returns = rewards - config.beta * sequence_kl(rollout, ref_logps)  # (B,)
            kl = per_token_kl(rollout.old_logps, ref_logps, "k3")
            metrics["kl"] = masked_mean(share.whole(kl), share.whole(rollout.loss_mask)).item()
        advantages = share.whole(returns)
        if config.baseline == "leave_one_out":
            rated = rated_in_groups(share.whole(rewards), config.num_generations)
            advantages, group_metrics = leave_one_out_advantages(advantages, config.num_generations, rated)
            metrics = group_metrics | metrics
        else:
            rated = ~share.whole(rewards).isnan()
            metrics["reward_std"] = share.whole(rewards)[rated].std(correction=0).item()
            advantages = advantages.masked_fill(~rated, 0.0)
        on_device = share.mine(advantages).to(rollout.old_logps.device)
        return Experience(
            rollout,
            rewards_per_func,
            rewards,
            on_device,
            ref_logps,
            metrics,
            rated=None if rated.all() else share.mine(rated),
        )

    def loss(self, experience: Experience) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
        """-mean over completions of A_i x log pi(y_i), with log pi(y_i) the sum over the completion's tokens."""
        logps, _ = completion_logps(self.model, experience.rollout)
        loss = -(experience.advantages * logps.sum(dim=1)).mean()  # the padding is 0
        loss = experience.over_completions(loss)
        return loss, {"loss": loss.detach()}

    def weight(self, experience: Experience) -> float:
        return experience.num_completions

    def rows_with_gradient(self, experience: Experience) -> Sequence[int]:
        """The penalty is in the advantages: where they are 0 nothing is learned."""
        return experience.rows_with_advantages

    def without_signal(self, record: Metrics) -> bool:
        """Without a baseline equal rewards teach as well, unless they are all 0."""
        if self.config.baseline == "none":
            return record["reward"] == 0 and record["reward_std"] == 0
        return super().without_signal(record)


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: RLOOConfig = RLOOConfig(),
    *,
    reference: Reference | None = None,
    **options,
) -> list[Metrics]:
    """Train `model` in place; a record of metrics for each step. `options` are those of `shared.grpo.train`."""
    sampled_with = take_sampling_options(options)
    algorithm = RLOO(model, tokenizer, reward_funcs, config, reference=reference, **sampled_with)
    return training.train(algorithm, rows, config, **options)
