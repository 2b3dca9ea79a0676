"""Tiny random models, and padded prompts and completions, for the exercises with a model."""

from functools import lru_cache

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from shared.exercises.drawing import Draw
from shared.exercises.stand_ins.tokens import END

VOCABULARY = 16


@lru_cache
def tiny_model(seed: int = 0) -> GPT2LMHeadModel:
    """A random model with learned positions, in which every slip with padding shows."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = GPT2Config(
            vocab_size=VOCABULARY,
            n_positions=32,
            n_embd=16,
            n_layer=2,
            n_head=2,
            initializer_range=0.5,
            bos_token_id=None,
            eos_token_id=END,
            pad_token_id=END,
        )
        return GPT2LMHeadModel(config).eval()


@lru_cache
def tiny_llama() -> LlamaForCausalLM:
    """A random model of one block; nobody changes it, copies are handed out."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=16,
        )
        return LlamaForCausalLM(config).eval()


def tokens(draw: Draw, *shape: int) -> Tensor:
    """Random tokens, none of them the end."""
    return torch.tensor(draw.some(range(2, VOCABULARY), torch.Size(shape).numel())).view(shape)


def prompts(draw: Draw, N: int, P: int) -> tuple[Tensor, Tensor]:
    """Ids and mask (N, P), padded on the left with END; a real token may be END too, as between turns of a chat."""
    mask = draw.mask(N, P).flip(1)
    ends = torch.tensor(draw.some([False, False, False, True], N * P)).view(N, P)
    return torch.where((mask == 1) & ~ends, tokens(draw, N, P), END), mask


def completions(draw: Draw, B: int, C: int) -> tuple[Tensor, Tensor]:
    """Ids and mask (B, C), padded on the right; those that are not cut end with END, which counts."""
    mask = draw.mask(B, C)
    ids = torch.where(mask == 1, tokens(draw, B, C), END)
    last = mask.sum(dim=1) - 1
    for row in range(B):
        if last[row] < C - 1 or draw.random() < 0.5:
            ids[row, last[row]] = END
    return ids, mask
