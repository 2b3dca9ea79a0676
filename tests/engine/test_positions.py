"""Texts that do not fit are refused in a sentence before anything is sampled or trained."""

import pytest
import torch

from shared import distill, dpo, grpo, ppo, reward_model, rloo, supervised
from shared.algorithm import TrainingConfig
from shared.critic import ActorCritic
from shared.engine.positions import check_room, positions_of
from shared.models import add_lora, frozen_copy
from shared.rollout import sample
from tests.fakes import letter_tokenizer, tiny_gpt2, tiny_llama
from tests.families import RIGHT, USUAL, Family, build, rope


@pytest.mark.parametrize("name", ["GPT-2", "OPT", "XGLM", "MPT", "Llama", "YaRN", "Gemma 3n", "Qwen3.5"])
def test_the_number_of_positions_under_whatever_name(name):
    assert positions_of(build(RIGHT[name])) == 64


@pytest.mark.parametrize("name", ["Bloom", "Mamba"])
def test_without_positions_any_length_will_do(name):
    model = build(RIGHT[name])
    assert positions_of(model) is None
    check_room(model, [10_000], 10_000)


def test_longrope_is_limited_to_the_length_of_pretraining():
    """Catches log-probabilities that change when another row of the batch is long."""
    scaling = rope("longrope", short_factor=[1.0] * 4, long_factor=[4.0] * 4, original_max_position_embeddings=16)
    model = build(Family("phi3", dict(original_max_position_embeddings=16, **scaling, **USUAL)))
    assert positions_of(model) == 16


def test_the_last_position_may_be_used_and_none_after_it():
    model = tiny_gpt2()
    check_room(model, [3, 56], 8)
    with pytest.raises(ValueError, match="Prompt 2 of 3 has 57 tokens.*followed by 8 .*GPT2LMHead.* 64 .*at most 7"):
        check_room(model, [3, 57, 5], 8)


@pytest.mark.parametrize("tokens", [64, 70])
def test_a_prompt_that_leaves_no_room_at_all_is_told_so(tokens):
    """Catches advice to sample at most 0 or -6 tokens."""
    with pytest.raises(ValueError, match="in all: give shorter prompts"):
        check_room(add_lora(tiny_gpt2()), [tokens], 8)


def test_room_for_one_token_is_room():
    with pytest.raises(ValueError, match="max_new_tokens to at most 1, or"):
        check_room(tiny_gpt2(), [63], 8)


@pytest.mark.parametrize(("said", "limit"), [(-1, None), (0, None), (1, 1)])
def test_what_a_configuration_says_for_no_limit_is_none(said, limit):
    """XLNet says -1. Catches a limit of -1 or 0 positions, to which no prompt fits."""
    model = tiny_gpt2()
    model.config.n_positions = said
    assert positions_of(model) == limit


ROWS = [{"prompt": "ab", "teacher_prompt": "cab", "completion": "cd", "chosen": "cd", "rejected": "dc"}]
STEPS = dict(steps=1, prompts_per_step=1, log_every=0)
ROLLOUT = STEPS | dict(num_generations=2, max_new_tokens=4)


def lengths(prompts, completions, **columns):
    return [float(len(text)) for text in completions]


def trains(algorithm: str, model, rows, other=None, tokenizer=None):
    """One step of the algorithm on these rows; `other` is the reference or the teacher."""
    tokenizer = tokenizer or letter_tokenizer()
    if algorithm == "supervised":
        return supervised.train(model, tokenizer, rows, TrainingConfig(**STEPS), progress=False)
    if algorithm == "dpo":
        reference = other or frozen_copy(model)
        return dpo.train(model, tokenizer, rows, dpo.DPOConfig(**STEPS), reference=reference, progress=False)
    if algorithm == "reward model":
        judge = reward_model.RewardModel(model, tokenizer)
        return reward_model.train(judge, rows, TrainingConfig(**STEPS), progress=False)
    if algorithm == "distillation":
        config = distill.DistillConfig(**ROLLOUT)
        teacher = other or frozen_copy(model)
        return distill.train(model, tokenizer, rows, lengths, config, teacher=teacher, progress=False)
    if algorithm == "ppo":
        config = ppo.PPOConfig(**ROLLOUT | dict(minibatches=1))
        reference = other or frozen_copy(model)
        return ppo.train(ActorCritic(model), reference, tokenizer, rows, lengths, config, progress=False)
    module, kind = {"grpo": (grpo, grpo.GRPOConfig), "rloo": (rloo, rloo.RLOOConfig)}[algorithm]
    reference = other or frozen_copy(model)
    return module.train(model, tokenizer, rows, lengths, kind(**ROLLOUT, beta=0.1), reference=reference, progress=False)


LONG = {
    "supervised": ("completion", 62),
    "dpo": ("rejected", 62),
    "reward model": ("chosen", 62),
    "distillation": ("teacher_prompt", 61),
    "grpo": ("prompt", 61),
    "rloo": ("prompt", 61),
    "ppo": ("prompt", 61),
}


@pytest.mark.parametrize("algorithm", LONG)
def test_a_text_that_is_too_long_is_refused_before_training(algorithm):
    """Catches `index out of range in self`, or with rotary positions training on places where nothing was ever trained,
    and a run that ends in the middle, at the step in which the long row comes."""
    column, length = LONG[algorithm]
    rows = [*ROWS, ROWS[0] | {column: "a" * length}]
    for model in (tiny_gpt2(), tiny_llama()):
        before = [p.clone() for p in model.parameters()]
        with pytest.raises(ValueError, match=r"(Text|Prompt) \d of \d.* has 6\d tokens.* positions for 64"):
            trains(algorithm, model.eval(), rows)
        assert all(map(torch.equal, before, model.parameters()))
    assert trains(algorithm, tiny_gpt2().eval(), [ROWS[0] | {column: "a" * (length - 1)}])


@pytest.mark.parametrize("algorithm", LONG)
def test_a_token_that_the_model_does_not_know_is_refused(algorithm):
    """Catches an index error of the embedding, also for a padding token that was added and nothing else."""
    column, _ = LONG[algorithm]
    tokenizer = letter_tokenizer()
    tokenizer.add_tokens(["new"])
    assert trains(algorithm, tiny_llama().eval(), ROWS, tokenizer=tokenizer)  # it is in no row: Gemma 3 has such a one
    rows = [ROWS[0] | {column: "anew"}]
    with pytest.raises(ValueError, match="'new' as the token 12, and LlamaForCausalLM knows 12 tokens"):
        trains(algorithm, tiny_llama().eval(), rows, tokenizer=tokenizer)
    with pytest.raises(ValueError, match="'new' as the token 12"):
        sample(tiny_llama().eval(), tokenizer, ["anew"], 1)
    padded = letter_tokenizer()
    padded.add_special_tokens({"pad_token": "[PAD]"})
    with pytest.raises(ValueError, match="tokenizer.pad_token = tokenizer.eos_token will do"):
        trains(algorithm, tiny_llama().eval(), ROWS, tokenizer=padded)


@pytest.mark.parametrize("algorithm", ["dpo", "distillation", "grpo", "rloo", "ppo"])
def test_a_teacher_or_reference_with_a_padded_vocabulary_is_refused(algorithm):
    """Catches `The size of tensor a (12) must match`, and a KL between distributions over different tokens."""
    other = tiny_llama(1).eval()
    other.resize_token_embeddings(16)
    other.requires_grad_(False)
    role = "teacher" if algorithm == "distillation" else "reference"
    with pytest.raises(ValueError, match=f"The {role} chooses among 16 .* the model among 12.*embeddings.12."):
        trains(algorithm, tiny_llama().eval(), ROWS, other)
    other.resize_token_embeddings(12)
    assert trains(algorithm, tiny_llama().eval(), ROWS, other)
