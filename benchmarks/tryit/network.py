"""A policy as an ONNX file: the form in which a browser can run it.

The page samples a group by asking for the next token of rows of one length, again and again, so the network needs
neither padding nor a cache. It is exported once; the trained policy is the same file with other weights.
"""

import warnings
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel

MOST_ROWS = 64
MOST_TOKENS = 128


class NextToken(nn.Module):
    """The logits of the token after each row. All rows have one length, so there is no padding."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Int[Tensor, "R T"]) -> Float[Tensor, "R V"]:
        T = ids.shape[1]
        later = torch.ones(T, T, dtype=torch.bool).triu(1)
        # Written out: the mask that the library makes by itself asks questions that no exported graph can answer.
        mask = torch.zeros(T, T).masked_fill(later, torch.finfo(torch.float32).min)
        positions = torch.arange(T)[None]
        output = self.model(
            input_ids=ids, attention_mask=mask[None, None], position_ids=positions, use_cache=False, logits_to_keep=1
        )
        return output.logits[:, -1]


def write_networks(before: PreTrainedModel, after: PreTrainedModel, folder: Path) -> None:
    """Write `before.onnx` and `after.onnx`, which take `ids` (R, T) and give `logits` (R, V).

    Args:
        before, after: one architecture on the CPU, with attention computed eagerly.

    Raises:
        ModuleNotFoundError: `onnx` or `onnxscript` is not installed.
        ValueError: the file does not name all weights.
    """
    network = NextToken(before).eval()
    rows = torch.export.Dim("R", min=1, max=MOST_ROWS)
    tokens = torch.export.Dim("T", min=2, max=MOST_TOKENS)
    example = torch.ones(2, 9, dtype=torch.long)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            network,
            (example,),
            input_names=["ids"],
            output_names=["logits"],
            dynamic_shapes=({0: rows, 1: tokens},),
            dynamo=True,
            optimize=False,  # which would fold weights into others without a name, and the browser does it anyway
            verbose=False,
        )
    program.save(folder / "before.onnx")
    weights = dict(NextToken(after).named_parameters(remove_duplicate=False))  # a matrix of two layers has two names
    known = {name: weights[name].detach() for name in program.model.graph.initializers if name in weights}
    if {id(weight) for weight in weights.values()} != {id(weights[name]) for name in known}:
        raise ValueError("The exported file does not name all weights, so it cannot hold those of another model.")
    program.apply_weights(known)
    program.save(folder / "after.onnx")
