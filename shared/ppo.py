"""PPO with a value head: its settings, how it collects experience, its loss (Ziegler et al. 2019; Ouyang et al. 2022).

Policy and critic share the transformer; a small head on the final hidden states predicts the return. `plain_ppo_loss` is
the algorithm on one completion. In a run its two halves lie apart, since updates repeat the second alone:

    collect     completions, rewards, the critic's values, the reference's log-probabilities -> advantages and returns
    ppo_loss    the objective: surrogate of the policy, error of the critic, entropy, KL to the reference

Rewards come at the end of a completion and are not discounted. Left out: a learnt reward model (`notebooks/ppo.ipynb`
writes it out). The loop is `shared/training.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import training
from shared.advantages import gae, whiten
from shared.algorithm import Metrics, TrainingConfig, require_at_least, require_positive, trained_parameters
from shared.critic import ActorCritic, logits_and_hidden
from shared.engine.logits import entropy_of, token_logps
from shared.engine.processes import ALL_ROWS, Share
from shared.experience import (
    Experience,
    RolloutAlgorithm,
    RolloutConfig,
    rewarded_rollout,
    take_sampling_options,
)
from shared.kl import exact_kl, k1, per_token_kl
from shared.losses import clipped_surrogate, clipped_value_loss, masked_mean
from shared.reference import Reference, reference_model, refuse_the_policy_as_reference
from shared.rewards import RewardFunction
from shared.rollout import Rollout


def plain_ppo_loss(
    logps: Float[Tensor, "C"],
    old_logps: Float[Tensor, "C"],
    values: Float[Tensor, "C"],
    old_values: Float[Tensor, "C"],
    rewards: Float[Tensor, "C"],
    lam: float = 0.95,
    epsilon: float = 0.2,
    value_epsilon: float = 0.2,
    value_coef: float = 0.5,
) -> Float[Tensor, ""]:
    """The definition: PPO's loss of one completion of C tokens. What the old policy and the old critic said is constant.

    rewards: of each token, mostly 0 but for the last. With rewards 0, 1, old values 0.2, 0.6 and lam 0.95:

        token   error                    advantage                    return = advantage + old value
        2       1 + 0 - 0.6 = 0.4        0.4                          1.00
        1       0 + 0.6 - 0.2 = 0.4      0.4 + 0.95 x 0.4 = 0.78      0.98
    """
    advantages = torch.zeros_like(rewards)
    next_value = next_advantage = 0.0  # nothing comes after the last token
    for t in reversed(range(len(rewards))):
        error = rewards[t] + next_value - old_values[t]  # how much better it went than the critic expected
        advantages[t] = error + lam * next_advantage
        next_value, next_advantage = old_values[t], advantages[t]
    returns = advantages + old_values  # (C,), what the critic should have said

    ratio = (logps - old_logps).exp()  # (C,), 1 before the first update
    surrogate = torch.minimum(ratio * advantages, ratio.clamp(1 - epsilon, 1 + epsilon) * advantages)
    near = old_values + (values - old_values).clamp(-value_epsilon, value_epsilon)
    value_loss = torch.maximum((values - returns) ** 2, (near - returns) ** 2) / 2
    return (-surrogate + value_coef * value_loss).mean()


@dataclass(frozen=True)
class PPOConfig(RolloutConfig):
    """Settings of a PPO run: those of `TrainingConfig` and `RolloutConfig`, and these.

    num_generations: completions for each prompt; 1 will do, for the critic is the baseline.
    kl_in: "loss" adds beta x the KL of each token's distribution, summed over the vocabulary; "reward" takes beta x k1
        off each token's reward.
    head_learning_rate: of the value head; `learning_rate` is the transformer's.
    lam: of the generalised advantages: 0 looks one token ahead, 1 to the end.
    whiten_advantages: make them mean 0 and standard deviation 1 over the real tokens of the rollout.
    epsilon: how far from 1 the ratio may go before it is clipped.
    value_epsilon: how far from its old value a value may go before its loss is clipped.
    value_coef: weight of the value loss.
    entropy_coef: weight of an entropy bonus; 0 gives none.
    target_kl: leave the epochs early when the policy is this far (k3, nats per token) from the one that sampled;
        0 never leaves.
    policy_coef: 1; 0 leaves the policy-gradient term out, as a published loop does.
    """

    steps: int = 40
    prompts_per_step: int = 32
    num_generations: int = 1
    max_new_tokens: int = 32
    num_iterations: int = 2
    minibatches: int = 2
    learning_rate: float = 3e-4
    warmup_steps: int = 0
    beta: float = 0.05
    head_learning_rate: float = 3e-3
    lam: float = 0.95
    whiten_advantages: bool = True
    epsilon: float = 0.2
    value_epsilon: float = 0.2
    value_coef: float = 0.5
    entropy_coef: float = 0.0
    target_kl: float = 0.1
    policy_coef: float = 1.0

    def __post_init__(self):
        super().__post_init__()
        require_positive(self, "head_learning_rate", "epsilon", "value_epsilon")
        require_at_least(self, 0, "value_coef", "entropy_coef", "target_kl", "policy_coef", "lam")
        if self.lam > 1:
            raise ValueError(f"lam is {self.lam}; it must lie in [0, 1].")
        if self.beta and self.kl_in == "loss" and (self.top_k or self.top_p < 1):
            raise ValueError(
                "With top_k or top_p policy and reference keep different tokens, and their exact KL is infinite. "
                'Use kl_in="reward", or sample from all tokens (top_k=0, top_p=1.0).'
            )


@dataclass(frozen=True)
class PPOExperience(Experience):
    """An experience with advantages (B, C), and what the critic and the exact KL need, without gradient.

    returns, old_values: (B, C).    ref_logits: (B, C, K) for the exact KL, else None.
    """

    returns: Float[Tensor, "B C"]
    old_values: Float[Tensor, "B C"]
    ref_logits: Float[Tensor, "B C K"] | None

    def parts(self, prompts: Sequence[int], rollout: Rollout) -> dict[str, Tensor | None]:
        return super().parts(prompts, rollout) | {
            "returns": self.part(self.returns, prompts, rollout),
            "old_values": self.part(self.old_values, prompts, rollout),
            "ref_logits": self.part(self.ref_logits, prompts, rollout),
        }


class PPO(RolloutAlgorithm[ActorCritic, PPOExperience, PPOConfig]):
    """PPO as the training loop takes it; its model is an `ActorCritic`."""

    name = "PPO"
    config_class = PPOConfig
    idle_metrics = dict.fromkeys(("value_loss", "value_clip_ratio", "clip_ratio", "moved"), 0.0)

    @property
    def policy(self) -> PreTrainedModel:
        return self.model.model

    def collect(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> PPOExperience:
        return collect(
            self.model,
            self.reference,
            self.tokenizer,
            rows,
            self.reward_funcs,
            self.config,
            step=step,
            share=share,
            **self.sampled_with,
        )

    def loss(self, experience: PPOExperience) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
        return ppo_loss(self.model, experience, self.config)

    def parameter_groups(self, config: TrainingConfig) -> list[dict]:
        return [
            {"params": trained_parameters(self.model.model), "lr": config.learning_rate},
            {"params": list(self.model.value_head.parameters()), "lr": self.config.head_learning_rate},
        ]

    def enough(self, metrics: Metrics) -> bool:
        return 0 < self.config.target_kl < metrics["moved"]

    def without_signal(self, record: Metrics) -> bool:
        return record["reward_std"] == 0


def token_rewards(rewards: Float[Tensor, "B"], mask: Tensor) -> Float[Tensor, "B C"]:
    """The reward of each completion at its last token of those in the mask, 0 elsewhere, (B,) to (B, C)."""
    last = (mask.cumsum(dim=1) * mask).argmax(dim=1, keepdim=True)
    placed = torch.zeros(mask.shape, device=mask.device)
    return placed.scatter(1, last, rewards.to(placed.device)[:, None])


@torch.no_grad()
def collect(
    policy: ActorCritic,
    reference: Reference | None,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: PPOConfig,
    *,
    step: int = 0,
    share: Share = ALL_ROWS,
    **sampled_with,
) -> PPOExperience:
    """Sample, reward, and estimate advantages with the critic as it is.

    Args:
        reference: the frozen reference; None with LoRA adapters, or with beta 0 (then no KL is measured).
        step: with `config.seed`, what chance depends on.
        share: which of the step's rows these are, where several processes train.
        sampled_with: `constraint`, `environment` or `environment_factory` of `shared.rollout.sample`.

    Raises:
        ValueError: beta is not 0 and there is no reference, or it is the policy; or what `sample` and `score` refuse.
    """
    refuse_the_policy_as_reference(policy, reference)
    # 1. Completions and their rewards
    rollout, rewards_per_func, rewards, metrics = rewarded_rollout(
        policy.model, tokenizer, rows, reward_funcs, config, step, share, **sampled_with
    )
    rated = ~rewards.isnan()  # (B,), the completions that count
    rewards_of_step = share.whole(rewards)
    given = rewards_of_step[~rewards_of_step.isnan()]
    metrics["reward_std"] = given.std(correction=0).item() if len(given) else 0.0
    mask = rollout.loss_mask * rated.to(rollout.loss_mask.device)[:, None]  # (B, C), the policy's own tokens
    # 2. What the critic expects before each token
    _, values = policy(rollout)  # (B, C)
    # 3. What the reference says of the same tokens
    ref_logits = None
    ref_logps = None
    if config.beta or reference is not None:
        with reference_model(policy.model, reference) as frozen:
            ref_logits, _ = logits_and_hidden(frozen, rollout)  # (B, C, K)
        ref_logps = token_logps(ref_logits, rollout.choices).masked_fill(mask == 0, 0.0)
        kl = per_token_kl(rollout.old_logps, ref_logps, "k3")
        metrics["kl"] = masked_mean(share.whole(kl), share.whole(mask)).item()
    # 4. A reward for each token: the completion's at the last one, the KL's price at every one
    per_token = token_rewards(rewards.nan_to_num(nan=0.0), mask)  # (B, C)
    if ref_logps is not None and config.beta and config.kl_in == "reward":
        per_token = per_token - config.beta * k1(rollout.old_logps, ref_logps)
    # 5. How much better than expected each token was, and what the critic should have said
    advantages, returns = gae(per_token, values, mask, config.lam)  # (B, C) each
    if config.whiten_advantages:
        whitened = whiten(share.whole(advantages), share.whole(mask))
        # All processes' rows are as wide as the longest completion of any of them; these are cut to their own width.
        advantages = share.mine(whitened)[:, : mask.size(1)].to(advantages.device)
    return PPOExperience(
        rollout=rollout,
        rewards_per_func=rewards_per_func,
        rewards=rewards,
        advantages=advantages,
        ref_logps=ref_logps,
        metrics=metrics,
        returns=returns,
        old_values=values,
        ref_logits=ref_logits if config.beta and config.kl_in == "loss" else None,
        rated=None if len(given) == len(rewards_of_step) else rated,
    )


def ppo_loss(
    policy: ActorCritic, experience: PPOExperience, config: PPOConfig
) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
    """PPO's objective, to be minimised: the sum of four terms, each a mean over the policy's own tokens.

        policy_coef x surrogate + value_coef x value_loss - entropy_coef x entropy + beta x kl

        surrogate    -min(ratio A, clip(ratio, 1 - epsilon, 1 + epsilon) A)
        value_loss   max((V - R)^2, (V_clipped - R)^2) / 2
        entropy      -sum_v pi(v) log pi(v)
        kl           sum_v pi(v) (log pi(v) - log pi_ref(v)); with kl_in="reward" there is no such term

    The ratio is pi(y) / pi_old(y) of the sampled token y, A its advantage, V the critic's value before it, R its return.
    V_clipped is V, brought to within value_epsilon of the value when y was sampled. Sums go over the vocabulary.
    Sources: Schulman et al. 2017, equations 7 (the surrogate) and 9 (the sum of the first three); the value loss is that
    of their published code; the KL is the mean of the penalty in Ziegler et al. 2019, equation 2.

    Two completions, of two tokens and of one, over a vocabulary of two words; both epsilons 0.2, policy_coef 1,
    value_coef 0.5, entropy_coef 0.01, beta 0.05, and a reference that gives each word 0.5:

                            first completion        second
        pi_old(y), pi(y)    0.5, 0.7    0.5, 0.5    0.5, 0.7
        ratio               1.4         1.0         1.4
        A                   1           1          -1
        surrogate          -1.2        -1.0         1.4       mean -0.267; A > 0 pays up to a ratio of 1.2 and no more
        V before, V         0, 0.5      0, 0.1      0, 0.1
        V_clipped           0.2         0.1         0.1
        R                   1           1           0
        value_loss          0.320       0.405       0.005     mean  0.243; the first V gains nothing beyond 0.2
        entropy             0.611       0.693       0.611     mean  0.638
        kl                  0.082       0.000       0.082     mean  0.055

        loss = -0.267 + 0.5 x 0.243 - 0.01 x 0.638 + 0.05 x 0.055 = -0.149

    Returns:
        the loss and metrics `loss`, `value_loss`, `value_clip_ratio`, `clip_ratio`, and `moved`, the k3 distance of the
        policy from the one that sampled.
    """
    rollout = experience.rollout
    mask = experience.loss_mask  # (B, C)
    logits, values = policy(rollout)  # (B, C, K), (B, C)
    logps = token_logps(logits, rollout.choices).masked_fill(mask == 0, 0.0)  # (B, C)

    per_token, was_clipped = clipped_surrogate(logps, rollout.old_logps, experience.advantages, config.epsilon)
    surrogate = masked_mean(per_token, mask)
    value_loss, metrics = clipped_value_loss(
        values, experience.old_values, experience.returns, mask, config.value_epsilon
    )
    # The last two read all words of the vocabulary, so they are left out where they weigh nothing.
    entropy = masked_mean(entropy_of(logits), mask) if config.entropy_coef else 0.0
    kl = masked_mean(exact_kl(logits, experience.ref_logits), mask) if experience.ref_logits is not None else 0.0

    loss = config.policy_coef * surrogate + config.value_coef * value_loss
    loss = loss - config.entropy_coef * entropy + config.beta * kl
    return loss, metrics | {
        "loss": loss.detach(),
        "clip_ratio": masked_mean(was_clipped, mask),
        "moved": masked_mean(per_token_kl(logps.detach(), rollout.old_logps, "k3"), mask),
    }


def train(
    policy: ActorCritic,
    reference: Reference | None,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: PPOConfig = PPOConfig(),
    **options,
) -> list[Metrics]:
    """Train `policy` in place; a record of metrics for each step. `options` are those of `shared.grpo.train`."""
    if not isinstance(policy, ActorCritic):
        raise ValueError("PPO trains a model with a value head: give ActorCritic(model).")
    sampled_with = take_sampling_options(options)
    algorithm = PPO(policy, tokenizer, reward_funcs, config, reference=reference, **sampled_with)
    return training.train(algorithm, rows, config, **options)
