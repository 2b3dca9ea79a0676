"""Right ways to write group advantages."""

import torch

from shared import advantages


def ORACLE(rewards, num_generations):
    return advantages.group_advantages(rewards, num_generations)[0]


def looped(rewards, G):
    out = []
    for i in range(0, len(rewards), G):
        group = [float(r) for r in rewards[i : i + G]]
        mean = sum(group) / G
        std = (sum((r - mean) ** 2 for r in group) / G) ** 0.5
        out += [(r - mean) / (std + 1e-8) for r in group]
    return torch.tensor(out)


def reshaped(rewards, G):
    groups = rewards.double().reshape(-1, G)
    std = groups.var(1, unbiased=False).sqrt()[:, None]
    return torch.where(std > 0, (groups - groups.mean(1)[:, None]) / std.clamp(min=1e-6), 0.0).flatten()


def through_numpy(rewards, G):
    groups = rewards.numpy().reshape(-1, G)
    scaled = (groups - groups.mean(1, keepdims=True)) / (groups.std(1, keepdims=True) + 1e-6)
    return torch.from_numpy(scaled.reshape(-1))


def repeated(rewards, G):
    mean = rewards.view(-1, G).mean(1).repeat_interleave(G)
    std = rewards.view(-1, G).std(1, correction=0).repeat_interleave(G)
    return (rewards - mean) / (std + 1e-5)


def half_precision(rewards, G):
    return looped(rewards, G).half()


def layer_norm(rewards, num_generations):
    groups = rewards.unflatten(0, (-1, num_generations))
    return torch.nn.functional.layer_norm(groups, (num_generations,), eps=1e-8).flatten()


def in_chunks(rewards, G):
    return torch.cat([(group - group.mean()) / (group.std(unbiased=False) + 1e-4) for group in rewards.split(G)])


def mapped(rewards, G):
    return torch.vmap(lambda g: (g - g.mean()) / (g.var(correction=0).sqrt() + 1e-4))(rewards.view(-1, G)).ravel()


def with_einsum(rewards, G):
    groups = rewards.view(-1, G)
    mean = torch.einsum("ng->n", groups) / G
    centred = groups - mean[:, None]
    std = (torch.einsum("ng,ng->n", centred, centred) / G).sqrt()
    return (centred / (std[:, None] + 1e-4)).reshape(-1)


def in_place_on_a_copy(rewards, G):
    groups = rewards.clone().view(-1, G)
    groups -= groups.mean(dim=1, keepdim=True)
    groups /= groups.pow(2).mean(dim=1, keepdim=True).sqrt() + 1e-4
    return groups.view(-1)


RIGHT = [
    looped,
    reshaped,
    through_numpy,
    repeated,
    half_precision,
    layer_norm,
    in_chunks,
    mapped,
    with_einsum,
    in_place_on_a_copy,
]
EQUIVALENT = {
    "scaled: return centred / (spread - added)": "any small number keeps the denominator from 0, as in other styles above",
}
