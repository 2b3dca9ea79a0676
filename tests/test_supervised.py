"""Oracle: transformers' own cross-entropy, one document at a time, with the prompt's labels set to -100."""

from dataclasses import replace

import pytest
import torch
from tokenizers.processors import TemplateProcessing

from shared.algorithm import TrainingConfig
from shared.supervised import Supervised, encode_documents, train
from tests.fakes import letter_tokenizer, tiny_gpt2, tiny_llama
from tests.second_device import DEVICE, second_device

ROWS = [{"prompt": p, "completion": c} for p, c in [("abc", "de"), ("d", "bbbb"), ("efg", ""), ("hij", "a")]]
CPU = torch.device("cpu")


def test_the_loss_is_the_mean_over_the_completions_tokens(model, tokenizer):
    """Catches a prompt that is learned, an EOS that is not, padding that counts, and labels shifted by one."""
    total, count = 0.0, 0
    for row in ROWS:
        prompt, completion = tokenizer(row["prompt"])["input_ids"], tokenizer(row["completion"])["input_ids"] + [1]
        labels = torch.tensor([[-100] * len(prompt) + completion])
        total += model(torch.tensor([prompt + completion]), labels=labels).loss * len(completion)
        count += len(completion)
    algorithm = Supervised(model, tokenizer)
    loss, metrics = algorithm.loss(algorithm.experience(ROWS, step=0))
    torch.testing.assert_close(loss, total / count)
    assert not metrics["loss"].requires_grad


def test_eos_is_learned_where_pad_is_eos(model):
    batch = encode_documents(letter_tokenizer(pad_is_eos=True), ROWS, CPU)
    assert batch.learned.sum(dim=1).tolist() == batch.learned_tokens.tolist() == [3, 5, 1, 2]
    assert batch.num_tokens == 11 and batch.row_tokens.tolist() == [6, 6, 4, 5]


def test_the_record_tells_the_entropy_of_what_is_learned_and_its_length(model, tokenizer):
    """Catches the prompt's or the padding's entropy in the mean."""
    algorithm = Supervised(model, tokenizer)
    batch = algorithm.experience(ROWS, step=0)
    loss, metrics = algorithm.loss(batch)
    entropies = []
    for row in ROWS:
        prompt, completion = tokenizer(row["prompt"])["input_ids"], tokenizer(row["completion"])["input_ids"]
        logits = model(torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 :]
        entropies += torch.distributions.Categorical(logits=logits).entropy().tolist()
    assert metrics.keys() == {"loss", "entropy"} and metrics["loss"] == loss
    assert metrics["entropy"].item() == pytest.approx(sum(entropies) / len(entropies), rel=1e-4)
    assert not metrics["entropy"].requires_grad
    assert batch.metrics == {"completions/mean_length": 2.75}


def test_documents_are_padded_on_the_right_by_hand():
    """a is 2, b is 3; catches a BOS between prompt and completion, and padding that is learned."""
    tokenizer = letter_tokenizer()
    single = TemplateProcessing(single="<eos> $A", special_tokens=[("<eos>", 1)])
    tokenizer.backend_tokenizer.post_processor = single
    for pad in ("<pad>", None, "a"):
        tokenizer.pad_token = pad
        filler = 2 if pad == "a" else 0
        batch = encode_documents(
            tokenizer, [{"prompt": "a", "completion": "bb"}, {"prompt": "b", "completion": ""}], CPU
        )
        assert batch.ids.tolist() == [[1, 2, 3, 3, 1], [1, 3, 1, filler, filler]]
        assert batch.learned.tolist() == [[0, 0, 1, 1, 1], [0, 0, 1, 0, 0]]
        assert batch.row_tokens.tolist() == [5, 3] and batch.learned_tokens.tolist() == [3, 1]
        assert batch.num_places == 10 and batch.num_tokens == 4 and len(batch) == 2
    tokenizer.eos_token = None
    with pytest.raises(ValueError, match="no EOS token"):
        encode_documents(tokenizer, [{"prompt": "a", "completion": "b"}], CPU)


def test_all_of_a_batch_goes_to_the_device(tokenizer):
    """All that the model reads is on the device; lengths stay on the CPU, so that nobody waits for a GPU."""
    with second_device():
        batch = Supervised(tiny_llama().to(DEVICE), tokenizer).experience(ROWS, step=0)
        assert batch.ids.device == batch.learned.device == DEVICE
        assert {batch.row_tokens.device.type, batch.learned_tokens.device.type} == {"cpu"}


def test_padding_behind_a_document_is_not_seen(tokenizer, model):
    """No mask is given: catches a batch that is padded on the left. Other padding gives the same loss."""
    algorithm = Supervised(model, tokenizer)
    batch = algorithm.experience(ROWS, step=0)
    behind = torch.arange(batch.ids.size(1)) >= batch.row_tokens[:, None]
    assert behind.any()
    poisoned = replace(batch, ids=batch.ids.masked_fill(behind, 7))
    assert torch.equal(algorithm.loss(poisoned)[0], algorithm.loss(batch)[0])


def test_a_run_shows_its_name(tokenizer, capsys):
    train(tiny_llama(), tokenizer, ROWS, TrainingConfig(steps=1, prompts_per_step=2))
    assert "supervised:" in capsys.readouterr().err


def test_dropout_is_off_and_no_cache_is_kept(tokenizer):
    """One document more in the batch must not change what the others give; the loop compares losses of steps."""
    model = tiny_gpt2(dropout=0.5).train()
    algorithm = Supervised(model, tokenizer)
    batch = algorithm.experience(ROWS, step=0)
    seen = []
    handle = model.register_forward_pre_hook(lambda module, args, options: seen.append(options), with_kwargs=True)
    assert torch.equal(algorithm.loss(batch)[0], algorithm.loss(batch)[0]) and model.training
    handle.remove()
    assert seen[0]["use_cache"] is False


def test_half_precision_is_scored_in_single(tokenizer):
    """In bfloat16 a log-probability has three digits."""
    model = tiny_llama().eval().to(torch.bfloat16)
    algorithm = Supervised(model, tokenizer)
    loss, metrics = algorithm.loss(algorithm.experience(ROWS, step=0))
    assert loss.dtype == metrics["entropy"].dtype == torch.float32


def test_parts_keep_what_belongs_to_them(tokenizer):
    whole = encode_documents(tokenizer, ROWS, CPU)
    part = whole.take([3, 2])
    assert torch.equal(part.ids, whole.ids[[3, 2], :5])
    assert torch.equal(part.learned, whole.learned[[3, 2], :5]) and part.metrics == whole.metrics
    assert part.row_tokens.tolist() == [5, 4] and part.learned_tokens.tolist() == [2, 1]
    assert len(whole.take([])) == 0  # another process's share, when there are fewer documents than processes


def test_parts_are_cut_to_their_own_width(model, tokenizer):
    algorithm = Supervised(model, tokenizer)
    batch = algorithm.experience(ROWS, step=0)
    part = batch.take([3, 2])
    assert part.ids.shape == (2, 5) and part.num_tokens == 3
    torch.testing.assert_close(algorithm.loss(part)[0], algorithm.loss(algorithm.experience([ROWS[3], ROWS[2]], 0))[0])


@pytest.mark.usefixtures("shapes_unchecked")
def test_it_learns_what_it_is_shown(tokenizer):
    model = tiny_llama(initializer_range=0.02).eval()
    config = TrainingConfig(steps=60, prompts_per_step=4, learning_rate=1e-2, log_every=0)
    history = train(model, tokenizer, ROWS, config, progress=False)
    assert history[0]["loss"] > 2 and history[-1]["loss"] < 0.1


@pytest.mark.parametrize(
    "row, words",
    [
        ({"prompt": "a"}, "no 'completion'"),
        ({"prompt": "", "completion": "a"}, "'' has no tokens"),
        ({"completion": "a"}, "Row 1 has no 'prompt'"),
        ({}, "Row 1 has no 'prompt'"),
        ({"prompt": "a", "completion": 3}, "Row 1 has 3 as its 'completion'"),
    ],
)
def test_bad_rows_are_sentences(tokenizer, row, words):
    with pytest.raises(ValueError, match=words):
        encode_documents(tokenizer, [ROWS[0], row], CPU)
