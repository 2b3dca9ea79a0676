"""Right log-probabilities of completions when only some tokens are allowed."""

import torch

ORACLE = None  # the notebook holds its function against `shared.exact.enumerated_logps`


def token_by_token(logits, completion_ids, allowed):
    K, C = completion_ids.shape
    P = logits.shape[1] - C
    totals = []
    for k in range(K):
        total = torch.zeros(())
        for t in range(C):
            scores = logits[k, P - 1 + t]
            open_to = scores[allowed[k, t]]
            total = total + scores[completion_ids[k, t]] - torch.logsumexp(open_to, dim=0)
        totals.append(total)
    return torch.stack(totals)


def by_cross_entropy(logits, completion_ids, allowed):
    K, C = completion_ids.shape
    scores = torch.where(allowed, logits[:, -C - 1 : -1], torch.tensor(float("-inf")))
    losses = torch.nn.functional.cross_entropy(scores.flatten(0, 1), completion_ids.flatten(), reduction="none")
    return -losses.view(K, C).sum(1)


def with_one_hot(logits, completion_ids, allowed):
    C = completion_ids.size(1)
    scores = logits[:, -C - 1 : -1] + torch.where(allowed, 0.0, -1e9)
    chosen = torch.nn.functional.one_hot(completion_ids, logits.size(-1)).bool()
    return scores.log_softmax(-1)[chosen].view(-1, C).sum(dim=1)


RIGHT = [token_by_token, by_cross_entropy, with_one_hot]
EQUIVALENT = {
    "chosen: return log_probabilities.gather(-1, completion_ids[..., None])[..., -1]": "there is one place in that axis",
}
