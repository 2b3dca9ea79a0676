"""Right ways to measure how far the best of n moves."""

import math

import torch

from shared.selection import best_of_n_kl

ORACLE = best_of_n_kl


def looped(probs, n):
    total, before = 0.0, 0.0
    for p in probs.tolist():
        now = before + p
        q = now**n - before**n
        if q > 0:
            total += q * math.log(q / p)
        before = now
    return total


def in_float32(probs, n):
    F = torch.cumsum(probs, 0)
    F_before = torch.cat([torch.zeros(1), F[:-1]])
    q = F.pow(n) - F_before.pow(n)
    kept = q > 0
    return (q[kept] * torch.log(q[kept] / probs[kept])).sum()


def by_the_library(probs, n):
    F = torch.cat([torch.zeros(1), probs.cumsum(0)]).double()
    q = (F**n).diff()
    return torch.nn.functional.kl_div(probs.double().log(), q, reduction="sum")


RIGHT = [looped, in_float32, by_the_library]
EQUIVALENT = {"up_to: return policy.cumsum(dim=-1)": "the first axis is the last one"}
