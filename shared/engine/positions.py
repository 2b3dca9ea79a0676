"""The positions and the vocabulary of a model, and a refusal of texts that do not fit into them."""

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
    return positions_in(base_model(model).config)


def positions_in(config) -> int | None:
    """The same of a model that is not loaded, by its configuration."""
    config = config.get_text_config(decoder=True)
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


def vocabulary_of(model: torch.nn.Module) -> int:
    """The number of tokens that the model can read."""
    return base_model(model).get_input_embeddings().weight.shape[0]


def check_fit(model: torch.nn.Module, tokenizer, texts: Sequence[Sequence[int]], max_new_tokens: int = 0) -> None:
    """Raise ValueError when texts do not fit into the model's positions, or hold tokens that it does not know.

    texts: the ids of each of N texts.    max_new_tokens: so many more may follow; 0 for texts that are whole.
    """
    check_room(model, [len(ids) for ids in texts], max_new_tokens)
    size = vocabulary_of(model)
    used = {token for ids in texts for token in ids} | {tokenizer.pad_token_id or 0}
    if max(used) >= size:
        raise ValueError(
            f"The tokenizer has {tokenizer.decode([max(used)])!r} as the token {max(used)}, and "
            f"{type(base_model(model)).__name__} knows {size} tokens, from 0 to {size - 1}. Load the tokenizer with its own "
            "model, or call model.resize_token_embeddings(len(tokenizer)) before adapters are put on. For a padding token "
            "alone, tokenizer.pad_token = tokenizer.eos_token will do."
        )


def check_same_vocabulary(model: torch.nn.Module, other: torch.nn.Module, what: str) -> None:
    """Raise ValueError when another model, such as a teacher, has another number of tokens to choose from."""
    own, its = (base_model(one).config.get_text_config(decoder=True).vocab_size for one in (model, other))
    if own != its:
        raise ValueError(
            f"The {what} chooses among {its} tokens and the model among {own}, so their distributions cannot be compared. "
            f"Where one tokenizer serves both and the larger one is only padded, cut it: "
            f"{'model' if own > its else what}.resize_token_embeddings({min(own, its)}). Else take a {what} of the same "
            "family."
        )


def check_room(model: torch.nn.Module, lengths: Sequence[int], max_new_tokens: int = 0) -> None:
    """Raise ValueError when a text and `max_new_tokens` more tokens do not fit into the model's positions.

    lengths: the tokens of each of N texts.
    """
    limit = positions_of(model)
    longest = max(lengths, default=0)
    if limit is None or longest + max_new_tokens <= limit:
        return
    name = type(base_model(model)).__name__
    place = list(lengths).index(longest) + 1
    if not max_new_tokens:
        raise ValueError(
            f"Text {place} of {len(lengths)}, prompt and completion together, has {longest} tokens, but {name} has "
            f"positions for {limit}: leave such rows out, or give shorter ones."
        )
    room = limit - longest
    advice = f"set max_new_tokens to at most {room}, or give shorter prompts" if room > 0 else "give shorter prompts"
    raise ValueError(
        f"Prompt {place} of {len(lengths)} has {longest} tokens and may be followed by {max_new_tokens} "
        f"(max_new_tokens), but {name} has positions for {limit} tokens in all: {advice}."
    )
