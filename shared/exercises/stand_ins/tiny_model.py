"""A tiny language model on torch alone, called as transformers calls its models: a box need not import transformers.

It computes what GPT-2 does: learned positions, so that every slip with padding shows, and attention to what is earlier and
not masked. `tests/exercises/test_tiny_model.py` holds it to `GPT2LMHeadModel` with the same weights. It does not show a
cache, generation, labels or hidden states.
"""

from types import SimpleNamespace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shared.exercises.stand_ins.tokens import END

WIDTH = 16
HEADS = 2
LAYERS = 2
LONGEST = 64  # tokens


class Output(NamedTuple):
    """The output of a model. logits: (B, T, V)."""

    logits: Tensor


class TinyModel(nn.Module):
    """A model with random weights, drawn from torch's global generator.

    spread: the weights' standard deviation; 0.5 makes outputs that are far from uniform.
    """

    def __init__(self, vocabulary: int, spread: float = 0.5):
        super().__init__()
        self.config = SimpleNamespace(vocab_size=vocabulary, eos_token_id=END, pad_token_id=END)
        self.tokens = nn.Embedding(vocabulary, WIDTH)
        self.positions = nn.Embedding(LONGEST, WIDTH)
        self.layers = nn.ModuleList(_Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        for part in self.modules():
            if isinstance(part, (nn.Embedding, nn.Linear)):
                nn.init.normal_(part.weight, std=spread)
            if isinstance(part, nn.Linear):
                nn.init.zeros_(part.bias)

    @property
    def device(self) -> torch.device:
        return self.tokens.weight.device

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        logits_to_keep: int = 0,
        **switches: bool,
    ) -> Output:
        """The logits behind each token, or behind the last `logits_to_keep`.

        Ids, mask and positions are (B, T). Without positions padding is counted too. What else can be switched in models
        of transformers, such as `use_cache`, changes nothing here.
        """
        T = input_ids.size(1)
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        if position_ids is None:
            position_ids = torch.arange(T, device=self.device)
        hidden = self.tokens(input_ids) + self.positions(position_ids)  # (B, T, WIDTH)
        earlier = torch.ones(T, T, dtype=torch.bool, device=self.device).tril()
        hidden_from = ~(earlier & attention_mask[:, None, None, :].bool())  # (B, 1, T, T)
        # A finite number: a row of padding alone attends to all of it, and gives no nan.
        bias = torch.zeros(hidden_from.shape, device=self.device).masked_fill(
            hidden_from, torch.finfo(hidden.dtype).min
        )
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return Output(self.norm(hidden[:, -logits_to_keep:]) @ self.tokens.weight.T)


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm_before_attention = nn.LayerNorm(WIDTH)
        self.attention = nn.Linear(WIDTH, 3 * WIDTH)
        self.attended = nn.Linear(WIDTH, WIDTH)
        self.norm_before_wide = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        """The hidden states (B, T, WIDTH) one layer later. bias: added to the scores of attention, (B, 1, T, T)."""
        parts = self.attention(self.norm_before_attention(hidden)).chunk(3, dim=-1)
        query, key, value = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5 + bias
        heads = scores.softmax(dim=-1) @ value  # (B, HEADS, T, WIDTH / HEADS)
        hidden = hidden + self.attended(heads.transpose(1, 2).flatten(2))
        inner = F.gelu(self.wide(self.norm_before_wide(hidden)), approximate="tanh")
        return hidden + self.narrow(inner)
