"""Right ways to score a completion."""

import torch

ORACLE = None  # `shared.logps` scores rollouts; the exercise of one step compares with it


def joined(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    mask = torch.cat([prompt_mask, completion_mask], 1)
    ids = torch.cat([prompt_ids, completion_ids], 1)
    logits = model(ids, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(0)).logits
    return logits[:, prompt_ids.size(1) - 1 : -1]


def row_by_row(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    rows = []
    for p, pm, c, cm in zip(prompt_ids, prompt_mask, completion_ids, completion_mask):
        n = int(cm.sum())
        ids = torch.cat([p[pm.bool()], c[:n]])[None]
        logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0, int(pm.sum()) - 1 : -1]
        row = logits.log_softmax(-1).gather(-1, c[:n, None])[:, 0]
        rows.append(torch.cat([row, row.new_zeros(len(c) - n)]))
    return torch.stack(rows)


def unmasked(*arguments):
    """Right but for the padding."""
    logits = joined(*arguments)
    return logits.gather(-1, arguments[3][..., None]).squeeze(-1) - logits.logsumexp(-1)


def with_cross_entropy(*arguments):
    losses = torch.nn.functional.cross_entropy(joined(*arguments).transpose(1, 2), arguments[3], reduction="none")
    return -losses * arguments[4]


def in_double(*arguments):
    return unmasked(*arguments).double() * arguments[4]


def by_index(*arguments):
    logps = joined(*arguments).log_softmax(-1)
    B, C, _ = logps.shape
    return logps[torch.arange(B)[:, None], torch.arange(C), arguments[3]] * arguments[4]


def of_a_categorical(*arguments):
    return torch.distributions.Categorical(logits=joined(*arguments)).log_prob(arguments[3]) * arguments[4]


def one_hot(*arguments):
    logps = joined(*arguments).log_softmax(-1)
    chosen = torch.nn.functional.one_hot(arguments[3], logps.size(-1)).to(logps.dtype)
    return torch.einsum("bcv,bcv->bc", logps, chosen) * arguments[4]


def padding_at_minus_infinity_is_filled(*arguments):
    return unmasked(*arguments).masked_fill(arguments[4] == 0, 0.0)


RIGHT = [
    row_by_row,
    with_cross_entropy,
    in_double,
    by_index,
    of_a_categorical,
    one_hot,
    padding_at_minus_infinity_is_filled,
]
EQUIVALENT = {
    "chosen: return log_probabilities.gather(-1, completion_ids[..., None])[..., -1]": "there is one place in that axis",
}
