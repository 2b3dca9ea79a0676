"""Right masks of the policy's own tokens."""

import torch

ORACLE = None


def token_by_token(lengths, spoken, width):
    rows = []
    for length, spans in zip(lengths, spoken):
        row = []
        for place in range(width):
            heard = any(start <= place < stop for start, stop in spans)
            row.append(int(place < length and not heard))
        rows.append(row)
    return torch.tensor(rows)


def sliced(lengths, spoken, width):
    mask = torch.zeros(len(lengths), width)
    for row, length in enumerate(lengths):
        mask[row, :length] = 1
        for start, stop in spoken[row]:
            mask[row, start:stop] = 0
    return mask


RIGHT = [token_by_token, sliced]
