"""Right weights of SAPO."""

import torch

from shared.losses import ratio_weight


def ORACLE(ratio, advantages, tau_pos, tau_neg):
    temperatures = {"sapo_temperature_pos": tau_pos, "sapo_temperature_neg": tau_neg}
    return ratio_weight(ratio.log(), advantages, "sapo", **temperatures)


def by_autograd(ratio, advantages, tau_pos, tau_neg):
    log_ratio = ratio.detach().log().requires_grad_()
    tau = torch.where(advantages > 0, tau_pos, tau_neg)
    value = 4 / tau * torch.sigmoid(tau * (log_ratio.exp() - 1))
    return torch.autograd.grad(value.sum(), log_ratio)[0]


def by_cosh(ratio, adv, tau_pos, tau_neg):
    tau = tau_neg + (adv > 0) * (tau_pos - tau_neg)
    return ratio / torch.cosh(tau * (ratio - 1) / 2) ** 2


def masked(ratio, A, pos, neg):
    tau = torch.full_like(ratio, neg)
    tau[A > 0] = pos
    p = 1 / (1 + torch.exp(-tau * (ratio - 1)))
    return 4 * (p - p**2) * ratio


RIGHT = [by_autograd, by_cosh, masked]

EQUIVALENT = {"distance: return 1 - ratio": "the slope of the sigmoid is the same on both sides of 0"}
