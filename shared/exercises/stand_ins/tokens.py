"""A tokenizer's special tokens, for functions that name them: padding is the end, as in the cases that hold tokens."""

from types import SimpleNamespace

END = 1  # EOS, and padding too
TOKENIZER = SimpleNamespace(eos_token_id=END, pad_token_id=END)
