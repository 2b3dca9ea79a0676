"""Right ways to score a completion."""

import torch

ORACLE = None  # `shared.logps` scores rollouts; the exercise of one step compares with it


def joined(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    mask = torch.cat([prompt_mask, completion_mask], 1)
    ids = torch.cat([prompt_ids, completion_ids], 1)
    logits = model(ids, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(0)).logits
    return logits[:, prompt_ids.size(1) - 1 : -1]


def unmasked(*arguments):
    """Right but for the padding."""
    logits = joined(*arguments)
    return logits.gather(-1, arguments[3][..., None]).squeeze(-1) - logits.logsumexp(-1)


def in_double(*arguments):
    return unmasked(*arguments).double() * arguments[4]


RIGHT = [in_double]
EQUIVALENT = {
    "chosen: return log_probabilities.gather(-1, completion_ids[..., None])[..., -1]": "there is one place in that axis",
}
