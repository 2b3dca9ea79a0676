"""A guard against models whose log-probabilities come out wrong here: it checks the first rollout and refuses training.

Sampling reads tokens one after another with a cache. Scoring reads whole completions in padded batches. For some models
both are written out anew (`shared.engine.llama`). A model that ignores padding, positions or the cache trains all the
same, on ratios that mean nothing. So two comparisons of log-probabilities are made, token by token:

(a) sampling with scoring. Before the first update they are the same policy. Compared are all completions of four
    prompts: the longest two, and the shortest two, which have the most padding. The mean of the *ratio* would show
    nothing, since it is 1 in expectation for any scorer; the mean of |log ratio| is not.
(b) scoring with the model's own pass: one row at a time, without padding, cache or a pass of ours. Compared are two
    completions after prompts of unequal length. Comparison (a) does not make this one needless: sampler and scorer share
    code, and could be wrong together.

Both are made under the distribution that was sampled: temperature, top-k, top-p and constraint included. Rounding alone
also makes a difference. How large it is in 51 families of models, which the limits come from, is in
benchmarks/families.md.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.llama import llama_in, take_general_path
from shared.engine.sampling import Sampling
from shared.engine.unpadded import RowByRow, base_model
from shared.logps import completion_logps, score_in_parts
from shared.reference import Reference, reference_model
from shared.rollout import Rollout

# The names under which configurations keep the number of experts.
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")


class UntrustedModel(ValueError):
    """A model whose log-probabilities are not those of its own forward pass."""


@dataclass(frozen=True)
class Gap:
    """|log ratio| over tokens, in nats: its mean and the largest."""

    mean: float
    largest: float

    @classmethod
    def of(cls, log_ratio: Float[Tensor, "n"]) -> "Gap":
        size = log_ratio.abs().float()
        return cls(size.mean().item(), size.max().item())

    def within(self, limit: "Gap") -> bool:
        """True if both numbers are at most the limit's."""
        return self.mean <= limit.mean and self.largest <= limit.largest  # False for nan

    def __str__(self) -> str:
        return f"by {self.mean:.2g} nats a token on average and {self.largest:.2g} at most"


# Rounding reaches 1e-6 on average and 6e-5 at most in the families that were measured; faults, hundredths of a nat.
FULL_PRECISION = Gap(mean=1e-3, largest=1e-2)
START_IN_FULL, START_IN_HALF = 1e-5, 1e-2  # of a token: the policy before its first update and its reference
FEW = 4  # prompts, or documents, on which that is looked at
# Eight bits: it reaches 0.015 on average. A single token may be off by 0.6, so the mean is judged alone.
HALF_PRECISION = Gap(mean=5e-2, largest=float("inf"))


@dataclass(frozen=True)
class GuardReport:
    """The outcome of both comparisons.

    sampling: the gap of comparison (a).    scoring: that of comparison (b).    limit: what both must stay within.
    fell_back: our own pass was wrong for this model, and transformers' pass is taken from now on. The rollout was
        sampled with the wrong one, so sample again and verify that. A frozen reference was copied before: call
        `shared.engine.llama.take_general_path` for it as well.
    """

    sampling: Gap
    scoring: Gap
    limit: Gap
    fell_back: bool = False

    @property
    def trusted(self) -> bool:
        return self.sampling.within(self.limit) and self.scoring.within(self.limit)


@torch.no_grad()
def verify(model: PreTrainedModel, rollout: Rollout) -> GuardReport:
    """Compare sampling, scoring and the model's own pass on a rollout that `model` has just sampled.

    It costs a scoring pass of four groups, and four passes of one or two rows. Call it under the autocast of the
    training.

    Raises UntrustedModel: they differ by more than rounding.
    """
    pair = unequal_pair(rollout)
    report = compare(model, rollout, pair)
    if report.trusted:
        return report
    if llama_in(model) is not None:  # the model runs through our own pass, which may be what is wrong
        fast = report
        take_general_path(model)
        report = compare(model, rollout, pair)
        # Comparison (a) is not asked here: the rollout was sampled with the pass that was left.
        if report.scoring.within(report.limit):
            warnings.warn(fast_path_left(model, fast), stacklevel=3)  # past the decorator: the caller's line
            return replace(report, fell_back=True)
    raise UntrustedModel(refusal(model, report))


def compare(model: PreTrainedModel, rollout: Rollout, pair: Rollout) -> GuardReport:
    """Comparison (a) on the rollout's longest and shortest prompts, (b) on the pair."""
    sampled = rollout.take(longest_and_shortest(rollout.prompt_lengths.tolist()))
    scored = score_in_parts(model, sampled)
    own, _ = completion_logps(RowByRow(model), pair)  # (2, C)  # ty: ignore[invalid-argument-type]  (it has a model's pass)
    ours, _ = completion_logps(model, pair)
    return GuardReport(
        sampling=Gap.of((sampled.old_logps - scored)[sampled.loss_mask.bool()]),
        scoring=Gap.of((ours - own)[pair.completion_mask.bool()]),
        limit=limit_for(model, rollout.sampling),
    )


@torch.no_grad()
def verify_start(model: PreTrainedModel, reference: Reference | None, rollout: Rollout) -> None:
    """Compare the policy before its first update with the reference that was taken of it: the KL must be 0.

    Raises UntrustedModel: they differ by more than rounding.
    """
    few = rollout.take(longest_and_shortest(rollout.prompt_lengths.tolist()))
    own = score_in_parts(model, few)
    with reference_model(model, reference) as frozen:
        gap = Gap.of((own - score_in_parts(frozen, few))[few.loss_mask.bool()])
    refuse_another_start(model, gap, few.sampling.temperature)


def refuse_another_start(model: PreTrainedModel, gap: Gap, temperature: float = 1.0) -> None:
    """UntrustedModel where the gap between a policy and its reference before the first update is more than rounding."""
    largest = (START_IN_HALF if in_half_precision(model) else START_IN_FULL) / min(1.0, temperature)
    if not gap.within(Gap(largest, largest)):
        raise UntrustedModel(
            f"Before the first update the policy and its reference differ {gap}, where rounding explains {largest:.2g}: "
            "every KL would be measured from elsewhere. Give reference=frozen_copy(model), made before training."
        )


def limit_for(model: PreTrainedModel, sampling: Sampling) -> Gap:
    """The largest gap that rounding explains.

    It depends on the precision of the arithmetic, and grows where a temperature below 1 enlarges the logits. Rounding
    can also tip a choice: the last token that top-k or top-p keep, or the expert of a token. Then a single token may be
    off by much, and the mean is judged alone.
    """
    limit = HALF_PRECISION if in_half_precision(model) else FULL_PRECISION
    if 0 < sampling.temperature < 1:
        limit = Gap(limit.mean / sampling.temperature, limit.largest / sampling.temperature)
    config = model.config.get_text_config(decoder=True)
    has_experts = any((getattr(config, name, 0) or 0) > 1 for name in EXPERTS)
    if sampling.top_k or sampling.top_p < 1 or has_experts:
        limit = replace(limit, largest=float("inf"))
    return limit


def in_half_precision(model: torch.nn.Module) -> bool:
    """True if the model computes in 16 bits: its weights, products of 4-bit matrices, TF32, or autocast."""
    if torch.get_float32_matmul_precision() != "highest":  # TF32, ten bits of mantissa
        return True
    weights = [p for p in model.parameters() if p.is_floating_point()]
    if torch.is_autocast_enabled(weights[0].device.type) or any(p.itemsize < 4 for p in weights):
        return True
    compute = (getattr(module, "compute_dtype", None) for module in model.modules())  # of bitsandbytes
    return any(dtype is not None and dtype.itemsize < 4 for dtype in compute)


def longest_and_shortest(lengths: Sequence[int], of_each: int = 2) -> list[int]:
    """The places, in order, of the longest and of the shortest among N lengths, `of_each` of both where there are enough."""
    by_length = sorted(range(len(lengths)), key=lambda i: lengths[i])
    return sorted({*by_length[:of_each], *by_length[-of_each:]})


@dataclass(frozen=True)
class Place:
    """One completion of a rollout, and how many of its prompt's tokens are read.

    prompt: which of the N prompts.    row: which of the B completions.    prompt_length: tokens read, from the last one.
    """

    prompt: int
    row: int
    prompt_length: int


def unequal_pair(rollout: Rollout) -> Rollout:
    """Two completions after prompts of unequal length, as a rollout of two prompts; the shorter prompt is padded.

    They are the longest completions of the longest prompt and of the shortest. Where all prompts are equally long, the
    second prompt is cut to its last half: a completion can be scored after any prompt.
    """
    prompt_lengths = rollout.prompt_lengths.tolist()
    long = longest_completion_of(rollout, prompt_lengths.index(max(prompt_lengths)))
    short = longest_completion_of(rollout, prompt_lengths.index(min(prompt_lengths)))
    if long.prompt_length == short.prompt_length:
        short = replace(short, prompt_length=(short.prompt_length + 1) // 2)
    return pair_of(rollout, long, short)


def longest_completion_of(rollout: Rollout, prompt: int) -> Place:
    """The longest completion of a prompt, the first of several."""
    lengths = rollout.lengths.view(-1, rollout.num_generations)[prompt].tolist()  # of G completions
    row = prompt * rollout.num_generations + lengths.index(max(lengths))
    return Place(prompt, row, int(rollout.prompt_lengths[prompt]))


def pair_of(rollout: Rollout, *places: Place) -> Rollout:
    """The completions at these places as a rollout of their own, one for each prompt."""
    prompts = [place.prompt for place in places]
    rows = [place.row for place in places]
    width = int(rollout.lengths[rows].max())
    mask = rollout.prompt_mask[prompts]  # (2, P)
    for row, place in zip(mask, places):
        row[: len(row) - place.prompt_length] = 0  # prompts are padded on the left
    return replace(
        rollout,
        prompts=[rollout.prompts[prompt] for prompt in prompts],
        completions=[rollout.completions[row] for row in rows],
        num_generations=1,
        prompt_ids=rollout.prompt_ids[prompts],
        prompt_mask=mask,
        completion_ids=rollout.completion_ids[rows, :width],
        completion_mask=rollout.completion_mask[rows, :width],
        old_logps=rollout.old_logps[rows, :width],
        prompt_lengths=torch.tensor([place.prompt_length for place in places]),
        lengths=rollout.lengths[rows],
        truncated=rollout.truncated[rows],
        entropy=None,
        contexts=None,
        beginnings=None,
        free_lengths=None,
        policy_mask=None,
        environments=None,
        sampler_logps=None,
    )


def fast_path_left(model: PreTrainedModel, report: GuardReport) -> str:
    """The warning that our own pass is wrong for this model and was left."""
    return (
        f"The fast pass of shared/engine/llama.py is not right for this {type(base_model(model)).__name__}: sampling "
        f"and scoring differ {report.sampling}, scoring and the model's own pass {report.scoring}. transformers' own "
        "pass is right and is taken from now on; it is slower."
    )


def refusal(model: PreTrainedModel, report: GuardReport) -> str:
    """The sentence that refuses a model: what is wrong, in figures."""
    name = type(base_model(model)).__name__
    allowed = f"{report.limit.mean:.2g} on average"
    if report.limit.largest < float("inf"):
        allowed += f" and {report.limit.largest:.2g} at most"
    if report.scoring.within(report.limit):
        fault = (
            f"the tokens sampled one after another with its cache and the same tokens scored in one pass differ "
            f"{report.sampling}, where rounding explains {allowed}. So its cache is not right"
        )
    else:
        fault = (
            f"two rows of unequal length, scored in one padded batch, differ from the model's own pass on each row "
            f"alone {report.scoring}, where rounding explains {allowed}. So it does not heed padding or positions"
        )
    return f"{name} cannot be trained here: {fault}. Choose another model, or another version of transformers."
