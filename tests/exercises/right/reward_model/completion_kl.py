"""Right ways to write the KL of completions."""

import torch

from shared import kl


def ORACLE(logits, ref_logits, completion_mask):
    return kl.completion_kl(logits, ref_logits, completion_mask)


def by_torch(logits, ref_logits, completion_mask):
    terms = torch.nn.functional.kl_div(
        ref_logits.log_softmax(-1), logits.log_softmax(-1), reduction="none", log_target=True
    )
    return (terms.sum(-1) * completion_mask).sum(-1)


def by_distributions(logits, ref_logits, completion_mask):
    policy = torch.distributions.Categorical(logits=logits)
    reference = torch.distributions.Categorical(logits=ref_logits)
    return torch.distributions.kl_divergence(policy, reference).masked_fill(completion_mask == 0, 0).sum(dim=1)


def completion_by_completion(logits, ref_logits, completion_mask):
    found = []
    for scores, ref_scores, mask in zip(logits, ref_logits, completion_mask):
        logps = scores[mask == 1].log_softmax(-1)
        found.append((logps.exp() * (logps - ref_scores[mask == 1].log_softmax(-1))).sum())
    return torch.stack(found)


RIGHT = [by_torch, by_distributions, completion_by_completion]
