"""The log-probability of a chosen token and the entropy, made of logits without storing more than a loss needs.

Optional reading. `token_logps(logits, choice)` equals these two lines, in value and in gradient
(`tests/engine/test_logits.py`, `test_the_short_gradient_of_a_log_probability_is_the_one_autograd_finds`):

    logps = logits.log_softmax(dim=-1)
    return logps.gather(-1, choice[..., None])[..., 0]

With a large vocabulary the logits are by far the largest tensors of a step, and passes over them cost more than the
arithmetic: the lines above store the log-softmax, and autograd fills two more tensors of that size on its way back.
Here only the logits stay, the gradient is written in one pass, and both go chunk by chunk, so that a chunk is still
in the processor's cache when the next operation reads it. Measured, with an entropy that is only logged: a step of
the embedded model 104 ms instead of 118 to 124 (benchmarks/README.md).

Several tokens may be drawn from one row of logits (`shared.engine.contexts`); then the row is passed over once for
all of them, forward and back.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 1 << 20  # logits in a chunk: 4 MB in float32, which a core's cache holds
CHUNK_ON_A_DEVICE = 1 << 26  # 256 MB: there each operation costs time, and a small chunk as much as a large one


def in_chunks(logits: Float[Tensor, "L K"]) -> list[slice]:
    """The L rows cut into slices of at most CHUNK logits, or of one row. CHUNK 20 and K 8: rows 0:2, 2:4, ..."""
    chunk = CHUNK if logits.device.type == "cpu" else CHUNK_ON_A_DEVICE
    rows = max(1, chunk // logits.size(-1))
    return [slice(first, first + rows) for first in range(0, max(1, len(logits)), rows)]


class TokenLogps(torch.autograd.Function):
    """log softmax(logits[row])[choice], and its gradient: one_hot(choice) - softmax(logits[row]), added up by row."""

    @staticmethod
    def forward(
        ctx, logits: Float[Tensor, "K V"], choice: Int[Tensor, "L"], row: Int[Tensor, "L"]
    ) -> Float[Tensor, "L"]:
        chosen = row * logits.size(-1) + choice  # (L,), among K x V
        ctx.save_for_backward(logits, chosen, row)
        largest = logits.new_empty(len(logits))  # (K,)
        log_sum = logits.new_empty(len(logits))  # of exp(logits - largest), which cannot overflow
        for rows in in_chunks(logits):
            largest[rows] = logits[rows].amax(dim=-1)
            log_sum[rows] = (logits[rows] - largest[rows, None]).exp_().sum(dim=-1).log()
        above = logits.flatten().index_select(0, chosen) - largest.index_select(0, row)  # (L,)
        return above - log_sum.index_select(0, row)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Float[Tensor, "L"]) -> tuple[Float[Tensor, "K V"], None, None]:
        logits, chosen, row = ctx.saved_tensors
        weight = logits.new_zeros(len(logits)).index_add_(0, row, grad)  # (K,), of all tokens of a row
        result = torch.empty_like(logits)
        for rows in in_chunks(logits):
            torch.softmax(logits[rows], dim=-1, out=result[rows])
            result[rows].mul_(-weight[rows, None])
        result.view(-1).index_add_(0, chosen, grad)
        return result, None, None


def token_logps(
    logits: Float[Tensor, "*rows V"], choice: Int[Tensor, "*shape"], row: Int[Tensor, "*shape"] | None = None
) -> Float[Tensor, "*shape"]:
    """log softmax(logits)[choice], (*, V) and (*) to (*).

    row: which row of `logits`, (K, V) then, each choice was made from; None when each has its own, in order.
    """
    if row is None:
        row = torch.arange(choice.numel(), device=choice.device)
    logits = logits.flatten(0, -2).contiguous()
    return TokenLogps.apply(logits, choice.flatten(), row.flatten()).view(choice.shape)


def entropy_of(logits: Float[Tensor, "*shape K"]) -> Float[Tensor, "*shape"]:
    """Entropy in nats of softmax(logits), (*, K) to (*); tokens with logit -inf contribute 0."""
    logps = logits.log_softmax(dim=-1).clamp(min=torch.finfo(logits.dtype).min)  # 0 x -inf would be nan
    return -(logits.softmax(dim=-1) * logps).sum(dim=-1)
