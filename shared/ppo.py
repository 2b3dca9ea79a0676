"""PPO for language models with a value head: the step and the loop of RLHF (Ziegler et al. 2019; Ouyang et al. 2022).

Policy and critic share the transformer; a small head on the final hidden states predicts the return. Rewards come at
the end of a completion and are not discounted. Departures from the handout, each with its reason: advantages are
exactly (B, C) (its function concatenates one column too many and does not run), and the loss has a policy-gradient
term (its loop has none). Left out: a learnt reward model. `notebooks/ppo.ipynb` derives it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from tqdm.auto import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.engine import checkpoint
from shared.advantages import gae, whiten
from shared.engine.sampling import position_ids
from shared.grpo import apply_gradient, mean_metrics, rows_of_step
from shared.kl import exact_kl, k1, per_token_kl
from shared.logps import entropy_of, token_logps
from shared.losses import clipped_surrogate, clipped_value_loss, masked_mean
from shared.engine.memory import keep_freed_memory
from shared.models import eval_mode
from shared.rewards import RewardFunction, add_up, score_rollout
from shared.engine.sampling import Sampling, distribution
from shared.rollout import Rollout, sample

VALUE_HEAD = "value_head.pt"


@dataclass(frozen=True)
class PPOConfig:
    """Settings of a PPO run; checked when made.

    steps: rollouts to collect; prompts_per_step: N; num_generations: completions for each prompt (1 will do: the
        critic is the baseline); max_new_tokens, temperature: of sampling.
    epochs, minibatches: updates on one rollout are epochs x minibatches, each on a part of its completions.
    learning_rate, head_learning_rate: of the transformer and of the value head.
    lam: of the generalised advantages; whiten_advantages: over the real tokens of the rollout.
    epsilon, value_epsilon: clipping ranges of the ratio and of the value.
    value_coef, entropy_coef, beta: weights of value loss, entropy bonus and KL penalty.
    kl_in: "loss" adds beta x the exact KL over the vocabulary; "reward" takes beta x k1 off each token's reward.
    target_kl: leave the epochs early when the policy is this far (k3, nats per token) from the one that sampled;
        0 never leaves.
    policy_coef: 1; 0 leaves the policy-gradient term out, as a published loop does.
    """

    steps: int = 40
    prompts_per_step: int = 32
    num_generations: int = 1
    max_new_tokens: int = 32
    temperature: float = 1.0
    epochs: int = 2
    minibatches: int = 2
    learning_rate: float = 3e-4
    head_learning_rate: float = 3e-3
    lam: float = 0.95
    whiten_advantages: bool = True
    epsilon: float = 0.2
    value_epsilon: float = 0.2
    value_coef: float = 0.5
    entropy_coef: float = 0.0
    beta: float = 0.05
    kl_in: Literal["loss", "reward"] = "loss"
    target_kl: float = 0.1
    policy_coef: float = 1.0
    max_grad_norm: float = 1.0
    log_every: int = 10
    seed: int = 0

    def __post_init__(self):
        for name in ("steps", "prompts_per_step", "num_generations", "max_new_tokens", "epochs", "minibatches"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        for name in ("learning_rate", "head_learning_rate", "temperature", "epsilon", "value_epsilon", "max_grad_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be positive.")
        for name in ("value_coef", "entropy_coef", "beta", "target_kl", "policy_coef", "log_every"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 0 or positive.")
        if not 0 <= self.lam <= 1:
            raise ValueError(f"lam is {self.lam}; it must lie in [0, 1].")
        if self.kl_in not in ("loss", "reward"):
            raise ValueError(f'kl_in is {self.kl_in!r}; choose "loss" or "reward".')
        if self.minibatches > self.prompts_per_step:
            raise ValueError(f"{self.minibatches} minibatches cannot be cut from {self.prompts_per_step} prompts.")


def logits_and_hidden(model: PreTrainedModel, rollout: Rollout) -> tuple[Float[Tensor, "B C V"], Float[Tensor, "B C D"]]:
    """For each completion token the logits it was drawn from, and the final hidden state they came from."""
    rows = torch.arange(len(rollout.prompts), device=rollout.prompt_ids.device).repeat_interleave(rollout.num_generations)
    attention_mask = torch.cat([rollout.prompt_mask[rows], rollout.completion_mask], dim=1)  # (B, P + C)
    C = rollout.completion_ids.size(1)
    with eval_mode(model):
        out = model(
            input_ids=torch.cat([rollout.prompt_ids[rows], rollout.completion_ids], dim=1),
            attention_mask=attention_mask,
            position_ids=position_ids(attention_mask),
            logits_to_keep=C + 1,
            output_hidden_states=True,
            use_cache=False,
        )
    return distribution(out.logits[:, :-1], rollout.sampling), out.hidden_states[-1][:, -C - 1 : -1]


class ActorCritic(nn.Module):
    """A causal language model with a value head on its final hidden states.

    The head is a two-layer MLP whose last layer starts at 0, so that the first values are 0 and not noise.
    """

    def __init__(self, model: PreTrainedModel):
        super().__init__()
        self.model = model
        hidden = model.config.get_text_config().hidden_size
        self.value_head = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        nn.init.zeros_(self.value_head[-1].weight)
        nn.init.zeros_(self.value_head[-1].bias)
        self.value_head.to(next(model.parameters()).device)

    def forward(self, rollout: Rollout) -> tuple[Float[Tensor, "B C V"], Float[Tensor, "B C"]]:
        """Logits of each completion token, and the value of the state before it: what prompt and earlier tokens say."""
        logits, hidden = logits_and_hidden(self.model, rollout)
        return logits, self.value_head(hidden.float())[..., 0]

    def save_pretrained(self, folder: str | Path) -> None:
        """The model as transformers saves it, and the value head beside it."""
        self.model.save_pretrained(folder)
        checkpoint.save(Path(folder) / VALUE_HEAD, self.value_head.state_dict())

    @classmethod
    def from_pretrained(cls, folder: str | Path, model: PreTrainedModel) -> "ActorCritic":
        """`model`, loaded from the folder, with the value head that was saved there. ValueError when there is none."""
        state = checkpoint.load(Path(folder) / VALUE_HEAD)
        if state is None:
            raise ValueError(f"{folder} holds no {VALUE_HEAD}: it was not saved by ActorCritic.save_pretrained.")
        policy = cls(model)
        policy.value_head.load_state_dict(state)
        return policy


@dataclass(frozen=True)
class Experience:
    """A rollout with what the loss needs beside the policy, all (B, C) unless said, without gradient.

    rewards: (B,) of the task.    ref_logits: (B, C, V) for the exact KL, else None.
    """

    rollout: Rollout
    rewards: Float[Tensor, "B"]
    advantages: Float[Tensor, "B C"]
    returns: Float[Tensor, "B C"]
    old_values: Float[Tensor, "B C"]
    ref_logits: Float[Tensor, "B C V"] | None
    metrics: dict[str, float]

    def take(self, prompts: Sequence[int]) -> "Experience":
        """The part that belongs to these prompts."""
        rollout, rows = self.rollout.take(prompts), self.rollout.rows_of(prompts)
        width = rollout.completion_ids.size(1)
        cut = [t[rows, :width] for t in (self.advantages, self.returns, self.old_values)]
        ref_logits = None if self.ref_logits is None else self.ref_logits[rows, :width]
        return Experience(rollout, self.rewards[rows], *cut, ref_logits, self.metrics)


def token_rewards(rewards: Float[Tensor, "B"], completion_mask: Tensor) -> Float[Tensor, "B C"]:
    """The reward of each completion at its last token, 0 elsewhere, (B,) to (B, C)."""
    last = completion_mask.sum(dim=1, keepdim=True) - 1
    placed = torch.zeros(completion_mask.shape, device=completion_mask.device)
    return placed.scatter(1, last, rewards.to(placed.device)[:, None])


@torch.no_grad()
def collect(
    policy: ActorCritic,
    reference: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: PPOConfig,
    generator: torch.Generator | None = None,
) -> Experience:
    """Sample, reward, and estimate advantages with the critic as it is."""
    prompts = [row["prompt"] for row in rows]
    sampling = Sampling(config.max_new_tokens, config.temperature)
    rollout = sample(policy.model, tokenizer, prompts, config.num_generations, sampling, generator=generator)
    rewards = add_up(score_rollout(reward_funcs, rollout, rows)).to(policy.model.device)
    _, values = policy(rollout)  # (B, C)
    ref_logits, _ = logits_and_hidden(reference, rollout)  # (B, C, V)
    ref_logps = token_logps(ref_logits, rollout.completion_ids) * rollout.completion_mask
    per_token = token_rewards(rewards, rollout.completion_mask)
    if config.kl_in == "reward":
        per_token = per_token - config.beta * k1(rollout.old_logps, ref_logps) * rollout.completion_mask
    advantages, returns = gae(per_token, values, rollout.completion_mask, config.lam)
    if config.whiten_advantages:
        advantages = whiten(advantages, rollout.completion_mask)
    metrics = {
        "reward": rewards.mean().item(),
        "kl": masked_mean(per_token_kl(rollout.old_logps, ref_logps, "k3"), rollout.completion_mask).item(),
    } | rollout.length_metrics
    return Experience(
        rollout, rewards, advantages, returns, values, ref_logits if config.kl_in == "loss" and config.beta else None, metrics
    )


def ppo_loss(policy: ActorCritic, experience: Experience, config: PPOConfig) -> tuple[Float[Tensor, ""], dict[str, float]]:
    """The full objective, to be minimised, each term a mean over real tokens:

        policy_coef x clipped surrogate + value_coef x clipped value loss + beta x KL - entropy_coef x entropy

    Returns:
        the loss and metrics `loss`, `value_loss`, `entropy`, `clip_ratio`, and `moved`, the k3 distance of the policy
        from the one that sampled.
    """
    rollout, mask = experience.rollout, experience.rollout.completion_mask
    logits, values = policy(rollout)
    logps = token_logps(logits, rollout.completion_ids).masked_fill(mask == 0, 0.0)
    surrogate, was_clipped = clipped_surrogate(logps, rollout.old_logps, experience.advantages, config.epsilon)
    value_loss, metrics = clipped_value_loss(values, experience.old_values, experience.returns, mask, config.value_epsilon)
    with torch.set_grad_enabled(config.entropy_coef > 0 and torch.is_grad_enabled()):
        entropy = masked_mean(entropy_of(logits), mask)
    loss = config.policy_coef * masked_mean(surrogate, mask) + config.value_coef * value_loss - config.entropy_coef * entropy
    if experience.ref_logits is not None:
        loss = loss + config.beta * masked_mean(exact_kl(logits, experience.ref_logits), mask)
    return loss, metrics | {
        "loss": loss.item(),
        "entropy": entropy.item(),
        "clip_ratio": masked_mean(was_clipped, mask).item(),
        "moved": masked_mean(per_token_kl(logps.detach(), rollout.old_logps, "k3"), mask).item(),
    }


def train(
    policy: ActorCritic,
    reference: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: PPOConfig = PPOConfig(),
    *,
    on_step: Callable[[dict], None] | None = None,
    progress: bool = True,
) -> list[dict]:
    """Train `policy` in place; a record of metrics for each step. An interrupt returns the history so far.

    Raises:
        ValueError: no rows.
    """
    if not len(rows):
        raise ValueError("The training set is empty.")
    keep_freed_memory()
    optimizer = torch.optim.AdamW(
        [{"params": [p for p in policy.model.parameters() if p.requires_grad], "lr": config.learning_rate},
         {"params": policy.value_head.parameters(), "lr": config.head_learning_rate}], weight_decay=0.0,
    )
    generator = torch.Generator(device=policy.model.device).manual_seed(config.seed)
    history: list[dict] = []
    bar = tqdm(total=config.steps, desc="PPO", unit="step", disable=not progress)
    try:
        for step in range(config.steps):
            batch = rows_of_step(rows, config.prompts_per_step, step, config.seed)
            experience = collect(policy, reference, tokenizer, batch, reward_funcs, config, generator)
            record = {"step": step + 1} | mean_metrics(_update(policy, experience, optimizer, config, step)) | experience.metrics
            history.append(record)
            if on_step:
                on_step(record)
            bar.update()
            bar.set_postfix(reward=f"{record['reward']:.2f}")
            if config.log_every and (step + 1) % config.log_every == 0:
                tqdm.write(log_line(history[-config.log_every :]))
    except KeyboardInterrupt:
        tqdm.write(f"Interrupted after {len(history)} of {config.steps} steps; what was learned so far is kept.")
    finally:
        bar.close()
    return history


def _update(policy: ActorCritic, experience: Experience, optimizer, config: PPOConfig, step: int) -> list[dict]:
    """Epochs of minibatches over one rollout, left early when the policy has moved far; the metrics of each update."""
    updates = []
    shuffle = torch.Generator().manual_seed(config.seed * 100_003 + step)
    for _ in range(config.epochs):
        order = torch.randperm(config.prompts_per_step, generator=shuffle)
        for prompts in order.chunk(config.minibatches):
            loss, metrics = ppo_loss(policy, experience.take(prompts.tolist()), config)
            updates.append(metrics)
            if config.target_kl and metrics["moved"] > config.target_kl:
                return updates
            apply_gradient(loss, policy, optimizer, config.max_grad_norm)
    return updates


def log_line(records: Sequence[dict]) -> str:
    """One line of averages over the last steps."""
    mean = mean_metrics([{k: v for k, v in record.items() if k != "step"} for record in records])
    return (
        f"step {records[-1]['step']:4d} | average reward {mean['reward']:6.3f} | average loss {mean['loss']:6.3f} | "
        f"value loss {mean['value_loss']:6.3f} | kl {mean['kl']:6.3f} | entropy {mean['entropy']:6.3f} | "
        f"length {mean['completions/mean_length']:4.1f}"
    )
