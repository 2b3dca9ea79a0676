"""Right ways to write the clipped loss."""

import torch

from shared.losses import grpo_loss


def ORACLE(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return grpo_loss(logps, old_logps, advantages, completion_mask, ref_logps, beta=beta, epsilon=epsilon)[0]


def k3(logps, ref_logps):
    return torch.expm1(ref_logps - logps) - (ref_logps - logps)


def two_sided(logps, old, adv, mask, ref, beta, eps):
    ratio = (logps - old).exp()
    limited = torch.where(adv[:, None] > 0, ratio.clamp(max=1 + eps), ratio.clamp(min=1 - eps))
    per_token = -limited * adv[:, None] + beta * k3(logps, ref)
    return torch.stack([row[m.bool()].mean() for row, m in zip(per_token, mask)]).mean()


def looped(logps, old, adv, mask, ref, beta, eps):
    total = 0.0
    for i in range(len(adv)):
        n = int(mask[i].sum())
        terms = []
        for t in range(n):
            r = torch.exp(logps[i, t] - old[i, t])
            surrogate = torch.min(r * adv[i], torch.clip(r, 1 - eps, 1 + eps) * adv[i])
            terms.append(-surrogate + beta * k3(logps[i, t], ref[i, t]))
        total = total + sum(terms) / n
    return total / len(adv)


def larger_of_losses(logps, old, adv, mask, ref, beta, eps):
    ratio = (logps - old).exp()
    adv = adv.unsqueeze(1)
    mask = mask.bool()
    worst = torch.max(-adv * ratio, -adv * ratio.clamp(1 - eps, 1 + eps)) + beta * k3(logps, ref)
    return (worst.masked_fill(~mask, 0).sum(1) / mask.sum(1)).mean()


def in_double(*arguments):
    return two_sided(*arguments).double()


def with_einsum(logps, old, adv, mask, ref, beta, eps):
    mask = mask.float()
    ratio = (logps - old).exp()
    surrogate = torch.minimum(
        torch.einsum("bc,b->bc", ratio, adv), torch.einsum("bc,b->bc", ratio.clamp(1 - eps, 1 + eps), adv)
    )
    weights = mask / mask.sum(1, keepdim=True) / len(adv)
    return torch.einsum("bc,bc->", beta * k3(logps, ref) - surrogate, weights)


def mapped(logps, old, adv, mask, ref, beta, eps):
    def of_completion(logps, old, a, mask, ref):
        ratio = torch.exp(logps - old)
        per_token = beta * k3(logps, ref) - torch.minimum(ratio * a, ratio.clamp(1 - eps, 1 + eps) * a)
        return (per_token * mask).sum() / mask.sum()

    return torch.vmap(of_completion)(logps, old, adv, mask, ref).mean()


def in_two_terms(logps, old, adv, mask, ref, beta, eps):
    def mean(x):
        return ((x * mask).sum(-1) / mask.sum(-1)).mean()

    ratio = (logps - old).exp()
    policy = mean(torch.minimum(ratio * adv[:, None], ratio.clamp(1 - eps, 1 + eps) * adv[:, None]))
    return beta * mean(k3(logps, ref)) - policy


def in_place_on_a_copy(logps, old, adv, mask, ref, beta, eps):
    per_token = (logps - old).exp().clone()
    per_token = -torch.minimum(per_token * adv[:, None], per_token.clamp(1 - eps, 1 + eps) * adv[:, None])
    per_token += beta * k3(logps, ref)
    per_token[mask == 0] = 0.0
    return (per_token.sum(dim=1) / mask.sum(dim=1)).mean()


def with_where(logps, old, adv, mask, ref, beta, eps):
    ratio = torch.where(mask == 1, logps - old, 0.0).exp()
    A = adv.view(-1, 1).expand_as(ratio)
    outside = ((A > 0) & (ratio > 1 + eps)) | ((A < 0) & (ratio < 1 - eps))
    surrogate = torch.where(outside, ratio.clamp(1 - eps, 1 + eps).detach(), ratio) * A
    per_token = torch.where(mask == 1, beta * k3(logps, ref) - surrogate, 0.0)
    return (per_token.sum(1) / mask.sum(1)).sum() / len(adv)


RIGHT = [
    two_sided,
    looped,
    larger_of_losses,
    in_double,
    with_einsum,
    mapped,
    in_two_terms,
    in_place_on_a_copy,
    with_where,
]
EQUIVALENT = {
    "surrogate: return torch.minimum(clipped, free)": "the smaller of two is the same in any order",
}
