"""Right ways to add up a gradient in parts; `sequence_logps`, `gspo_loss` and the numbers are a notebook's."""

import torch

ORACLE = None
G, BETA, EPSILON = 2, 0.1, 0.2


def sequence_logps(part): ...


def gspo_loss(logps, old_logps, advantages, ref_logps, beta, epsilon): ...


def weighted_before(rollout, advantages, parts):
    loss = 0.0
    for prompts in torch.arange(len(rollout.prompts)).chunk(parts):
        part = rollout.take(prompts.tolist())
        chosen = (prompts[:, None] * G + torch.arange(G)).flatten()
        logps, old_logps, ref_logps = sequence_logps(part)
        part_loss = gspo_loss(logps, old_logps, advantages[chosen], ref_logps, BETA, EPSILON)
        part_loss = part_loss * len(part) / len(rollout)
        part_loss.backward()
        loss += part_loss.item()
    return loss, 0.0


def weighted_in_the_backward_pass(rollout, advantages, parts):
    losses = []
    for prompts in torch.arange(len(rollout.prompts)).chunk(parts):
        part = rollout.take(prompts.tolist())
        chosen = torch.cat([torch.arange(n * G, n * G + G) for n in prompts.tolist()])
        logps, old_logps, ref_logps = sequence_logps(part)
        share = torch.tensor(len(chosen) / len(advantages))
        part_loss = gspo_loss(logps, old_logps, advantages[chosen], ref_logps, BETA, EPSILON)
        part_loss.backward(share)
        losses.append(share * part_loss.detach())
    return torch.stack(losses).sum().item(), 0.0


RIGHT = [weighted_before, weighted_in_the_backward_pass]
EQUIVALENT = {
    "weighted: return [mean * share for mean, share in zip(shares, means)]": "of two numbers or truths, in any order",
    "parts is always 1": "all parts together make the gradient of the whole batch; parts save memory",
    "chunks: return [chosen.flatten() for chosen in torch.arange(len(advantages)).view(-1, G)]": "the parts of any cut add up to the same",
    "chunks: return [chosen.flatten() for chosen in torch.arange(len(advantages)).chunk(parts)]": "the parts of any cut add up to the same",
    "chunks: return [chosen.flatten() for chosen in torch.arange(len(advantages)).view(G, -1).chunk(parts)]": "the parts of any cut add up to the same",
}
