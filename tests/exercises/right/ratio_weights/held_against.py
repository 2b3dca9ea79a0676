"""Right measures of an estimator."""

import torch

ORACLE = None


def plain(draws, exact):
    mean = draws.mean(0)
    return {
        "bias": torch.linalg.vector_norm(mean - exact) / torch.linalg.vector_norm(exact),
        "noise": ((draws - mean) ** 2).sum(1).mean() ** 0.5 / torch.linalg.vector_norm(exact),
        "cosine": torch.cosine_similarity(mean, exact, dim=0),
    }


def by_variances(draws, exact):
    length = exact.square().sum().sqrt()
    mean = draws.sum(dim=0) / len(draws)
    spread = draws.var(dim=0, correction=0).sum().sqrt()
    return {
        "cosine": (mean * exact).sum() / (mean.norm() * length),
        "bias": torch.dist(mean, exact) / length,
        "noise": spread / length,
    }


def in_floats(draws, exact):
    relative = draws / exact.norm()
    mean = relative.mean(dim=0)
    unit = exact / exact.norm()
    return {
        "bias": torch.tensor(float((mean - unit).norm())),
        "noise": (relative - mean).norm() / len(draws) ** 0.5,
        "cosine": torch.dot(mean / mean.norm(), unit),
    }


RIGHT = [plain, by_variances, in_floats]

EQUIVALENT = {
    "bias: return (exact - mean).norm() / length": "a difference has one length, whichever way it is taken",
    "around: return (mean - draws).norm(dim=1)": "a difference has one length, whichever way it is taken",
}
