"""The loss of a rollout in parts, with the memory of one: for losses that a notebook writes, on models with many words.

A pass keeps what the way back needs, and a completion of six tokens behind fifty of a prompt makes 56 rows of 50,000
logits, in each of 30 layers as many activations. So the memory of a loss written as its formula has it grows with the
completions of a step. Here the rollout is cut into parts of whole prompts; of each part only the loss is kept, and on the
way back it is computed again, one part behind the other. A rollout that fits whole is computed once, as if this were not
here.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from shared.engine import piece_size
from shared.rollout import Rollout


def in_parts(
    loss_of: Callable[..., Float[Tensor, ""]],
    model: PreTrainedModel,
    reference: PreTrainedModel | None,
    rollout: Rollout,
    rewards: Float[Tensor, "B"],
    *settings,
) -> Float[Tensor, ""]:
    """`loss_of(model, reference, rollout, rewards, *settings)`, a mean over completions, as the mean over its parts.

    A loss of 0.3 over four prompts and one of 0.1 over two make 4/6 of 0.3 and 2/6 of 0.1: 0.23.
    """
    N = len(rollout.prompts)
    parts = torch.arange(N).split(prompts_at_once(model, rollout))
    if len(parts) == 1:
        return loss_of(model, reference, rollout, rewards, *settings)
    loss = torch.zeros((), device=rollout.completion_ids.device)
    for prompts in parts:
        part = rollout.take(prompts.tolist()), rewards[rollout.rows_of(prompts)]
        part_loss = checkpoint(loss_of, model, reference, *part, *settings, use_reentrant=False)
        loss = loss + len(prompts) / N * part_loss
    return loss


def prompts_at_once(model: PreTrainedModel, rollout: Rollout) -> int:
    """The number of prompts whose completions make as many logits as are computed at once; at least one."""
    tokens = rollout.prompt_ids.size(1) + rollout.completion_ids.size(1)
    logits = rollout.num_generations * tokens * model.config.get_text_config(decoder=True).vocab_size
    return max(1, piece_size.LOGITS_AT_ONCE // logits)
