"""Ctrl-C ends a training without a page of traceback, and a half-trained model is not taken for a fresh one."""

import copy

import pytest
import torch
from torch import nn

from shared.critic import ActorCritic
from shared.grpo import GRPOConfig, train
from shared.interrupt import put_back, refuse_half_trained, trained_weights, until_interrupted
from shared.models import add_lora
from tests.fakes import tiny_llama

ROWS = [{"prompt": letter} for letter in "abcd"]
CONFIG = GRPOConfig(steps=4, prompts_per_step=2, num_generations=2, max_new_tokens=2, checkpoint_every=1, log_every=0)


def longer_is_better(prompts, completions, **columns):
    return [float(len(completion)) for completion in completions]


def stop_after(steps: int):
    def listener(record):
        if record["step"] == steps:
            raise KeyboardInterrupt

    return listener


def interrupted(model, tokenizer, **options):
    """A run of four steps that was interrupted after two."""
    return train(model, tokenizer, ROWS, longer_is_better, CONFIG, on_step=stop_after(2), progress=False, **options)


def test_a_loop_written_out_ends_with_a_sentence(capsys):
    """A page of traceback for pressing the stop button, and a history that is lost."""
    history = []
    with until_interrupted(nn.Linear(1, 1), history, steps=3):
        history.append({})
        raise KeyboardInterrupt
    assert len(history) == 1
    assert "Interrupted after 1 of 3 steps" in capsys.readouterr().out


def test_other_errors_are_not_swallowed():
    """A mistake in a student's loop that looks like the end of training."""
    model = nn.Linear(1, 1)
    with pytest.raises(ZeroDivisionError), until_interrupted(model, [], steps=3):
        raise ZeroDivisionError
    refuse_half_trained(model)


def test_training_again_from_where_it_was_interrupted_is_refused(tokenizer):
    """The second run starts at 0.849 instead of 0.433, and nobody is told why."""
    model = tiny_llama()
    assert len(interrupted(model, tokenizer)) == 2
    with pytest.raises(ValueError, match="interrupted after 2 steps.*fresh copy"):
        train(model, tokenizer, ROWS, longer_is_better, CONFIG, progress=False)


@pytest.mark.parametrize("made_of", [copy.deepcopy, lambda model: ActorCritic(model), lambda model: add_lora(model)])
def test_what_is_made_of_it_is_half_trained_too(tokenizer, made_of):
    """A copy, a critic on top or an adapter, made after the interrupt."""
    model = tiny_llama()
    interrupted(model, tokenizer)
    with pytest.raises(ValueError, match="interrupted"):
        refuse_half_trained(made_of(model))


def test_a_fresh_copy_and_the_frozen_model_are_not_refused(tokenizer):
    """The reference, or the base under an adapter, which no step touched."""
    base = tiny_llama()
    interrupted(copy.deepcopy(base), tokenizer, reference=base)
    refuse_half_trained(base)
    adapted = add_lora(base)
    interrupted(adapted, tokenizer)
    with pytest.raises(ValueError, match="interrupted"):
        refuse_half_trained(adapted)
    refuse_half_trained(adapted.unload())


def test_a_run_with_a_checkpoint_goes_on(tokenizer, tmp_path):
    """A refusal of the one way that leads on from an interrupt, or a model that stays marked for good."""
    path = tmp_path / "run.pt"
    model = tiny_llama()
    interrupted(model, tokenizer, checkpoint_path=path)
    assert len(train(model, tokenizer, ROWS, longer_is_better, CONFIG, checkpoint_path=path, progress=False)) == 4
    refuse_half_trained(model)
    whole = tiny_llama()
    train(whole, tokenizer, ROWS, longer_is_better, CONFIG, progress=False)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), whole.parameters()))


def test_adapters_put_back_are_those_of_the_beginning(tokenizer):
    """A cell that trains adapters, run again after an interrupt: it is refused, or goes on from where they were left."""
    adapted = add_lora(tiny_llama())
    beginning = trained_weights(adapted)
    first = interrupted(adapted, tokenizer)
    sum(p.sum() for p in adapted.parameters() if p.requires_grad).backward()
    put_back(adapted, beginning)
    assert all(p.grad is None for p in adapted.parameters()), "the next gradient is added to a step's that was cut off"
    again = interrupted(adapted, tokenizer)
    assert [record["loss"] for record in again] == [record["loss"] for record in first]
    assert all("lora" in name for name in beginning.tensors), "the model below the adapters is copied too"


def test_what_an_interrupt_left_is_half_trained_wherever_it_is_put_back(tokenizer):
    """Weights kept after an interrupted run that pass for those of a whole one."""
    adapted = add_lora(tiny_llama())
    interrupted(adapted, tokenizer)
    left = trained_weights(adapted)
    put_back(adapted, left)
    with pytest.raises(ValueError, match="interrupted after 2 steps"):
        refuse_half_trained(adapted)
