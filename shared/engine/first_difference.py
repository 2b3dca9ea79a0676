"""The first block of a model whose output differs between a padded batch and one row at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shared.engine.sampling import position_ids
from shared.engine.unpadded import RowByRow

ENTRY = "the embeddings"
UNKNOWN = "the layer where it begins could not be located"
Seen = dict[str, list[Tensor]]  # the hidden states at each place, (rows, tokens, d) for each pass


def blocks_of(model: torch.nn.Module) -> dict[str, torch.nn.Module]:
    """The blocks through which every token passes, by their path in the model and in their order; {} if not found."""
    layers = getattr(model.config.get_text_config(decoder=True), "num_hidden_layers", 0)
    for path, module in model.named_modules():
        if isinstance(module, torch.nn.ModuleList) and layers and len(module) == layers:
            return {f"{path}.{i}": block for i, block in enumerate(module)}
    return {}


@contextmanager
def recording(blocks: dict[str, torch.nn.Module]) -> Iterator[Seen]:
    """Record the input of the first block and the output of each, as long as the context lasts."""
    seen: Seen = {place: [] for place in (ENTRY, *blocks)}

    def on_entry(block, args, kwargs):
        seen[ENTRY].append(args[0] if args else kwargs["hidden_states"])

    def on_exit(path):
        return lambda block, args, output: seen[path].append(output if isinstance(output, Tensor) else output[0])

    hooks = [block.register_forward_hook(on_exit(path)) for path, block in blocks.items()]
    hooks.append(next(iter(blocks.values())).register_forward_pre_hook(on_entry, with_kwargs=True))
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def departs(batch: Float[Tensor, "B W d"], rows: list[Tensor], mask: Int[Tensor, "B W"]) -> float:
    """The largest difference at a real token, as a share of the largest number; rows are (1, tokens, d) each."""
    real = torch.cat([batch[i][kept] for i, kept in enumerate(mask.bool())])
    alone = torch.cat([row[0] for row in rows])
    return ((real - alone).abs().max() / alone.abs().max()).item()


def first_departure(model: torch.nn.Module, ids: Int[Tensor, "B W"], mask: Int[Tensor, "B W"], tolerance: float) -> str:
    """A clause on where the hidden states of a padded batch first depart from those of its rows, one at a time.

    tolerance: the largest difference taken for rounding, as a share of the largest number of the hidden states.
    """
    blocks = blocks_of(model)
    if not blocks:
        return UNKNOWN
    with recording(blocks) as together:
        model(input_ids=ids, attention_mask=mask, position_ids=position_ids(mask), use_cache=False)
    with recording(blocks) as alone:
        RowByRow(model)(ids, mask)
    for place in together:
        once = len(together[place]) == 1 and len(alone[place]) == len(ids)
        if not once or together[place][0].dim() != 3:
            return UNKNOWN  # a block that serves several times, or hidden states of another shape
        share = departs(together[place][0], alone[place], mask)
        if not share <= tolerance:
            return f"the first hidden states that depart are those of {place}, by {share:.1%} of their largest number"
    return "all blocks agree, so it begins after the last one"
