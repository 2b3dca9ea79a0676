"""Prompts that do not fit are refused before anything is sampled."""

import pytest

from shared.engine.positions import check_room, positions_of
from shared.models import add_lora
from tests.fakes import tiny_gpt2
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
