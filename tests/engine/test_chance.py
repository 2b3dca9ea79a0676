"""The contract on chance: numbers depend on seed, step and place, and on nothing else, bit for bit."""

import numpy as np
import pytest
import torch

from shared.constrain import answer_trie
from shared.engine import decoding
from shared.engine.chance import EVALUATION, MINIBATCHES, ROWS, fresh_seed, permutation, uniforms
from shared.engine.sampling import Sampling
from shared.evaluate import evaluate
from shared.models import add_lora
from shared.rollout import sample
from tests.conftest import few_of
from tests.fakes import tiny_gpt2, tiny_llama

PROMPTS = ["abc", "d", "efghij", "ab", "d", "hi"]
SAMPLINGS = [Sampling(9), Sampling(9, 0.7), Sampling(9, 1.2, top_k=5), Sampling(9, 1.0, top_p=0.8)]


def test_the_numbers_are_uniform_and_the_same_everywhere():
    """The first numbers are frozen: another generator, or another version of it, would change every recorded run."""
    u = uniforms(0, 0, range(64), 8, 64)
    assert u.min() >= 0 and u.max() < 1 and u.dtype == torch.float32
    counts = torch.histc(u, bins=16, min=0, max=1)
    assert ((counts - u.numel() / 16).abs() < 5 * (u.numel() / 16) ** 0.5).all()
    assert torch.equal(u * 2**24, (u * 2**24).round()), "float32 and float64 must hold the same numbers"
    torch.testing.assert_close(u[0, :3], torch.tensor(FIRST), rtol=0, atol=0)


def test_an_evaluation_has_the_largest_step():
    """Frozen like the first numbers: no training reaches it, and Philox takes no larger one."""
    assert EVALUATION == 18_446_744_073_709_551_615
    with pytest.raises(ValueError, match="step is 18446744073709551616"):
        uniforms(0, EVALUATION + 1, [0], 1, 1)


FIRST = [0.034741878509521484, 0.011546730995178223, 0.6119502186775208]


def test_orders_are_permutations_that_differ_by_number_and_purpose():
    orders = [permutation(20, 0, number, purpose) for number in (0, 1) for purpose in (ROWS, MINIBATCHES)]
    assert all(sorted(order.tolist()) == list(range(20)) for order in orders)
    assert len({tuple(order.tolist()) for order in orders}) == 4


def test_an_order_is_the_same_everywhere():
    """Frozen: another order of rows or minibatches would change every recorded run."""
    assert permutation(6, 0, 1, ROWS).tolist() == FIRST_ROWS
    assert permutation(6, 0, 1, MINIBATCHES).tolist() == FIRST_MINIBATCHES


FIRST_ROWS = [2, 4, 3, 1, 5, 0]
FIRST_MINIBATCHES = [3, 2, 4, 1, 0, 5]


def test_a_fresh_seed_is_one_of_very_many_and_repeats_with_torch():
    """Catches seeds from a handful: two runs out of ten would sample alike."""
    torch.manual_seed(0)
    seeds = [fresh_seed() for _ in range(20)]
    assert len(set(seeds)) == 20 and 2**60 < max(seeds) < 2**63
    torch.manual_seed(0)
    assert fresh_seed() == seeds[0]


LARGEST = 2**64 - 1


@pytest.mark.parametrize("name, value", [("seed", LARGEST), ("step", LARGEST), ("places", [LARGEST])])
def test_the_largest_number_is_taken_and_told_from_the_one_before(name, value):
    """Catches numbers that go through floats, where 2^64 - 1 and 2^64 - 2 are one."""
    arguments = {"seed": 0, "step": 0, "places": [0], "num_generations": 1, "length": 4}
    before = [LARGEST - 1] if name == "places" else LARGEST - 1
    assert not torch.equal(uniforms(**arguments | {name: value}), uniforms(**arguments | {name: before}))


@pytest.mark.parametrize(
    "bad", [{"seed": -1}, {"step": -1}, {"places": [0, -2]}, {"seed": 2**64}, {"step": 2**64}, {"places": [2**64, 0]}]
)
def test_a_number_out_of_range_is_a_sentence(bad):
    arguments = {"seed": 0, "step": 0, "places": [0]} | bad
    with pytest.raises(
        ValueError, match=f"^{next(iter(bad)).rstrip('s')} is -?[0-9]+; it must be a whole number from 0"
    ):
        uniforms(**arguments, num_generations=1, length=1)
    if "places" not in bad:
        with pytest.raises(ValueError, match="whole number from 0"):
            permutation(3, bad.get("seed", 0), bad.get("step", 0), ROWS)


# --- what is sampled with them


def tokens_of(rollout) -> list[list[int]]:
    return [ids[:n] for ids, n in zip(rollout.completion_ids.tolist(), rollout.lengths.tolist())]


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("constrained", [False, True])
def test_half_a_batch_gets_the_tokens_of_the_whole(model, tokenizer, sampling, constrained):
    """Catches other tokens in another process, or in a batch with fewer rows left. Exact in float64."""
    model = model.double()
    trie = answer_trie(tokenizer, ["ab", "abc", "j", "dd", "da"]) if constrained else None
    options = {"constraint": trie, "seed": 5, "step": 2}
    whole = tokens_of(sample(model, tokenizer, PROMPTS, 4, sampling, **options))
    places = [4, 0, 3]
    half = tokens_of(sample(model, tokenizer, [PROMPTS[i] for i in places], 4, sampling, places=places, **options))
    assert half == [whole[4 * i + g] for i in places for g in range(4)]


def test_a_smaller_group_and_a_shorter_completion_begin_alike(model, tokenizer):
    model = model.double()
    whole = tokens_of(sample(model, tokenizer, PROMPTS, 4, Sampling(9), seed=1))
    small = tokens_of(sample(model, tokenizer, PROMPTS, 2, Sampling(5), seed=1))
    assert small == [whole[4 * i + g][:5] for i in range(len(PROMPTS)) for g in range(2)]


def test_a_prompt_that_occurs_twice_gets_two_groups(model, tokenizer):
    """Catches numbers keyed by the prompt: its second group would be a copy of its first."""
    rollout = sample(model, tokenizer, ["d", "d"], 6, Sampling(9), seed=0)
    assert rollout.completions[:6] != rollout.completions[6:]


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("sampling", few_of(SAMPLINGS, SAMPLINGS[::3]))
@pytest.mark.parametrize("lora", few_of([False, True], [False]))
def test_the_fast_and_the_general_path_draw_the_same_tokens(tokenizer, sampling, lora, monkeypatch):
    """Exact in float64; in float32 a number within rounding of a boundary may flip a token, on these seeds none does."""
    model = tiny_llama().eval()
    if lora:
        model = add_lora(model, r=4)
    for dtype in (torch.float64, torch.float32):
        model = model.to(dtype)
        fast = [tokens_of(sample(model, tokenizer, PROMPTS, 8, sampling, seed=s)) for s in range(4)]
        with monkeypatch.context() as patch:
            patch.setattr(decoding, "llama_in", lambda model: None)
            general = [tokens_of(sample(model, tokenizer, PROMPTS, 8, sampling, seed=s)) for s in range(4)]
        flips = sum(a != b for f, g in zip(fast, general) for a, b in zip(f, g))
        assert flips == 0, f"{flips} of {4 * 48} completions differ in {dtype}"


def test_an_evaluation_does_not_depend_on_its_batches(model, tokenizer):
    """Catches numbers drawn batch by batch, so that `batch_size` changes the result."""
    rows = [{"prompt": prompt} for prompt in PROMPTS]

    def length(prompts, completions):
        return [float(len(c)) for c in completions]

    model = model.double()
    options = {"max_new_tokens": 8, "temperature": 1.0, "num_generations": 3, "seed": 4}
    together = evaluate(model, tokenizer, rows, length, **options)
    apart = evaluate(model, tokenizer, rows, length, batch_size=2, **options)
    assert together.completions == apart.completions
    trained = sample(model, tokenizer, PROMPTS, 3, Sampling(8), seed=4)
    assert together.completions != trained.completions, "training's numbers are others"
    assert evaluate(model, tokenizer, rows, length, **options | {"seed": 5}).completions != together.completions


def test_without_a_seed_torch_decides(tokenizer):
    model = tiny_gpt2().eval()
    torch.manual_seed(0)
    first, second = (sample(model, tokenizer, PROMPTS, 4, Sampling(8)).completions for _ in range(2))
    torch.manual_seed(0)
    assert first == sample(model, tokenizer, PROMPTS, 4, Sampling(8)).completions != second


def test_each_completion_has_a_stream_of_its_own():
    """Catches a place that is counted where the purpose stands: an answer drawn with the numbers of a row's order."""
    key = np.array([7, 3], dtype=np.uint64)
    numbers = uniforms(seed=7, step=3, places=[0, 1, 5], num_generations=2, length=4)
    for row, (place, generation) in enumerate((place, generation) for place in (0, 1, 5) for generation in (0, 1)):
        counter = np.array([0, generation, place, 0], dtype=np.uint64)
        stream = np.random.Generator(np.random.Philox(key=key, counter=counter))
        assert numbers[row].tolist() == stream.random(4, dtype=np.float32).tolist()
