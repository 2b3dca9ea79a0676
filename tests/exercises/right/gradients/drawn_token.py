"""Right ways to draw a token among those allowed."""

import torch

ORACLE = None


def multinomial(logits, allowed, generator):
    masked = torch.where(allowed, logits, -torch.inf)
    return torch.multinomial(masked.softmax(-1), num_samples=1, generator=generator).squeeze(1)


def by_cumulative_sum(logits, allowed, generator):
    p = logits.masked_fill(~allowed, float("-inf")).softmax(dim=-1)
    u = torch.rand(len(p), 1, generator=generator)
    return (p.cumsum(dim=-1) < u).sum(dim=-1).clamp(max=p.size(1) - 1)


def by_gumbel(logits, allowed, generator):
    noise = -torch.log(-torch.log(torch.rand(logits.shape, generator=generator)))
    return (logits + noise).masked_fill(~allowed, -torch.inf).argmax(dim=-1)


RIGHT = [multinomial, by_cumulative_sum, by_gumbel]
EQUIVALENT = {
    "weights: return open_to.softmax(dim=1)": "the last of two axes",
    "tokens: return torch.multinomial(weights, 2, generator=chance)[:, 0]": "the first of two draws is a draw",
    "tokens: return torch.multinomial(weights, 1, generator=chance)[:, -1]": "there is one draw",
}
