"""Tables of N prompts and K completions, as the exercises about estimators get them."""

from torch import Tensor

from shared.exercises.drawing import Draw


def probabilities(draw: Draw, N: int, K: int) -> Tensor:
    """(N, K): positive, each row summing to 1."""
    shares = draw.numbers(N, K, least=0.05, most=1.0)
    return shares / shares.sum(dim=1, keepdim=True)


def reward_numbers(draw: Draw, N: int, K: int) -> Tensor:
    """(N, K): 0 and 1, as most tasks pay, or any numbers."""
    if draw.random() < 0.5:
        return draw.numbers(N, K, least=0.0, most=1.0).round()
    return draw.numbers(N, K)
