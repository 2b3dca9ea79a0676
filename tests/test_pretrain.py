"""The tokenizer, the batches, and a tiny pretraining run that is interrupted and resumed."""

import random
from itertools import islice

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shared import pretrain
from shared.models import load_policy


@pytest.fixture(scope="module")
def tokenizer():
    return pretrain.build_tokenizer(list(islice(pretrain.documents(random.Random(0)), 3000)), most_pieces=2000)


def test_the_mixture_names_every_task_once():
    assert pretrain.MIXTURE.keys() == pretrain.TASKS.keys()
    assert sum(pretrain.MIXTURE.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A♠ T♥ 7♦ 2♣", ["A", "♠", " T", "♥", " 7", "♦", " 2", "♣"]),
        ("17 + 25 = 42", ["1", "7", " +", " 2", "5", " =", " 4", "2"]),
        (
            "<think>\n3 * (8 - 2) / 1\n</think>",
            ["<think>", "\n", "3", " *", " (", "8", " -", " 2", ")", " /", " 1", "\n", "</think>"],
        ),
        ("Dots: 3", ["Dots", ":", " 3"]),
    ],
)
def test_ranks_suits_digits_operators_and_tags_are_single_tokens(tokenizer, text, tokens):
    """A suit that is three bytes, or a number that is one token, hides from the model what the task is about."""
    assert tokenizer.tokenize(text) == tokens


@given(st.text())
def test_any_text_comes_back_unchanged(tokenizer, text):
    """A tokenizer that drops or normalises white space makes a reward judge another text than was sampled."""
    text = text.encode("utf-8", "ignore").decode()
    ids = tokenizer(text)["input_ids"]
    if not set(ids) & {tokenizer.pad_token_id, tokenizer.eos_token_id}:
        assert tokenizer.decode(ids) == text


def test_documents_are_words_not_bytes(tokenizer):
    texts = list(islice(pretrain.documents(random.Random(9)), 300))
    tokens = [token for text in texts for token in tokenizer.tokenize(text)]
    assert sum(token.startswith("<0x") for token in tokens) < 0.001 * len(tokens)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("name", pretrain.TASKS)
def test_a_prompts_tokens_begin_the_tokens_of_prompt_and_completion(tokenizer, name):
    """Otherwise the prompt that is sampled from is not the prompt that was pretrained on."""
    rows = pretrain.TASKS[name].dataset("train", 3)
    for document in islice(pretrain.TASKS[name].documents(random.Random(2)), 200):
        for row in rows:
            prompt = row["prompt"]
            whole = tokenizer(prompt + (document[len(prompt) :] if document.startswith(prompt) else " and"))[
                "input_ids"
            ]
            assert whole[: len(tokenizer(prompt)["input_ids"])] == tokenizer(prompt)["input_ids"]


def test_batches_hold_every_document_once_with_its_end(tokenizer, monkeypatch):
    monkeypatch.setattr(pretrain, "DOCUMENTS_IN_A_POOL", 300)
    parts = [part for batch in pretrain.batches_of_pool(4, tokenizer) for part in batch]
    assert sum(len(part) for part in parts) == 300
    assert all(ids[-1] == tokenizer.eos_token_id for part in parts for ids in part)
    assert all(len(part) * max(map(len, part)) <= pretrain.TOKENS_IN_A_PART for part in parts)


def test_each_pool_has_documents_of_its_own(tokenizer, monkeypatch):
    """Catches an endless mixture that is the same one pool again and again."""
    monkeypatch.setattr(pretrain, "DOCUMENTS_IN_A_POOL", 50)
    one, other = (
        {tuple(ids) for batch in pretrain.batches_of_pool(pool, tokenizer) for part in batch for ids in part}
        for pool in (0, 1)
    )
    assert len(one & other) < 25


def test_padding_is_not_learned_and_the_end_is():
    """Labels masked by `ids == pad` lose the end of the document where pad and EOS are one id."""
    ids, labels = pretrain.padded([[5, 6, 1], [7, 1]], pad=1)
    assert ids.tolist() == [[5, 6, 1], [7, 1, 1]]
    assert labels.tolist() == [[5, 6, 1], [7, 1, -100]]


def test_the_loss_of_a_batch_does_not_depend_on_its_parts(tokenizer):
    """Averaging the parts' own means weighs the tokens of a small part more."""
    documents = [[5, 6, 7, 1], [8, 9, 1], [10, 11, 12, 13, 14, 1]]
    results = []
    for batch in ([documents], [[documents[0]], documents[1:]]):
        model = pretrain.build_model(tokenizer)
        loss = pretrain.train_on(model, torch.optim.SGD(model.parameters(), lr=0.1), batch, tokenizer.pad_token_id)
        results.append((loss, model.lm_head.weight.detach().clone()))
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-5)
    assert torch.allclose(results[0][1], results[1][1], atol=1e-6)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.slow
def test_a_resumed_run_ends_where_an_uninterrupted_one_ends(tmp_path, monkeypatch):
    """Catches optimiser, learning rate, losses or pools that start over; on few documents and two batches, so quickly."""
    monkeypatch.setattr(pretrain, "DOCUMENTS_OF_THE_TOKENIZER", 300)
    monkeypatch.setattr(pretrain, "DOCUMENTS_IN_A_POOL", 20)
    whole = pretrain.train(tmp_path / "whole", pools=3, progress=False)

    real, calls = pretrain.train_on, []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(pretrain, "train_on", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pretrain.train(tmp_path / "parts", pools=3, progress=False)
    monkeypatch.setattr(pretrain, "train_on", real)
    assert pretrain.train(tmp_path / "parts", pools=3, progress=False) == whole

    saved = {path.name for path in (tmp_path / "parts").iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "loss.png"} <= saved
    assert "training.pt" not in saved
    one, _ = load_policy(tmp_path / "whole")
    other, tokenizer = load_policy(tmp_path / "parts")
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters()))
    assert tokenizer.padding_side == "left" and tokenizer.pad_token_id != tokenizer.eos_token_id
