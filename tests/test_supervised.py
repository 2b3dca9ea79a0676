"""Oracle: transformers' own cross-entropy, one document at a time, with the prompt's labels set to -100."""

import pytest
import torch

from shared.algorithm import TrainingConfig
from shared.supervised import Supervised, encode_documents, train
from tests.conftest import letter_tokenizer, tiny_llama

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


def test_parts_are_cut_to_their_own_width(model, tokenizer):
    algorithm = Supervised(model, tokenizer)
    batch = algorithm.experience(ROWS, step=0)
    part = batch.take([3, 2])
    assert part.ids.shape == (2, 5) and part.num_tokens == 3
    torch.testing.assert_close(algorithm.loss(part)[0], algorithm.loss(algorithm.experience([ROWS[3], ROWS[2]], 0))[0])


def test_it_learns_what_it_is_shown(tokenizer):
    model = tiny_llama(initializer_range=0.02).eval()
    config = TrainingConfig(steps=60, prompts_per_step=4, learning_rate=1e-2, log_every=0)
    history = train(model, tokenizer, ROWS, config, progress=False)
    assert history[0]["loss"] > 2 and history[-1]["loss"] < 0.1


@pytest.mark.parametrize(
    "row, words", [({"prompt": "a"}, "no 'completion'"), ({"prompt": "", "completion": "a"}, "no tokens")]
)
def test_bad_rows_are_sentences(tokenizer, row, words):
    with pytest.raises(ValueError, match=words):
        encode_documents(tokenizer, [ROWS[0], row], CPU)
