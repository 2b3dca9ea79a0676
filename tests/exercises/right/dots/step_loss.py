"""Right ways to put a step together."""

import torch

from shared.advantages import group_advantages
from shared.logps import completion_logps
from shared.losses import grpo_loss
from tests.exercises.right.dots.group_advantages import looped
from tests.exercises.right.dots.grpo_loss import two_sided


def ORACLE(model, reference, rollout, rewards, beta, epsilon):
    logps, _ = completion_logps(model, rollout)
    with torch.no_grad():
        ref_logps, _ = completion_logps(reference, rollout)
    advantages = group_advantages(rewards, rollout.num_generations)[0]
    mask = rollout.completion_mask
    return grpo_loss(logps, rollout.old_logps, advantages, mask, ref_logps, beta=beta, epsilon=epsilon)[0]


def one_at_a_time(model, reference, rollout, rewards, beta, epsilon):
    """One completion after the other, without any padding."""
    advantages = looped(rewards, rollout.num_generations)
    total = 0.0
    for i, mask in enumerate(rollout.completion_mask):
        prompt = i // rollout.num_generations
        n = int(mask.sum())
        real = rollout.prompt_ids[prompt][rollout.prompt_mask[prompt].bool()]
        ids = torch.cat([real, rollout.completion_ids[i, :n]])[None]
        logps = scored(model, ids, n)
        ref_logps = scored(reference, ids, n).detach()
        old = rollout.old_logps[None, i, :n]
        total = total + two_sided(logps, old, advantages[i : i + 1], torch.ones(1, n), ref_logps, beta, epsilon)
    return total / len(rollout)


def scored(model, ids, n):
    logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0, -n - 1 : -1]
    return logits.log_softmax(-1).gather(-1, ids[0, -n:, None])[None, :, 0]


def prompt_by_prompt(model, reference, rollout, rewards, beta, epsilon):
    """Minibatches of one prompt, weighted by their share."""
    G = rollout.num_generations
    losses = []
    for n in range(len(rollout.prompts)):
        losses.append(ORACLE(model, reference, rollout.take([n]), rewards[n * G : (n + 1) * G], beta, epsilon))
    return torch.stack(losses).mean()


RIGHT = [one_at_a_time, prompt_by_prompt]
EQUIVALENT = {
    "ref_logps: return SCORED(reference, *batch)": "the gradient that counts is by the policy; one by the reference is thrown away",
}
