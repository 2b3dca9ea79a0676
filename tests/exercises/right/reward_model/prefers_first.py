"""Right ways to draw choices."""

import torch

ORACLE = None


def by_the_odds(first, second, noise, uniform):
    return uniform.logit() < (first - second) / noise


def by_exponentials(first, second, noise, uniform):
    one = (first / noise).exp()
    return uniform < one / (one + (second / noise).exp())


def by_softmax(first, second, noise, uniform):
    return torch.stack([first, second], dim=-1).div(noise).softmax(dim=-1)[:, 0] > uniform


RIGHT = [by_the_odds, by_exponentials, by_softmax]
EQUIVALENT = {"chosen: return uniform <= probability": "a number that is the probability itself is never drawn"}
