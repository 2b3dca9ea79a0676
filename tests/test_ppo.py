"""PPO's objective term by term, what its updates move, and its settings."""

from dataclasses import replace
from unittest.mock import patch

import pytest
import torch

from shared import ppo, updates
from shared.constrain import answer_trie
from shared.critic import ActorCritic
from shared.engine import piece_size
from shared.engine.logits import token_logps
from shared.models import frozen_copy
from shared.ppo import PPO, PPOConfig, PPOExperience
from shared.rollout import Rollout
from tests.fakes import tiny_llama
from tests.ppo import CONFIG, ROWS, count_a, experience_of


@pytest.mark.parametrize("kl_in", ["loss", "reward"])
def test_before_the_first_update_nothing_has_moved_and_the_kl_is_zero(model, tokenizer, kl_in):
    policy, experience = experience_of(model, tokenizer, replace(CONFIG, kl_in=kl_in))
    _, metrics = ppo.ppo_loss(policy, experience, CONFIG)
    assert metrics["moved"] == pytest.approx(0, abs=1e-6) and metrics["clip_ratio"] == 0
    assert experience.metrics["kl"] == pytest.approx(0, abs=1e-6)


def test_policy_and_head_move(model, tokenizer):
    policy = ActorCritic(model)
    before = [p.detach().clone() for p in policy.parameters()]
    history = ppo.train(policy, frozen_copy(model), tokenizer, ROWS, count_a, CONFIG, progress=False)
    moved = [not torch.equal(a, b) for a, b in zip(before, policy.parameters())]
    assert all(moved) and len(history) == 3


def test_without_the_policy_term_and_the_value_term_the_policy_stays(model, tokenizer):
    """At the reference the gradient of the KL is 0: what a loop without policy gradient learns is nothing."""
    config = replace(CONFIG, policy_coef=0.0, value_coef=0.0, beta=1.0)
    policy = ActorCritic(model)
    _, experience = experience_of(model, tokenizer, config)
    loss, _ = ppo.ppo_loss(policy, experience, config)
    loss.backward()
    assert max(p.grad.abs().max() for p in policy.model.parameters() if p.grad is not None) < 1e-5


@pytest.mark.slow
@pytest.mark.usefixtures("shapes_unchecked")
def test_it_learns_to_say_a(tokenizer):
    model = tiny_llama().eval()
    policy = ActorCritic(model)
    config = replace(CONFIG, steps=25, num_generations=8, learning_rate=3e-3, beta=0.0)
    history = ppo.train(policy, frozen_copy(model), tokenizer, ROWS, count_a, config, progress=False)
    assert sum(r["reward"] for r in history[-5:]) > 1.8 * sum(r["reward"] for r in history[:5])


def learn(policy, tokenizer, experience, optimizer, config):
    algorithm = PPO(policy, tokenizer, count_a, config)
    return updates.learn(algorithm, experience, config, 0, optimizer)


class TwoWords(ActorCritic):
    """A policy that gives word 1 the probabilities it is told to, with the values it is told to."""

    def __init__(self, probabilities: torch.Tensor, values: torch.Tensor):
        super().__init__(tiny_llama())
        self.logits = torch.stack([1 - probabilities, probabilities], dim=-1).log()
        self.values = values

    def forward(self, rollout):
        return self.logits, self.values


def test_the_worked_numbers_of_the_docstring():
    """Catches an example that is not of the formula above it: every mean and the sum, by `ppo_loss`; padding is 7."""
    rollout = Rollout(
        prompts=["x", "y"],
        completions=["bb", "b"],
        num_generations=1,
        prompt_ids=torch.tensor([[2], [2]]),
        prompt_mask=torch.ones(2, 1, dtype=torch.long),
        completion_ids=torch.tensor([[1, 1], [1, 0]]),
        completion_mask=torch.tensor([[1, 1], [1, 0]]),
        old_logps=torch.tensor([[0.5, 0.5], [0.5, 1.0]]).log(),
        prompt_lengths=torch.tensor([1, 1]),
        lengths=torch.tensor([2, 1]),
        truncated=torch.tensor([False, False]),
        sampling=PPOConfig().sampling,
    )
    experience = PPOExperience(
        rollout=rollout,
        rewards_per_func=torch.ones(2, 1),
        rewards=torch.ones(2),
        advantages=torch.tensor([[1.0, 1.0], [-1.0, 7.0]]),
        ref_logps=None,
        metrics={},
        returns=torch.tensor([[1.0, 1.0], [0.0, 7.0]]),
        old_values=torch.tensor([[0.0, 0.0], [0.0, 7.0]]),
        ref_logits=torch.zeros(2, 2, 2),
    )
    policy = TwoWords(torch.tensor([[0.7, 0.5], [0.7, 0.5]]), torch.tensor([[0.5, 0.1], [0.1, 7.0]]))
    policy.logits[1, 1] = 7.0
    nothing = dict(policy_coef=0.0, value_coef=0.0, entropy_coef=0.0, beta=0.0)
    terms = {"policy_coef": -0.267, "value_coef": 0.243, "entropy_coef": -0.638, "beta": 0.055}
    for name, mean in terms.items():
        loss, _ = ppo.ppo_loss(policy, experience, PPOConfig(**nothing | {name: 1.0}))
        assert loss.item() == pytest.approx(mean, abs=5e-4), name
    config = PPOConfig(policy_coef=1.0, value_coef=0.5, entropy_coef=0.01, beta=0.05)
    assert ppo.ppo_loss(policy, experience, config)[0].item() == pytest.approx(-0.149, abs=5e-4)


def test_a_policy_that_has_moved_far_ends_its_epochs(model, tokenizer):
    policy, experience = experience_of(model, tokenizer, CONFIG)
    optimizer = torch.optim.SGD(policy.parameters(), lr=50.0)
    updates = learn(policy, tokenizer, experience, optimizer, replace(CONFIG, num_iterations=10, target_kl=0.01))
    assert len(updates) < 20


def test_a_loss_that_is_not_finite_changes_nothing(model, tokenizer):
    """Catches one bad rollout that turns every weight of policy and critic into nan."""
    policy, experience = experience_of(model, tokenizer, CONFIG)
    broken = replace(experience, advantages=torch.full_like(experience.advantages, torch.nan))
    before = [p.detach().clone() for p in policy.parameters()]
    learn(policy, tokenizer, broken, torch.optim.AdamW(policy.parameters(), lr=0.1), CONFIG)
    assert all(torch.equal(p, q) for p, q in zip(policy.parameters(), before))


MOST = {
    "policy_coef": 2.0,
    "value_coef": 3.0,
    "entropy_coef": 0.5,
    "beta": 0.7,
    "epsilon": 0.05,
    "value_epsilon": 0.02,
}


@pytest.mark.parametrize("options", [{name: value} for name, value in MOST.items()] + [MOST])
def test_every_term_of_the_objective_has_its_weight_and_its_range(tokenizer, options):
    """The formula of the docstring again, term by term over the real tokens, against `ppo_loss`."""
    model = tiny_llama().eval()
    policy = ActorCritic(model)
    torch.nn.init.normal_(policy.value_head[-1].weight)
    experience = ppo.collect(policy, tiny_llama(7).eval(), tokenizer, ROWS, count_a, CONFIG)
    rollout = experience.rollout
    signs = (torch.arange(rollout.old_logps.size(1)) % 2 * 2 - 1) * 0.1
    experience.old_values[:] += signs
    rollout.old_logps[:] += signs
    config = replace(CONFIG, **options)
    loss, metrics = ppo.ppo_loss(policy, experience, config)

    real = rollout.completion_mask.bool()
    logits, values = policy(rollout)
    old = rollout.old_logps[real]
    logps = logits.log_softmax(-1).gather(-1, rollout.completion_ids[..., None])[..., 0][real]
    ratio, advantages = (logps - old).exp(), experience.advantages[real]
    clipped_ratio = ratio.clamp(1 - config.epsilon, 1 + config.epsilon)
    surrogate = torch.minimum(ratio * advantages, clipped_ratio * advantages)
    values, old_values, returns = values[real], experience.old_values[real], experience.returns[real]
    clipped_values = values.clamp(old_values - config.value_epsilon, old_values + config.value_epsilon)
    value_loss = torch.maximum((values - returns) ** 2, (clipped_values - returns) ** 2).mean() / 2
    distribution = torch.distributions.Categorical(logits=logits[real])
    reference = torch.distributions.Categorical(logits=experience.ref_logits[real])
    kl = torch.distributions.kl_divergence(distribution, reference).mean()
    entropy = distribution.entropy().mean()
    oracle = -config.policy_coef * surrogate.mean() + config.value_coef * value_loss
    oracle = oracle + config.beta * kl - config.entropy_coef * entropy
    torch.testing.assert_close(loss, oracle)
    expected = {
        "loss": oracle,
        "value_loss": value_loss,
        "value_clip_ratio": ((clipped_values - returns) ** 2 > (values - returns) ** 2).float().mean(),
        "clip_ratio": (clipped_ratio * advantages < ratio * advantages).float().mean(),
        "moved": ((old - logps).exp() - 1 - (old - logps)).mean(),
    }
    assert {k: v.item() for k, v in metrics.items()} == pytest.approx(
        {k: v.item() for k, v in expected.items()}, rel=1e-4
    )
    assert not any(value.requires_grad for value in metrics.values())
    parameters = [model.lm_head.weight, policy.value_head[-1].weight]
    ours, theirs = (torch.autograd.grad(value, parameters, retain_graph=True) for value in (loss, oracle))
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_the_plain_loss_of_each_completion_makes_the_loss_of_all(tokenizer):
    """Catches a definition that is not what runs: recursion, both clips, and a mean over the tokens of all completions."""
    config = replace(
        CONFIG, beta=0.0, whiten_advantages=False, epsilon=0.05, value_epsilon=0.02, value_coef=3.0, lam=0.7
    )
    policy = ActorCritic(tiny_llama().eval())
    torch.nn.init.normal_(policy.value_head[-1].weight)
    experience = ppo.collect(policy, None, tokenizer, ROWS, count_a, config)
    mask = experience.rollout.completion_mask
    experience.rollout.old_logps[:] += 0.1 * (torch.arange(mask.size(1)) % 2 * 2 - 1)
    logits, values = policy(experience.rollout)
    moved = values + torch.linspace(-0.1, 0.1, mask.size(1))  # some are clipped, some not
    logps = token_logps(logits, experience.rollout.choices)
    rewards = ppo.token_rewards(experience.rewards, mask)
    old = experience.rollout.old_logps, moved, experience.old_values, rewards
    settings = dict(lam=0.7, epsilon=0.05, value_epsilon=0.02, value_coef=3.0)
    plain = [
        ppo.plain_ppo_loss(*(x[i, : mask[i].sum()] for x in (logps, *old)), **settings) * mask[i].sum()
        for i in range(len(mask))
    ]
    with patch.object(ActorCritic, "forward", lambda self, rollout: (logits, moved)):
        loss, _ = ppo.ppo_loss(policy, experience, config)
    torch.testing.assert_close(sum(plain) / mask.sum(), loss)


def test_equal_rewards_give_no_signal(tokenizer):
    algorithm = PPO(ActorCritic(tiny_llama()), tokenizer, count_a, CONFIG)
    assert [algorithm.without_signal({"reward_std": std}) for std in (0.0, 0.5, 1.0)] == [True, False, False]
    assert algorithm.policy is algorithm.model.model and algorithm.numbers_per_place == 12


@pytest.mark.slow
@pytest.mark.usefixtures("shapes_unchecked")
def test_both_places_of_the_kl_hold_the_policy_back(tokenizer):
    """The same run with a strong penalty ends nearer to the reference, in the loss and in the reward."""
    model = tiny_llama().eval()

    def kl_at_the_end(kl_in, beta):
        policy = ActorCritic(frozen_copy(model).requires_grad_(True))
        config = replace(CONFIG, steps=8, learning_rate=5e-3, kl_in=kl_in, beta=beta, num_generations=8)
        return ppo.train(policy, frozen_copy(model), tokenizer, ROWS, count_a, config, progress=False)[-1]["kl"]

    free = kl_at_the_end("loss", 0.0)
    assert kl_at_the_end("loss", 1.0) < 0.5 * free
    assert kl_at_the_end("reward", 1.0) < 0.7 * free


def test_the_entropy_bonus_lowers_the_loss(model, tokenizer):
    """Catches a bonus with the sign of a penalty."""
    policy, experience = experience_of(model, tokenizer, CONFIG)
    plain, _ = ppo.ppo_loss(policy, experience, CONFIG)
    loss, _ = ppo.ppo_loss(policy, experience, replace(CONFIG, entropy_coef=0.5))
    entropy = experience.metrics["entropy"]  # of the policy that sampled, and still is
    assert entropy > 0.1 and (plain - loss).item() == pytest.approx(0.5 * entropy, rel=1e-4)


def test_policy_and_head_have_their_own_learning_rates(model, tokenizer):
    """AdamW's first step moves a parameter by its learning rate; catches one rate for both."""
    policy = ActorCritic(model)
    torch.nn.init.normal_(policy.value_head[-1].weight)
    groups = [policy.model.parameters(), policy.value_head.parameters()]
    before = [[p.detach().clone() for p in group] for group in map(list, groups)]
    config = replace(CONFIG, steps=1, num_iterations=1, minibatches=1, learning_rate=1e-4, head_learning_rate=1e-2)
    ppo.train(policy, frozen_copy(model), tokenizer, ROWS, count_a, config, progress=False)
    after = [policy.model.parameters(), policy.value_head.parameters()]
    moved = [max((a - b).abs().max() for a, b in zip(new, old)).item() for new, old in zip(after, before)]
    assert moved == pytest.approx([1e-4, 1e-2], rel=0.02)


def test_target_kl_is_a_bound_on_what_has_moved(model, tokenizer):
    bounded, free = (PPO(ActorCritic(model), tokenizer, count_a, replace(CONFIG, target_kl=k)) for k in (0.1, 0.0))
    assert [bounded.enough({"moved": m}) for m in (0.05, 0.1, 0.2)] == [False, False, True] and not free.enough(
        {"moved": 9.0}
    )


def test_a_constraint_holds_in_sampling_loss_and_kl(model, tokenizer):
    """PPO knew no constraint. Before the first update the ratio is 1 and the KL to the own copy 0, over allowed tokens."""
    trie = answer_trie(tokenizer, ["a", "ab", "b", "ccc"])
    policy = ActorCritic(model)
    experience = ppo.collect(policy, frozen_copy(model), tokenizer, ROWS, count_a, CONFIG, constraint=trie)
    assert set(experience.rollout.completions) <= {"a", "ab", "b", "ccc"}
    assert experience.ref_logits.size(-1) == trie.token_ids.size(1)
    loss, metrics = ppo.ppo_loss(policy, experience, CONFIG)
    assert metrics["moved"] == pytest.approx(0, abs=1e-6) and metrics["clip_ratio"] == 0
    gradients = torch.autograd.grad(loss, [p for p in policy.parameters() if p.requires_grad], allow_unused=True)
    assert all(g is None or g.isfinite().all() for g in gradients)


@pytest.mark.parametrize("kl_in", ["loss", "reward"])
def test_the_gradient_in_pieces_is_that_of_the_whole(tokenizer, kl_in, monkeypatch):
    results = []
    for at_once in (10**9, 1):
        monkeypatch.setattr(piece_size, "LOGITS_AT_ONCE", at_once)
        policy = ActorCritic(tiny_llama().eval())
        config = replace(CONFIG, kl_in=kl_in, minibatches=1, num_iterations=1, steps=1, entropy_coef=0.1, target_kl=0.0)
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        experience = ppo.collect(policy, tiny_llama(7).eval(), tokenizer, ROWS, count_a, config)
        (metrics,) = learn(policy, tokenizer, experience, optimizer, config)
        results.append((metrics, [p.detach() for p in policy.parameters()]))
    (whole, moved), (pieces, moved_in_pieces) = results
    assert pieces == pytest.approx(whole, rel=1e-4, abs=1e-6)
    torch.testing.assert_close(moved_in_pieces, moved, rtol=0, atol=1e-6)
