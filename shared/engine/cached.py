"""One token after another with any causal language model, through its own forward pass and its own cache.

The cache is built from the model's configuration: beside keys and values it may hold windows that forget, or the state
of convolutions and recurrences (LFM2, Qwen3-Next, Falcon-H1), and `reorder_cache` is the one way to choose rows that
all of them know. A model that takes the cache hands it back with the logits. One that does not (GPT-1, XLNet, RWKV)
would draw every token but the first without its context, and is refused.
"""

import inspect
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from shared.engine.sampling import position_ids
from shared.engine.unpadded import base_model


def cache_argument(model: torch.nn.Module) -> str:
    """The name that the model's forward pass has for its cache: `cache_params` in the Mamba family, else `past_key_values`."""
    takes = inspect.signature(base_model(model).forward).parameters
    return "cache_params" if "cache_params" in takes else "past_key_values"


class CachedDecoder:
    """N prompts, padded on the left, and the nodes that follow them (see `shared.engine.decoding`).

    rows: which prompts to begin with.
    logits: (R, V), of the token after each of the R nodes.
    mask: (R, P + t), of the prompt and the t tokens since.

    Raises ValueError when the model takes no cache, or has adapters that lengthen the prompt.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        prompt_ids: Int[Tensor, "N P"],
        prompt_mask: Int[Tensor, "N P"],
        rows: Int[Tensor, "B"],
    ):
        if hasattr(model, "get_base_model") and model.active_peft_config.is_prompt_learning:  # of peft
            raise ValueError(
                "This adapter puts trained tokens before the prompt (prompt, prefix or P-tuning), which sampling with "
                "a cache does not do. Train LoRA adapters instead: load_policy(..., lora=True)."
            )
        self.model = model
        self.argument = cache_argument(model)
        self.cache = DynamicCache(config=model.config)
        try:
            logits = self._pass(prompt_ids, prompt_mask, position_ids(prompt_mask))
        except (AttributeError, TypeError) as error:
            raise ValueError(self._refusal(f"with it the model stops: {error}")) from error
        self.cache.reorder_cache(rows)
        self.mask = prompt_mask[rows]
        self.logits = logits[rows]

    def _pass(self, ids: Tensor, mask: Tensor, positions: Tensor) -> Float[Tensor, "R V"]:
        if self.argument == "cache_params":
            mask = mask[:, -ids.size(1) :]  # a state has taken in what came before: there are no keys to mask
        out = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            use_cache=True,
            logits_to_keep=1,
            **{self.argument: self.cache},
        )
        if getattr(out, self.argument, None) is not self.cache:
            raise ValueError(self._refusal("the model leaves it aside, so it would forget the prompt after one token"))
        return out.logits[:, -1]

    def _refusal(self, why: str) -> str:
        return (
            f"{type(base_model(self.model)).__name__} cannot be sampled here. Tokens are drawn one after another with "
            f"transformers' DynamicCache, and {why}. Choose another model."
        )

    def step(self, token: Sequence[int], parent: Sequence[int]) -> None:
        """Go on with these nodes: each is a token after one of the present nodes. Their logits are the next."""
        if list(parent) != list(range(len(self.mask))):
            self.keep(parent)
        token = torch.tensor(token, device=self.mask.device)
        self.mask = F.pad(self.mask, (0, 1), value=1)
        self.logits = self._pass(token[:, None], self.mask, self.mask.sum(dim=1, keepdim=True) - 1)

    def keep(self, rows: Sequence[int]) -> None:
        """The cache of these nodes, one of them several times where its completions part."""
        rows = torch.tensor(rows, device=self.mask.device)
        self.cache.reorder_cache(rows)
        self.mask = self.mask[rows]
