"""Promises about the embedded model, measured on the files that the repository carries."""

import re

import pytest

from shared import pretrain
from shared.evaluate import evaluate
from shared.models import COURSE_MODEL, load_policy
from shared.pretrain import TASKS, documents_digest, probe
from shared.tasks import dots
from shared.tasks.documents import ANSWER_KEY


@pytest.fixture(scope="module")
def course_lm():
    return load_policy(COURSE_MODEL)


@pytest.fixture(scope="module")
def measured(course_lm):
    return {record["task"]: record for record in probe(*course_lm, n=40)}


def test_its_card_says_what_it_was_trained_on():
    """Catches a split, a task's items or documents that change under a model which knows the old ones.

    What is held out today may then be among what it was pretrained on. Train it again, and write the hash into its card.
    """
    (said,) = re.findall(r"hash of those of pool 0: ([0-9a-f]{16})", (COURSE_MODEL / "README.md").read_text("utf-8"))
    assert documents_digest() == said


def test_the_hash_in_the_card_is_of_the_documents_that_training_reads(course_lm, monkeypatch):
    """Catches a hash of other documents than those of the first batches."""
    read = []
    real = pretrain.documents

    def listening(rng):
        for text in real(rng):
            read.append(text)
            yield text

    monkeypatch.setattr(pretrain, "documents", listening)
    monkeypatch.setattr(pretrain, "DOCUMENTS_IN_A_POOL", 50)
    pretrain.batches_of_pool(0, course_lm[1])
    of_training, read[:] = list(read), []
    documents_digest()
    assert read == of_training


def test_it_is_small(course_lm):
    model, _ = course_lm
    assert sum(p.numel() for p in model.parameters()) <= 2_000_000
    assert (COURSE_MODEL / "model.safetensors").stat().st_size <= 8e6


def test_pad_and_eos_differ_and_nothing_is_put_before_a_prompt(course_lm):
    model, tokenizer = course_lm
    assert tokenizer.pad_token_id != tokenizer.eos_token_id == model.config.eos_token_id
    assert tokenizer.padding_side == "left"
    assert (
        tokenizer("the", add_special_tokens=True)["input_ids"]
        == tokenizer("the", add_special_tokens=False)["input_ids"]
    )


def test_it_answers_below_the_answer_key_and_seldom_above(course_lm):
    """Catches weights, a tokenizer or a decoder that are not those of the pretraining; the slow tests try all tasks."""
    rows = dots.dataset("eval", 30, seed=0)
    headed = [row | {"prompt": ANSWER_KEY + row["prompt"]} for row in rows]
    settings = {"max_new_tokens": dots.MAX_NEW_TOKENS, "progress": False}
    assert evaluate(*course_lm, headed, dots.reward, **settings).mean > 0.9
    assert evaluate(*course_lm, rows, dots.reward, **settings).mean < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_there_is_something_to_learn_and_a_signal_to_learn_it_from(measured, task):
    """Sampled rewards of 0 or 1 leave GRPO nothing to compare; 40 prompts, so the band is a little wider than promised."""
    assert 0.08 < measured[task]["sampled"] < 0.5
    assert measured[task]["equal_groups"] <= 0.6


@pytest.mark.slow
@pytest.mark.parametrize("task", ["dots", "poker", "analogies", "addition"])
def test_it_knows_more_than_it_shows(measured, task):
    assert measured[task]["key"] > measured[task]["greedy"] + 0.3
