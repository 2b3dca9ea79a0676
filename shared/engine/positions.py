"""The positions of a model, and a refusal of prompts and completions that do not fit into them."""

from collections.abc import Sequence

import torch

from shared.engine.unpadded import base_model

# What configurations call the number of positions; where there is none (Bloom, Mamba), any length will do.
NAMES = ("max_position_embeddings", "n_positions", "max_seq_len")


def positions_of(model: torch.nn.Module) -> int | None:
    """The most tokens that a row may have, prompt and completion together; None when the model sets no limit.

    With learned positions there are no weights beyond it, with rotary ones nothing there was ever trained. LongRoPE
    (Ding et al. 2024, arXiv:2402.13753) turns all tokens by other angles once a batch is longer than the length of
    pretraining: log-probabilities of a token would then depend on the other rows, so that length is the limit.
    """
    config = base_model(model).config.get_text_config(decoder=True)
    found = [getattr(config, name, None) for name in NAMES]
    limits = [limit for limit in found if limit is not None and limit > 0]  # XLNet says -1 for none
    for scaling in rotary_scalings(config):
        if scaling.get("rope_type") == "longrope":
            limits.append(scaling["original_max_position_embeddings"])
    return min(limits, default=None)


def rotary_scalings(config) -> list[dict]:
    """The settings of rotary positions: one dict, or one for each kind of layer."""
    scalings = getattr(config, "rope_parameters", None) or {}
    return [scalings, *(each for each in scalings.values() if isinstance(each, dict))]


def check_room(model: torch.nn.Module, prompt_lengths: Sequence[int], max_new_tokens: int) -> None:
    """Raise ValueError when a prompt and `max_new_tokens` more tokens do not fit into the model's positions.

    prompt_lengths: the tokens of each of N prompts.
    """
    limit = positions_of(model)
    longest = max(prompt_lengths)
    if limit is None or longest + max_new_tokens <= limit:
        return
    room = limit - longest
    advice = f"set max_new_tokens to at most {room}, or give shorter prompts" if room > 0 else "give shorter prompts"
    raise ValueError(
        f"Prompt {list(prompt_lengths).index(longest) + 1} of {len(prompt_lengths)} has {longest} tokens and may be "
        f"followed by {max_new_tokens} (max_new_tokens), but {type(base_model(model)).__name__} has positions for "
        f"{limit} tokens in all: {advice}."
    )
