"""Right slopes of the three estimators of the KL."""

import torch


def ORACLE(log_r):
    return by_autograd(log_r)


def by_autograd(log_r):
    log_pi = (-log_r).detach().requires_grad_()
    with torch.enable_grad():
        r = -log_pi
        values = {"k1": -r, "k2": r**2 / 2, "k3": r.exp() - 1 - r}
        return {name: torch.autograd.grad(value.sum(), log_pi)[0] for name, value in values.items()}
