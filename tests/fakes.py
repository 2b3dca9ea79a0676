"""Small fakes that the tests share: a tokenizer of single letters and randomly initialised models."""

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
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


SPECIAL = ("<s>", "</s>", "[gMASK]", "<sop>", "<end_of_turn>", "<think>", "</think>")


def byte_tokenizer(around: str = "$A", **options) -> PreTrainedTokenizerFast:
    """Every byte one token, so that answers are long; `around` is what is put around a text, such as "<s> $A"."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE({token: i for i, token in enumerate([*SPECIAL, *alphabet])}, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    return _with_special_tokens(core, around, options)


# How tokenizers of the SentencePiece kind write a space: before the first word or not, and by which part of theirs.
SENTENCE_PIECE = ("Llama 2", "Llama 2 without a prefix", "Gemma", "Mistral", "Metaspace", "Metaspace without a prefix")


def piece_tokenizer(kind: str, around: str = "<s> $A", **options) -> PreTrainedTokenizerFast:
    """Characters, bytes for all others, and a few words with a space in front, `▁7`; of a kind in SENTENCE_PIECE."""
    characters = [chr(code) for code in range(33, 127)] + (["\n"] if kind == "Gemma" else [])
    merges = [("▁", "7"), ("▁", "+"), ("▁", "4"), ("▁", "="), ("▁", "▁"), ("7", "7"), ("\n", "\n")]
    merges = [(left, right) for left, right in merges if {left, right} <= {"▁", *characters}]
    pieces = ["<unk>", *SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *characters, *map("".join, merges)]
    core = Tokenizer(
        models.BPE({piece: i for i, piece in enumerate(pieces)}, merges, unk_token="<unk>", byte_fallback=True)
    )
    spaces = [normalizers.Replace(" ", "▁")]
    decoded = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    if kind == "Llama 2":
        spaces = [normalizers.Prepend("▁"), *spaces]
    if kind in ("Llama 2", "Mistral"):
        decoded = [*decoded, decoders.Strip(" ", 1, 0)]
    scheme = {"Mistral": "first", "Metaspace": "always", "Metaspace without a prefix": "never"}.get(kind)
    if scheme is None:
        core.normalizer = normalizers.Sequence(spaces)
    else:
        core.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme=scheme, split=False)
    if kind.startswith("Metaspace"):
        decoded = [decoders.ByteFallback(), decoders.Metaspace("▁", prepend_scheme=scheme)]
    core.decoder = decoders.Sequence(decoded)
    return _with_special_tokens(core, around, {"unk_token": "<unk>"} | options)


def _with_special_tokens(core: Tokenizer, around: str, options: dict) -> PreTrainedTokenizerFast:
    core.add_special_tokens(list(SPECIAL))
    ids = [(token, core.token_to_id(token)) for token in SPECIAL]
    core.post_processor = processors.TemplateProcessing(single=around, special_tokens=ids)
    return PreTrainedTokenizerFast(
        tokenizer_object=core, **({"bos_token": "<s>", "eos_token": "</s>", "pad_token": "</s>"} | options)
    )


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
