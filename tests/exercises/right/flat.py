"""Right ways to copy an advantage to the tokens."""

import torch

ORACLE = None


def by_einsum(advantages, completion_mask):
    return torch.einsum("b,bc->bc", advantages, completion_mask.to(advantages.dtype))


def filled(advantages, completion_mask):
    result = torch.zeros(completion_mask.shape)
    for row, advantage in enumerate(advantages):
        result[row, : int(completion_mask[row].sum())] = advantage
    return result


def chosen(advantages, completion_mask):
    return torch.where(completion_mask == 1, advantages.unsqueeze(1), 0.0)


RIGHT = [by_einsum, filled, chosen]
EQUIVALENT = {
    "spread: return advantages[:, None]": "the product with the mask spreads it",
}
