"""A tiny Llama in a GGUF file, packed into 4 bits like the real one, with a tokenizer of single bytes."""

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, quants
from transformers.convert_slow_tokenizer import bytes_to_unicode

WIDTH = 32  # the numbers of a block
PACKED = GGMLQuantizationType.Q4_1


def write_gguf(path: Path, *, kind: str = "llama", split: str = "smollm") -> dict[str, np.ndarray]:
    """Write the file; its matrices as they are after unpacking, by their names in it."""
    rng = np.random.default_rng(0)
    tokens = ["<pad>", "<s>", "</s>", *sorted(bytes_to_unicode().values()), "ĊĊ"]
    writer = GGUFWriter(path, kind)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_rope_dimension_count(WIDTH // 2)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(split)
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3, *[1] * (len(tokens) - 3)])
    writer.add_token_merges(["Ċ Ċ"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(0)
    shapes = {
        "token_embd": (len(tokens), WIDTH),
        "blk.0.attn_q": (WIDTH, WIDTH),
        "blk.0.attn_k": (WIDTH // 2, WIDTH),
        "blk.0.attn_v": (WIDTH // 2, WIDTH),
        "blk.0.attn_output": (WIDTH, WIDTH),
        "blk.0.ffn_gate": (2 * WIDTH, WIDTH),
        "blk.0.ffn_up": (2 * WIDTH, WIDTH),
        "blk.0.ffn_down": (WIDTH, 2 * WIDTH),
    }
    unpacked = {}
    for name, shape in shapes.items():
        packed = quants.quantize(rng.normal(size=shape).astype(np.float32), PACKED)
        writer.add_tensor(f"{name}.weight", packed, raw_dtype=PACKED)
        unpacked[name] = quants.dequantize(packed, PACKED)
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return unpacked
