"""Right losses of turns."""

import torch

ORACLE = None


def turn_by_turn(logps, advantages, mask):
    values = []
    for row in range(len(mask)):
        turn = None
        for place in range(mask.shape[1]):
            if mask[row, place] == 1:
                turn = logps[row, place] if turn is None else turn + logps[row, place]
            elif turn is not None:
                values.append(advantages[row] * turn)
                turn = None
        if turn is not None:
            values.append(advantages[row] * turn)
    return -torch.stack(values).mean()


def by_differences(logps, advantages, mask):
    zeros = torch.zeros(len(mask), 1)
    turns = (torch.diff(mask.float(), dim=1, prepend=zeros) == 1).sum()
    return -torch.einsum("bc,bc,b->", logps, mask.float(), advantages) / turns


RIGHT = [turn_by_turn, by_differences]
