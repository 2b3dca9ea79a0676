"""A sweep of `notebooks/reasoning_format.ipynb`: what carries a run past the balance of reward and KL that it derives?

The policy is one number, the logit of the probability of the format. Groups, advantages and loss are those of the
condition "KL, divided" of `reasoning_format`; the optimiser alone differs. Both rates are chosen so that the first ten
steps have the share of the format that the network has there, a half.
"""

from math import log

import torch

from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.reasoning_format import CONDITIONS as OF_THE_NETWORK
from benchmarks.sweeps.reasoning_format import PROMPTS, SAMPLING, G

BEFORE = 0.191  # the share of the format before training
LIKE = OF_THE_NETWORK["KL, divided"]


def adamw(number: torch.Tensor) -> torch.optim.Optimizer:
    return torch.optim.AdamW([number], lr=0.3, weight_decay=0.0)


def sgd(number: torch.Tensor) -> torch.optim.Optimizer:
    return torch.optim.SGD([number], lr=SAMPLING.max_new_tokens)  # the loss is over as many


CONDITIONS = {"one number, AdamW": adamw, "one number, SGD": sgd}


def run(name: str, seed: int, steps: int = LIKE.steps) -> dict[str, list[float]]:
    """Train the number with one optimiser and one seed: the probability of the format at each step."""
    chance = torch.Generator().manual_seed(seed)
    logit = torch.tensor(log(BEFORE / (1 - BEFORE)), requires_grad=True)
    optimizer = CONDITIONS[name](logit)
    reference = torch.tensor([1 - BEFORE, BEFORE]).log()
    mask = torch.ones(PROMPTS * G, 1)
    shares = []
    for _ in range(steps):
        logps = torch.nn.functional.logsigmoid(torch.stack([-logit, logit]))  # (2,): something else, the format
        said = torch.multinomial(logps.detach().exp(), PROMPTS * G, replacement=True, generator=chance)  # (B,)
        advantages = LIKE.advantages(said.float(), G)[0]
        of_said = logps[said][:, None], None, reference[said][:, None]  # (B, 1): completions of one token
        LIKE.loss(*of_said, mask, advantages, LIKE.beta).backward()
        shares.append(rounded(logps[1].detach().exp(), 4))
        optimizer.step()
        optimizer.zero_grad()
    return {"shares": shares}


def told(measured: dict) -> str:
    return f"the format in the last ten steps {sum(measured['shares'][-10:]) / 10:.3f}"
