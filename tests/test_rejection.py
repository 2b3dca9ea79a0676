"""Rejection sampling: what is kept, how much is trained on it, and that it learns."""

from dataclasses import replace

import pytest
import torch

from shared import rejection
from shared.rejection import RejectionConfig, keep_right, of_round
from shared.supervised import encode_documents
from tests.fakes import tiny_llama

ROWS = [{"prompt": "abc", "wanted": "d"}, {"prompt": "fg", "wanted": "h"}, {"prompt": "ija", "wanted": "d"}]
CONFIG = RejectionConfig(
    rounds=3, prompts_per_round=3, num_generations=16, max_new_tokens=2, batch_size=4, epochs=4, learning_rate=1e-2
)


def begins_right(prompts, completions, wanted):
    return [float(completion.startswith(letter)) for completion, letter in zip(completions, wanted)]


def test_what_is_kept_by_hand():
    """Catches doubles, wrong and half-right completions, a cap over all prompts, and one that counts wrong ones."""
    prompts = ["p", "p", "p", "p", "q", "p"]
    completions = ["no", "a", "a", "b", "a", "c"]
    rewards = [0.5, 1.0, 1.0, 1.0, 1.0, 1.0]
    kept = keep_right(prompts, completions, rewards, most=2)
    assert [(d["prompt"], d["completion"]) for d in kept] == [("p", "a"), ("p", "b"), ("q", "a")]
    with pytest.raises(ValueError):
        keep_right(prompts, completions[:-1], rewards, most=2)


def test_it_learns_from_its_own_right_samples(tokenizer):
    """Catches training on what was wrong, and documents that lose their prompt."""
    model = tiny_llama(initializer_range=0.02).eval()
    history = rejection.train(model, tokenizer, ROWS, begins_right, CONFIG)
    assert history[-1]["right"] > 2 * history[0]["right"]


@pytest.mark.usefixtures("shapes_unchecked")
def test_the_record_counts_samples_and_what_was_kept(tokenizer):
    """Catches a comparison at unequal samples: all drawn ones count, not the kept ones, and earlier rounds stay."""
    history = rejection.train(tiny_llama(initializer_range=0.02).eval(), tokenizer, ROWS, begins_right, CONFIG)
    assert [record["samples"] for record in history] == [48, 96, 144]
    kept = [record["kept"] for record in history]
    assert kept == sorted(kept) and kept[-1] <= 2 * len(ROWS)


def test_the_rounds_draw_anew_and_a_seed_repeats_them(tokenizer, monkeypatch):
    """Catches a step that is not handed on: every round would draw the same numbers."""
    drawn = []
    sample = rejection.sample

    def watched(*args, **options):
        drawn.append((options["seed"], options["step"]))
        return sample(*args, **options)

    monkeypatch.setattr(rejection, "sample", watched)
    runs = []
    for _ in range(2):
        model = tiny_llama(initializer_range=0.02).eval()
        rejection.train(model, tokenizer, ROWS, begins_right, CONFIG)
        runs.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    assert drawn == [(0, 0), (0, 1), (0, 2)] * 2
    assert torch.equal(*runs)


def test_what_was_sampled_is_learned_by_its_ids(tokenizer, monkeypatch):
    """Catches a text that is taken for tokens again: another EOS than the one that was drawn, or one where none was."""
    model = tiny_llama(initializer_range=0.02).eval()
    tokenizer.add_special_tokens({"additional_special_tokens": ["j"]})  # as <end_of_turn>, the second EOS of Gemma
    model.generation_config.eos_token_id = [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("j")]
    drawn, learned = set(), []
    sample, train = rejection.sample, rejection.supervised.train

    def watched_sample(*args, **options):
        rollout = sample(*args, **options)
        drawn.update((p, tuple(ids)) for p, ids in zip(rollout.repeated(rollout.prompts), rollout.ids_of_completions))
        return rollout

    def watched_train(model, tokenizer, rows, *args, **options):
        batch = encode_documents(tokenizer, rows, model.device)
        learned.extend(
            (row["prompt"], tuple(ids[own.bool()].tolist())) for row, ids, own in zip(rows, batch.ids, batch.learned)
        )
        return train(model, tokenizer, rows, *args, **options)

    monkeypatch.setattr(rejection, "sample", watched_sample)
    monkeypatch.setattr(rejection.supervised, "train", watched_train)
    rejection.train(model, tokenizer, ROWS, begins_right, replace(CONFIG, most_per_prompt=9))
    assert set(learned) <= drawn
    last = {tokenizer.decode(ids[-1]) for _, ids in learned}
    assert "j" in last and last & set("abcdefghi")  # ended by the second EOS, and cut off


def test_nothing_right_is_said(tokenizer):
    """Catches a division by zero documents, far from its cause."""
    with pytest.raises(ValueError, match="None of 48 completions was right"):
        rejection.train(tiny_llama().eval(), tokenizer, ROWS, lambda prompts, completions, **c: [0.0] * 48, CONFIG)


@pytest.mark.parametrize(("documents", "steps"), [(1, 1), (8, 2), (9, 3), (160, 40)])
def test_a_round_goes_through_its_documents_so_often(documents, steps):
    assert of_round(RejectionConfig(epochs=2, batch_size=8, learning_rate=5e-4, seed=3), documents).steps == steps


def test_a_round_is_trained_as_its_settings_say():
    """Catches rounds that all go through their documents in the order of seed 0, whatever was asked for."""
    found = of_round(RejectionConfig(batch_size=8, learning_rate=5e-4, seed=3), 9)
    assert (found.seed, found.learning_rate, found.prompts_per_step, found.log_every) == (3, 5e-4, 8, 0)


def test_settings_are_checked_when_they_are_made():
    for wrong in ({"rounds": 0}, {"most_per_prompt": 0}, {"epochs": 0}, {"learning_rate": 0.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            RejectionConfig(**wrong)
