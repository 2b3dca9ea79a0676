"""The real model that one command fetches, where it was fetched: no test downloads it."""

import re

import pytest
import torch

from benchmarks.sweeps import judges_real, real_model
from shared.engine.llama import llama_in
from shared.engine.named import NAMED, fetched_models
from shared.evaluate import evaluate
from shared.guard import verify
from shared.models import load_policy
from shared.prompts import in_chat_template
from shared.recorded import recorded
from shared.rewards import semantic_similarity, text_embedder
from shared.rollout import sample
from shared.tasks import analogies

pytestmark = pytest.mark.skipif(
    not NAMED["smollm2"].folder.is_dir(), reason="the model smollm2 is not fetched: make smollm2"
)


@pytest.fixture(scope="module")
def loaded():
    return load_policy("smollm2", device="cpu")


def test_it_is_the_model_that_it_says(loaded):
    """Catches weights in the wrong place, or a template that is not its own: it then answers nonsense."""
    model, tokenizer = loaded
    rows = [{"prompt": in_chat_template(tokenizer, "What is the capital of France?")}]
    answered = evaluate(model, tokenizer, rows, lambda prompts, completions, **_: [1.0], max_new_tokens=12)
    assert answered.completions == ["The capital of France is Paris."]
    assert model.num_parameters() == 134_515_008 and model.loaded_from.name == "smollm2"


def test_it_splits_digits_as_it_was_trained(loaded):
    """Catches GPT-2's way of cutting a text into words, which the file's loader takes for its own."""
    assert loaded[1].tokenize("12 + 3\n\n4") == ["1", "2", "Ġ+", "Ġ", "3", "ĊĊ", "4"]


def test_it_takes_the_fast_path_and_passes_the_guard(loaded):
    """Catches a real model that is sampled and scored by other arithmetic than its own, or ten times slower."""
    model, tokenizer = loaded
    prompts = [in_chat_template(tokenizer, question) for question in ("What is 3 + 4?", "Name a fruit, please.")]
    report = verify(model, sample(model, tokenizer, prompts, 2, seed=0))
    assert report.trusted and not report.fell_back and llama_in(model) is not None


def test_its_card_says_what_it_is():
    """Catches weights that pass for the original's."""
    card = (NAMED["smollm2"].folder / "README.md").read_text("utf-8")
    entry = fetched_models()["smollm2"]
    assert re.search(r"^license: apache-2.0$", card, re.MULTILINE) and "dequantised from 4 bits" in card
    assert entry["original"] in card and f"{entry['package']} {entry['version']}" in card


def test_nonsense_earns_little_beside_a_word(loaded):
    """Catches hidden states that all point one way: a wall then earns as much as a kitten where a puppy is right."""
    words = sorted({answer for row in analogies.dataset("train", 300) for answer in row["answers"]})
    similarity = semantic_similarity(text_embedder(*loaded, background=[" " + word for word in words]))
    said = ["kitten", "dog", "wall", "well, let me think.", "the the the", "?"]
    kitten, dog, *nonsense = similarity([""] * len(said), said, answers=[["puppy"]] * len(said))
    assert kitten > 0.8 and dog > 0.7 and max(nonsense) < 0.65


def test_a_judge_reads_the_whole_conversation(loaded):
    """Catches a verdict on the padding behind a short text, and keys and values that belong to other worked verdicts."""
    model, tokenizer = loaded
    texts = [judges_real.ONE + " 2", judges_real.FIVE + " well, let me see."]
    said = [{"role": "system", "content": judges_real.SYSTEM}]
    for prompt, completion, verdict in judges_real.WORKED:
        said += [{"role": "user", "content": prompt + completion}, {"role": "assistant", "content": verdict}]
    yes, no = (tokenizer.encode(word)[0] for word in ("yes", "no"))
    for text, margin in zip(texts, judges_real.margins(texts).tolist(), strict=True):
        asked = said + [{"role": "user", "content": text}]
        written = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
        with torch.no_grad():
            logits = model(torch.tensor([tokenizer.encode(written)])).logits[0, -1]
        assert margin == pytest.approx((logits[yes] - logits[no]).item(), abs=1e-3)


@pytest.mark.slow
@pytest.mark.usefixtures("shapes_unchecked")
def test_it_learns_a_format_from_rewards():
    """Catches a real model that loads and learns nothing. One seed of the recorded sweep, two minutes."""
    made = real_model.run("GRPO, all weights", seed=0)
    (then, *_), (untrained, *_) = (recorded("real_model").of(name) for name in ("GRPO, all weights", "untrained"))
    for way in ("greedy", "sampled"):
        assert made[f"format, {way}"] == pytest.approx(then[f"format, {way}"], abs=0.25)
        assert made[f"format, {way}"] > untrained[f"format, {way}"] + 0.3
    assert made["known"] >= then["known"] - 1
