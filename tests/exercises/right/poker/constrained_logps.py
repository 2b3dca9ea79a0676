"""Right ways to score a token of a constrained policy."""

import torch

ORACLE = None  # `shared.logps` scores whole rollouts


def by_exponentials(logits, allowed, drawn):
    """In float64, the allowed tokens' shares added up."""
    shares = torch.where(allowed, logits.double(), -torch.inf).exp()
    return (shares.gather(1, drawn[:, None])[:, 0] / shares.sum(dim=1)).log()


RIGHT = [by_exponentials]
EQUIVALENT = {
    "log_probabilities: return kept.log_softmax(dim=1)": "of two axes the last is 1",
    "logps: return log_probabilities.gather(1, drawn[:, None])[:, -1]": "there is one place in that axis",
}
