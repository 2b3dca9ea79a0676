"""GRPO in one file, to be read from top to bottom (Shao et al. 2024, DeepSeekMath, arXiv:2402.03300, section 4.1).

    python -m shared.plain    # teaches the embedded model to count dots: about a minute on one core

A step samples G completions for each prompt, rewards them, compares each with its group, and makes those likelier that
did better. Loss and gradient are those of `shared.grpo` (`tests/test_plain.py`). What that has and this leaves out:

- Speed. Each prompt is computed G times over, padding is computed too, and every logit is kept: `shared.engine`.
- Choices. One loss, one KL estimator, temperature 1, no warm-up: `shared.losses`, `shared.kl`, `shared.grpo`.
- Chance that does not depend on the machine, checkpoints, several processes: `shared.training`.
- Any model. This one has no chat template, no dropout and one end-of-text token: `shared.models`, `shared.guard`.
"""

import copy
import random
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from shared.tasks import dots

MODEL = Path(__file__).parents[1] / "models" / "course-lm"  # 1.6 million parameters, pretrained; it counts badly


class Batch(NamedTuple):
    """B = prompts x G completions; those of one prompt stand next to each other."""

    prompt_ids: Tensor  # (B, P), padded on the left, so that every completion begins in the same column
    prompt_mask: Tensor  # (B, P)
    completion_ids: Tensor  # (B, C)
    completion_mask: Tensor  # (B, C), 1 up to and including the first EOS
    old_logps: Tensor  # (B, C), of each token under the policy that sampled it


def positions(mask: Tensor) -> Tensor:
    """The place of each token among the real ones of its row, which padding on the left must not shift. (B, W) -> (B, W)"""
    return (mask.cumsum(dim=1) - 1).clamp(min=0)


@torch.no_grad()
def sample(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, prompts: list[str], length: int, greedy=False):
    """One completion of at most `length` tokens for each prompt: a `Batch`, and the texts.

    Not `model.generate`: it may apply a top-k that nobody asked for, and then old_logps belong to another policy.
    """
    encoded = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left")
    prompt_ids, prompt_mask = encoded.input_ids, encoded.attention_mask  # (B, P)
    ids, mask, cache = prompt_ids, prompt_mask, None
    tokens, logps = [], []
    ended = torch.zeros(len(prompts), dtype=torch.bool)  # (B,)
    while len(tokens) < length and not ended.all():
        # Keys and values of earlier tokens are in the cache, so only the newest goes in.
        place = positions(mask)[:, -ids.size(1) :]
        out = model(ids, attention_mask=mask, position_ids=place, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        logp = out.logits[:, -1].log_softmax(dim=-1)  # (B, V)
        ids = logp.argmax(dim=-1, keepdim=True) if greedy else torch.multinomial(logp.exp(), 1)  # (B, 1)
        tokens.append(ids)
        logps.append(logp.gather(-1, ids))
        mask = torch.cat([mask, torch.ones_like(ids)], dim=1)
        ended |= ids[:, 0] == tokenizer.eos_token_id
    completion_ids = torch.cat(tokens, dim=1)  # (B, C); behind its EOS a row holds tokens that nobody reads

    # The mask comes from lengths. `ids != pad` would cut off the EOS of every model that pads with it, and a model
    # that is never paid for its EOS never learns to stop.
    is_eos = completion_ids == tokenizer.eos_token_id
    lengths = torch.where(is_eos.any(dim=1), is_eos.int().argmax(dim=1) + 1, len(tokens))  # (B,)
    completion_mask = (torch.arange(len(tokens)) < lengths[:, None]).long()  # (B, C)
    texts = [tokenizer.decode(row[:n], skip_special_tokens=True) for row, n in zip(completion_ids, lengths)]
    return Batch(prompt_ids, prompt_mask, completion_ids, completion_mask, torch.cat(logps, dim=1)), texts


def completion_logps(model: PreTrainedModel, batch: Batch) -> Tensor:
    """log pi(y_t | prompt, y_<t) of every completion token, with gradient. -> (B, C)"""
    ids = torch.cat([batch.prompt_ids, batch.completion_ids], dim=1)  # (B, P + C)
    mask = torch.cat([batch.prompt_mask, batch.completion_mask], dim=1)  # (B, P + C)
    C = batch.completion_ids.size(1)
    logits = model(ids, attention_mask=mask, position_ids=positions(mask), logits_to_keep=C + 1).logits
    logits = logits[:, :-1]  # (B, C, V): what stands at t predicts the token at t + 1
    return logits.log_softmax(dim=-1).gather(-1, batch.completion_ids[..., None])[..., 0]


def group_advantages(rewards: Tensor, G: int) -> Tensor:
    """A = (r - mean of its group) / (standard deviation of its group + 1e-4); all equal teaches nothing. (B,) -> (B,)"""
    groups = rewards.view(-1, G)
    centred = groups - groups.mean(dim=1, keepdim=True)
    return (centred / (groups.std(dim=1, correction=0, keepdim=True) + 1e-4)).view(-1)


def grpo_loss(logps, old_logps, ref_logps, advantages, completion_mask, epsilon=0.2, beta=0.02) -> Tensor:
    """Mean over completions of the mean over their tokens of  -min(ratio A, clip(ratio) A) + beta KL.

    The first four are (B, C), but advantages (B,): every token of a completion is paid alike.
    """
    A = advantages[:, None]  # (B, 1)
    # Masked before exp, not after: inf x 0 is nan.
    ratio = ((logps - old_logps) * completion_mask).exp()  # (B, C), 1 at the first update
    surrogate = torch.minimum(ratio * A, ratio.clamp(1 - epsilon, 1 + epsilon) * A)
    log_r = (ref_logps - logps) * completion_mask
    kl = log_r.exp() - 1 - log_r  # (B, C), k3: never negative, its mean is KL(policy || reference)
    loss = (beta * kl - surrogate) * completion_mask
    return (loss.sum(dim=1) / completion_mask.sum(dim=1)).mean()


def attempt(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: list[dict], greedy=False):
    """A completion for each row and its reward, (B,): 1 for the right number and nothing else, and 0 otherwise."""
    prompts = [row["prompt"] for row in rows]
    batch, texts = sample(model, tokenizer, prompts, dots.MAX_NEW_TOKENS, greedy)
    return batch, torch.tensor(dots.reward(prompts, texts, answer=[row["answer"] for row in rows]))


def train(model, tokenizer, rows, steps=20, prompts_per_step=16, G=8, updates=2, learning_rate=1e-4, seed=0) -> None:
    """Train `model` in place, and print a line every five steps."""
    torch.manual_seed(seed)
    order = random.Random(seed)
    # The reference is a copy: were it the policy itself, the KL would be 0 for ever and hold nothing back.
    reference = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.0)
    for step in range(1, steps + 1):
        drawn = [row for row in order.sample(rows, prompts_per_step) for _ in range(G)]  # B rows
        batch, rewards = attempt(model, tokenizer, drawn)
        advantages = group_advantages(rewards, G)  # (B,)
        with torch.no_grad():
            ref_logps = completion_logps(reference, batch)  # (B, C)
        for _ in range(updates):  # from the second on the ratio is not 1, and clipping may act
            logps = completion_logps(model, batch)  # (B, C)
            loss = grpo_loss(logps, batch.old_logps, ref_logps, advantages, batch.completion_mask)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if step % 5 == 0:
            print(f"step {step:3d}  reward {rewards.mean():.3f}  loss {loss.item():+z.4f}")


def main() -> None:
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(MODEL)  # ty: ignore[invalid-assignment]
    model = AutoModelForCausalLM.from_pretrained(MODEL).eval()
    held_out = dots.dataset("eval", 200)  # split by a hash of the row: none of them is in the training set
    _, before = attempt(model, tokenizer, held_out, greedy=True)
    train(model, tokenizer, dots.dataset("train", 512))
    _, after = attempt(model, tokenizer, held_out, greedy=True)
    print(f"held-out reward, greedy: {before.mean():.3f} before, {after.mean():.3f} after")


if __name__ == "__main__":
    main()
