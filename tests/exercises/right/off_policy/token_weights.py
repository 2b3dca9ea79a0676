"""Right weights of the tokens."""

import torch

from shared.losses import aggregate


def ORACLE(completion_mask, max_length):
    """The weight of a token is the slope of the aggregated loss in the token's own."""
    found = {}
    for loss_type in ("grpo", "dapo", "dr_grpo"):
        tokens = torch.zeros(completion_mask.shape, requires_grad=True)
        with torch.enable_grad():
            (found[loss_type],) = torch.autograd.grad(aggregate(tokens, completion_mask, loss_type, max_length), tokens)
    return found


def plain(mask, max_length):
    mask = mask.float()
    B = mask.size(0)
    return dict(
        grpo=mask / mask.sum(1, keepdim=True) / B,
        dapo=mask / mask.sum(),
        dr_grpo=mask / max_length / B,
    )


def looped(mask, max_length):
    B, C = mask.shape
    kinds = {name: torch.zeros(B, C) for name in ("dr_grpo", "dapo", "grpo")}
    total = int(mask.sum())
    for i in range(B):
        length = int(mask[i].sum())
        kinds["grpo"][i, :length] = 1 / (B * length)
        kinds["dapo"][i, :length] = 1 / total
        kinds["dr_grpo"][i, :length] = 1 / (B * max_length)
    return kinds


RIGHT = [plain, looped]
