"""Small fakes that the tests share: a tokenizer of single letters and randomly initialised models."""

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

LETTERS = "abcdefghij"
# Of every tiny model shaped like Llama, whose heads share keys and values; and the ids of `letter_tokenizer`.
LLAMA_SIZE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
LETTER_IDS = {"vocab_size": 12, "pad_token_id": 0, "bos_token_id": None, "eos_token_id": 1}


def letter_tokenizer(pad_is_eos: bool = False) -> PreTrainedTokenizerFast:
    """Every letter one token: <pad> 0, <eos> 1, a 2, b 3, ..."""
    vocabulary = {"<pad>": 0, "<eos>": 1} | {letter: i + 2 for i, letter in enumerate(LETTERS)}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    backend.decoder = decoders.Fuse()
    pad = "<eos>" if pad_is_eos else "<pad>"
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<eos>", pad_token=pad)


def tiny_llama(seed: int = 0, dropout: float = 0.0, initializer_range: float = 0.3) -> LlamaForCausalLM:
    """With a range of 0.3 its outputs are peaked, with 0.02 nearly uniform."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        **LLAMA_SIZE,
        **LETTER_IDS,
        attention_dropout=dropout,
        initializer_range=initializer_range,
    )
    return LlamaForCausalLM(config)


def tiny_gpt2(seed: int = 0, dropout: float = 0.0) -> GPT2LMHeadModel:
    """Learned positions and, on request, dropout: the two things Llama does not have."""
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=12,
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=4,
        resid_pdrop=dropout,
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        initializer_range=0.3,
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=0,
    )
    return GPT2LMHeadModel(config)
