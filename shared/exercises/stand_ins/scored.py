"""The result of an evaluation: which completion got which reward."""

from dataclasses import dataclass

import torch

from shared.exercises.results import NotAResult, Result, clipped, named


@dataclass(frozen=True)
class Scored(Result):
    """Completions and tensors of their rewards, read as the text "' 3' earns 1, ' 4' earns 0"."""

    def read(self, result) -> tuple[str, str]:
        if not isinstance(result, tuple) or len(result) < 2:
            raise NotAResult(f"it returns {named(result)}; return the completions and the tensor of their rewards.")
        completions, *rewards = result
        if not isinstance(completions, (list, tuple)) or not all(isinstance(text, str) for text in completions):
            raise NotAResult(f"its completions are {named(completions)}; return a list of texts.")
        complaint = ""
        columns = []
        for column in rewards:
            if not isinstance(column, torch.Tensor) or not column.is_floating_point():
                complaint = (
                    f"it returns {named(column)} as rewards; return a tensor of floats, whose mean is taken below."
                )
            if isinstance(column, torch.Tensor) and column.requires_grad:
                complaint = "its rewards carry a gradient. An evaluation needs none."
            columns.append(torch.as_tensor(column).flatten().tolist())
        if any(len(column) != len(completions) for column in columns):
            lengths = " and ".join(str(len(column)) for column in columns)
            numbers = [f"{number:g}" for column in columns for number in column]
            return (
                f"{len(completions)} completions and rewards for {lengths}: {', '.join(numbers)}",
                complaint,
            )
        earned = [" and ".join(f"{number:g}" for number in numbers) for numbers in zip(*columns)]
        return ", ".join(f"{clipped(text, 30)} earns {e}" for text, e in zip(map(repr, completions), earned)), complaint
