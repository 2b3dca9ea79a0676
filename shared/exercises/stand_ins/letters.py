"""Embeddings without a model: where a soft reward asks for the meaning of texts, their letters stand for it."""

import torch
from torch import Tensor


def letters(texts: list[str]) -> Tensor:
    """Unit vectors (n, 3) that stand for embeddings: the sum of a direction for each character."""
    return directions(texts, 97)


def turned(texts: list[str]) -> Tensor:
    """Other unit vectors of the same texts, as the notebook has two ways to embed them."""
    return directions(texts, 89)


def directions(texts: list[str], period: int) -> Tensor:
    vectors = []
    for text in texts:
        codes = torch.tensor([1.0, *(float(ord(letter) % period) for letter in text)])
        vectors.append(torch.stack([torch.cos(codes), torch.sin(codes), torch.cos(2 * codes)], dim=1).sum(dim=0))
    return torch.nn.functional.normalize(torch.stack(vectors), dim=1)
