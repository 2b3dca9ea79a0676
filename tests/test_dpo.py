"""Oracles: the loss of TRL's DPOTrainer on one batch; the gradient of two pairs, written out by hand."""

import pytest
import torch
from datasets import Dataset
from trl import DPOConfig as TRLConfig
from trl import DPOTrainer

from shared import updates
from shared.dpo import DPO, DPOConfig, both_of, document_logps, dpo_loss, train
from shared.engine import piece_size
from shared.supervised import encode_documents
from tests.algorithms import CHOICES
from tests.fakes import tiny_llama

CPU = torch.device("cpu")
BETA = 0.5


@pytest.fixture
def reference():
    return tiny_llama(9).eval()


def algorithm(model, tokenizer, reference) -> DPO:
    return DPO(model, tokenizer, DPOConfig(beta=BETA), reference=reference)


def test_the_loss_is_that_of_trl(tokenizer, reference, tmp_path):
    """Catches a mean over tokens, an EOS that does not count, a reference left out, and pairs that are mixed up."""
    model = tiny_llama().eval()
    ours = algorithm(model, tokenizer, reference)
    loss, metrics = ours.loss(ours.experience(CHOICES, step=0))
    settings = TRLConfig(
        output_dir=str(tmp_path), beta=BETA, per_device_train_batch_size=4, report_to="none", use_cpu=True, bf16=False
    )
    trainer = DPOTrainer(
        model, reference, settings, train_dataset=Dataset.from_list(CHOICES), processing_class=tokenizer
    )
    theirs = trainer.compute_loss(trainer.model, next(iter(trainer.get_train_dataloader())))
    torch.testing.assert_close(loss, theirs, rtol=1e-4, atol=1e-5)
    told = trainer._metrics["eval"]
    assert metrics["margin"].item() == pytest.approx(told["rewards/margins"][0], rel=1e-3)
    assert metrics["accuracy"].item() == told["rewards/accuracies"][0]
    assert not metrics["loss"].requires_grad


def test_the_gradient_is_the_one_of_the_paper(tokenizer, reference):
    """-beta sigmoid(-margin) (grad log pi(chosen) - grad log pi(rejected)), its equation 7; catches a lost beta or sign."""
    model = tiny_llama().eval()
    ours = algorithm(model, tokenizer, reference)
    parameters = list(model.parameters())
    rows = CHOICES[:2]
    found = torch.autograd.grad(ours.loss(ours.experience(rows, step=0))[0], parameters)
    expected = [torch.zeros_like(p) for p in parameters]
    for row in rows:
        documents = encode_documents(tokenizer, both_of([row]), CPU)
        logps = document_logps(model, documents)  # (2,): chosen, rejected
        margin = BETA * (logps - document_logps(reference, documents)).detach() @ torch.tensor([1.0, -1.0])
        up = torch.autograd.grad(logps[0], parameters, retain_graph=True)
        down = torch.autograd.grad(logps[1], parameters)
        for total, one, other in zip(expected, up, down):
            total -= BETA * torch.sigmoid(-margin) * (one - other) / len(rows)
    torch.testing.assert_close(found, tuple(expected), rtol=1e-4, atol=1e-6)


def test_the_worked_pair_of_the_module():
    """Catches a reference, a beta or a sign that is left out."""
    logps = (torch.tensor([value]) for value in (-10.0, -11.0, -12.0, -8.0))
    loss, metrics = dpo_loss(*logps, beta=0.1)
    assert loss.item() == pytest.approx(0.474, abs=5e-4) and metrics["margin"].item() == pytest.approx(0.5)


def test_a_policy_that_is_its_reference_finds_every_choice_a_coin_toss(tokenizer):
    model = tiny_llama().eval()
    ours = algorithm(model, tokenizer, tiny_llama().eval())
    loss, metrics = ours.loss(ours.experience(CHOICES, step=0))
    assert loss.item() == pytest.approx(0.693147, abs=1e-5) and metrics["margin"] == 0


def test_parts_keep_both_of_a_pair(tokenizer, reference):
    """Catches a chosen completion that is compared with another pair's rejected one."""
    ours = algorithm(tiny_llama().eval(), tokenizer, reference)
    whole = ours.experience(CHOICES, step=0)
    part = whole.take([3, 1])
    alone = ours.experience([CHOICES[3], CHOICES[1]], step=0)
    torch.testing.assert_close(ours.loss(part)[0], ours.loss(alone)[0])
    torch.testing.assert_close(part.ref_logps, alone.ref_logps)
    assert len(whole) == 4 and len(part) == ours.weight(part) == part.num_tokens == 2
    assert whole.row_tokens.tolist() == [8, 3, 7, 5]
    assert part.num_places == part.documents.ids.numel()


def test_the_metrics_are_means_over_pairs(tokenizer, reference, monkeypatch):
    """In pieces as in one. Catches pieces that count by their tokens: a long pair would count more than a short one."""
    ours = algorithm(tiny_llama().eval(), tokenizer, reference)
    pairs = ours.experience(CHOICES, step=0)
    whole = updates.add_up_gradient(ours, pairs, ours.config)
    monkeypatch.setattr(piece_size, "LOGITS_AT_ONCE", 1)
    assert len(updates.pieces(pairs, ours.numbers_per_place, 1)) == 4
    in_pieces = updates.add_up_gradient(ours, pairs, ours.config)
    for name in ("loss", "accuracy", "margin"):
        torch.testing.assert_close(in_pieces[name], whole[name])


@pytest.mark.usefixtures("shapes_unchecked")
def test_it_learns_the_choices(tokenizer):
    model = tiny_llama(initializer_range=0.02).eval()
    reference = tiny_llama(initializer_range=0.02).eval()
    config = DPOConfig(steps=20, prompts_per_step=4, learning_rate=1e-2, beta=BETA, log_every=0)
    history = train(model, tokenizer, CHOICES, config, reference=reference, progress=False)
    assert history[0]["loss"] > 0.65 and history[-1]["loss"] < 0.1 and history[-1]["accuracy"] == 1


def test_what_is_wrong_is_said_in_a_sentence(tokenizer):
    model = tiny_llama()
    with pytest.raises(ValueError, match="Row 1 has no 'rejected'"):
        both_of([CHOICES[0], {"prompt": "a", "chosen": "b"}])
    with pytest.raises(ValueError, match="beta is 0"):
        DPOConfig(beta=0.0)
    with pytest.raises(ValueError, match="policy itself"):
        DPO(model, tokenizer, DPOConfig(), reference=model)
