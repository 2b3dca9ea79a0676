"""Right masks of the policy's own tokens."""

import torch

ORACLE = None


def sliced(lengths, spoken, width):
    mask = torch.zeros(len(lengths), width)
    for row, length in enumerate(lengths):
        mask[row, :length] = 1
        for start, stop in spoken[row]:
            mask[row, start:stop] = 0
    return mask


RIGHT = [sliced]
