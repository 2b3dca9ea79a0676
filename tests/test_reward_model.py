"""Oracles: the loss that TRL's RewardTrainer computes, in closed form; a known reward on pairs that are enumerated."""

from copy import deepcopy
from itertools import permutations

import pytest
import torch
from datasets import Dataset
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForSequenceClassification
from trl import RewardConfig, RewardTrainer

from shared.algorithm import TrainingConfig
from shared.dpo import both_of
from shared.reward_model import RewardModel, RewardModelling, accuracy, plain_fit, preference_loss, train
from shared.rewards import score
from tests.algorithms import CHOICES
from tests.fakes import tiny_llama
from tests.second_device import DEVICE, second_device


@pytest.fixture
def judge(tokenizer) -> RewardModel:
    made = RewardModel(tiny_llama(), tokenizer)
    torch.nn.init.normal_(made.head.weight, generator=torch.Generator().manual_seed(0))
    return made


def test_the_loss_is_the_cross_entropy_of_the_choice():
    """A choice among two with the rewards as logits. Catches a sign, a logarithm of 0 where a margin is large, and
    pairs that count as right only from some margin on."""
    chosen = torch.tensor([0.0, 2.0, -150.0, 0.5], requires_grad=True)
    rejected = torch.tensor([0.0, -1.0, 50.0, 0.0])
    loss, metrics = preference_loss(chosen, rejected)
    oracle = cross_entropy(torch.stack([chosen, rejected], dim=1), torch.zeros(4, dtype=torch.long))
    torch.testing.assert_close(loss, oracle)
    torch.testing.assert_close(torch.autograd.grad(loss, chosen), torch.autograd.grad(oracle, chosen))
    assert metrics["loss"] == loss and not metrics["loss"].requires_grad
    assert metrics["accuracy"].item() == pytest.approx(2 / 4)
    assert metrics["margin"].item() == pytest.approx((3 - 200 + 0.5) / 4)


def test_trls_reward_trainer_takes_the_rows_and_finds_the_same_loss(judge, tokenizer, tmp_path):
    """Catches rows that TRL's trainer reads otherwise: another end, another place that is read, pairs mixed up."""
    changed = {"num_labels": 1, "pad_token_id": tokenizer.pad_token_id}
    theirs = LlamaForSequenceClassification(LlamaConfig(**judge.model.config.to_dict() | changed))
    theirs.model.load_state_dict(judge.model.model.state_dict())
    theirs.score = judge.head
    settings = RewardConfig(
        output_dir=str(tmp_path), per_device_train_batch_size=4, report_to="none", use_cpu=True, bf16=False
    )
    trainer = RewardTrainer(theirs, settings, train_dataset=Dataset.from_list(CHOICES), processing_class=tokenizer)
    loss = trainer.compute_loss(theirs.eval(), next(iter(trainer.get_train_dataloader())))
    ours = RewardModelling(judge)
    torch.testing.assert_close(ours.loss(ours.experience(CHOICES, step=0))[0], loss, rtol=1e-4, atol=1e-5)


def test_a_reward_reads_the_state_at_the_end_of_the_completion(judge, tokenizer):
    """Catches the state of the padding, of the last token before EOS, and rows that change each other."""
    rows = both_of(CHOICES)
    states = judge.states(rows)
    for row, state in zip(rows, states):
        ids = tokenizer(row["prompt"])["input_ids"] + tokenizer(row["completion"])["input_ids"] + [1]
        whole = judge.model(torch.tensor([ids]), output_hidden_states=True).hidden_states[-1]
        torch.testing.assert_close(state, whole[0, -1], rtol=1e-4, atol=1e-5)


def test_many_rows_are_read_in_parts(judge, monkeypatch):
    rows = both_of(CHOICES)
    whole = judge.states(rows)
    monkeypatch.setattr("shared.reward_model.DOCUMENTS_AT_ONCE", 3)
    torch.testing.assert_close(judge.states(rows), whole)


def test_it_is_a_reward_function(judge):
    """Catches rewards that are tensors, that need a gradient, or that stand in another order."""
    rows = both_of(CHOICES)
    prompts = [row["prompt"] for row in rows]
    completions = [row["completion"] for row in rows]
    rewards = score(judge.reward, prompts, completions, {"answer": ["x"] * len(rows)})[:, 0]
    torch.testing.assert_close(rewards, judge(judge.states(rows)).detach())
    assert rewards.unique().numel() > 4


def test_training_moves_the_head_alone(judge):
    """Catches a judge whose states move, and one that moves with the policy it was made of."""
    policy = tiny_llama()
    judge = RewardModel(policy, judge.tokenizer)
    assert judge.head.weight.abs().sum() == 0, "before training no completion is better than another"
    with torch.no_grad():
        policy.lm_head.weight.zero_()
        next(policy.parameters()).zero_()
    frozen = {name: value.clone() for name, value in judge.model.state_dict().items()}
    train(judge, CHOICES, TrainingConfig(steps=2, prompts_per_step=4, log_every=0), progress=False)
    assert judge.head.weight.abs().sum() > 0
    assert all(torch.equal(value, frozen[name]) for name, value in judge.model.state_dict().items())
    assert next(judge.model.parameters()).abs().sum() > 0


@pytest.mark.usefixtures("shapes_unchecked")
def test_it_recovers_a_known_reward(tokenizer):
    """All ordered pairs of a few completions, each in proportion to its Bradley-Terry probability: the fit must give
    the very differences that made them. Catches a loss whose optimum is another one."""
    judge = RewardModel(tiny_llama(initializer_range=1.0), tokenizer)
    known = {"a": 0.0, "bb": 1.0, "ccc": -0.5, "dd": 0.7}
    rows = [{"prompt": "e", "chosen": one, "rejected": other} for one, other in permutations(known, 2)]
    states = RewardModelling(judge).experience(rows, step=0).states  # (12, 2, D)
    weights = torch.tensor([torch.sigmoid(torch.tensor(known[r["chosen"]] - known[r["rejected"]])) for r in rows])
    optimizer = torch.optim.LBFGS(judge.head.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        losses = [weight * preference_loss(*judge(pair).split(1))[0] for weight, pair in zip(weights, states)]
        total = torch.stack(losses).sum()
        total.backward()
        return total

    optimizer.step(closure)
    found = torch.tensor(judge.reward(["e"] * len(known), list(known)))
    torch.testing.assert_close(found - found[0], torch.tensor(list(known.values())), rtol=0, atol=0.01)


@pytest.mark.usefixtures("shapes_unchecked")
def test_it_learns_the_choices(tokenizer):
    judge = RewardModel(tiny_llama(initializer_range=0.5), tokenizer)
    plain = deepcopy(judge)
    size = {"steps": 1, "prompts_per_step": 4, "num_iterations": 50, "max_grad_norm": 1e9}
    config = TrainingConfig(**size, learning_rate=0.1, warmup_steps=0, log_every=0)
    (record,) = train(judge, CHOICES, config, progress=False)
    plain_fit(plain, CHOICES, updates=50, learning_rate=0.1)
    torch.testing.assert_close(judge.head.weight, plain.head.weight)
    assert accuracy(judge, CHOICES) == 1 and record["accuracy"] > 0.5
    swapped = [row | {"chosen": row["rejected"], "rejected": row["chosen"]} for row in CHOICES]
    assert accuracy(judge, swapped) == 0


def test_parts_keep_what_belongs_to_them(judge):
    whole = RewardModelling(judge).experience(CHOICES, step=0)
    part = whole.take([2, 0])
    assert torch.equal(part.states, whole.states[[2, 0]]) and len(part) == 2
    assert part.row_tokens.tolist() == [2, 2] and part.num_tokens == 2 and part.num_places == part.states.numel()


def test_all_of_it_is_on_the_device(tokenizer):
    with second_device():
        judge = RewardModel(tiny_llama().to(DEVICE), tokenizer)
        assert judge.head.weight.device == DEVICE and judge.states(both_of(CHOICES)).device == DEVICE


def test_an_undecided_judge_is_right_about_nothing(tokenizer):
    """Catches a judge that was never trained, whose rewards are all equal, with an accuracy of 1."""
    assert accuracy(RewardModel(tiny_llama(), tokenizer), CHOICES) == 0.0


def test_each_completion_has_its_prompt(judge):
    """Catches completions that are left without a reward because there were fewer prompts."""
    with pytest.raises(ValueError, match="argument 2 is longer"):
        judge.reward(["a"], ["b", "c"])
