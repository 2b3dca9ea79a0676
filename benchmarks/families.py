"""The differences that rounding alone makes to log-probabilities. The limits of `shared.guard` come from here.

    python -m benchmarks.families > benchmarks/families.md

Every family of `tests/families.py`, with and without LoRA, samples ten completions with each of three seeds; the
guard's two comparisons are made in float32, under bfloat16 autocast and with bfloat16 weights. The figures are the
worse of the two comparisons and the worst of the six runs. The embedded model, the only one here with trained weights,
and a random one as deep as SmolLM-135M stand at the end. Prints Markdown (about five minutes on one core).
"""

import sys
import warnings
from collections.abc import Callable
from functools import reduce

import torch
from tqdm.auto import tqdm
from transformers import PreTrainedModel

from shared.engine.sampling import Sampling
from shared.guard import FULL_PRECISION, HALF_PRECISION, Gap, compare, unequal_pair
from shared.models import load_policy
from shared.rollout import Rollout, sample
from tests.families import RIGHT, USUAL, Family, build, draw

HEADER = """<!-- made by python -m benchmarks.families -->
# Families of models, and what rounding does to them

Each row is a tiny random model of a family (hidden size 32, two layers), with and without LoRA, three seeds each. The
figures are |log ratio| over tokens: of sampling with scoring, and of scoring in a padded batch with the model's own
pass on one row at a time, whichever is worse. `shared.guard` refuses a model beyond the limits in the last row; where
it says inf, the mean is judged alone.
"""
SEEDS = range(3)
DEEP = Family(
    "llama",
    USUAL
    | dict(
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=2048,
    ),
)  # as SmolLM-135M
PRECISIONS = {"float32": (torch.float32, False), "autocast": (torch.float32, True), "bfloat16": (torch.bfloat16, False)}


def gap(model: PreTrainedModel, rollout_of: Callable[[int], Rollout]) -> Gap:
    """The worse of sampling with scoring and scoring with the model's own pass, over the seeds."""
    gaps = []
    for seed in SEEDS:
        rollout = rollout_of(seed)
        report = compare(model, rollout, unequal_pair(rollout))
        gaps += [report.sampling, report.scoring]
    return Gap(max(g.mean for g in gaps), max(g.largest for g in gaps))


@torch.no_grad()
def measure(
    build_model: Callable[[], PreTrainedModel], rollout_of: Callable[[PreTrainedModel, int], Rollout]
) -> dict[str, Gap]:
    """For each precision: mean and largest |log ratio|; nan where the model does not run in it."""
    gaps = {}
    for precision, (dtype, autocast) in PRECISIONS.items():
        model = build_model().to(dtype)
        try:
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                gaps[precision] = gap(model, lambda seed: rollout_of(model, seed))
        except RuntimeError as error:
            print(f"{type(model).__name__} in {precision}: {error}", file=sys.stderr)
            gaps[precision] = Gap(float("nan"), float("nan"))
    return gaps


def worse(one: Gap, other: Gap) -> Gap:
    return Gap(max(one.mean, other.mean), max(one.largest, other.largest))


def row(name: str, gaps: dict[str, Gap]) -> str:
    cells = [f"{gap.mean:.1e} | {gap.largest:.1e}" for gap in gaps.values()]
    return f"| {name} | {' | '.join(cells)} |"


def family_gaps(family: Family) -> dict[str, Gap]:
    full = measure(lambda: build(family), lambda model, seed: draw(model, seed=seed))
    lora = measure(lambda: build(family, lora=True), lambda model, seed: draw(model, seed=seed))
    return {precision: worse(full[precision], lora[precision]) for precision in full}


def embedded_gaps() -> dict[str, Gap]:
    prompts = [f"{n} + {n + 1} =" for n in (3, 14, 125, 7)]
    tokenizer = load_policy()[1]

    def rollout_of(model: PreTrainedModel, seed: int) -> Rollout:
        return sample(model, tokenizer, prompts, 8, Sampling(24), seed=seed)

    return measure(lambda: load_policy(device="cpu")[0], rollout_of)


def deep_model() -> PreTrainedModel:
    """Random weights of a size that leaves 30 layers with logits of a trained model's spread."""
    model = build(DEEP)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=parameter.size(1) ** -0.5)
    return model


def main() -> None:
    warnings.filterwarnings("ignore", module="peft")
    torch.set_num_threads(1)
    lines = {name: family_gaps(family) for name, family in tqdm(RIGHT.items(), file=sys.stderr)}
    lines["embedded model"] = embedded_gaps()
    lines["random, 30 layers"] = measure(deep_model, lambda model, seed: draw(model, Sampling(24), seed=seed))
    print(HEADER)
    print("| \\|log ratio\\| in nats | float32: mean | largest | autocast: mean | largest | bfloat16: mean | largest |")
    print("|---|---|---|---|---|---|---|")
    for name, gaps in lines.items():
        print(row(name, gaps))
    worst = {precision: reduce(worse, [gaps[precision] for gaps in lines.values()]) for precision in PRECISIONS}
    print(row("**the worst**", worst))
    print(row("**the limit**", {"float32": FULL_PRECISION, "autocast": HALF_PRECISION, "bfloat16": HALF_PRECISION}))


if __name__ == "__main__":
    main()
