"""The ratio against the reference, and a loss without the policy: ways of writing both, and what only looks like it."""

import pytest

from checker.rules.method import objective
from tests.checker.rules.looking import codes, found

RATIOS = [
    "ratio = torch.exp(logps - ref_logps)\nloss = ratio * advantages",
    "ratio = (logps - ref_logps).exp()\nloss = -(advantages[:, None] * ratio)",
    "ratio = probs / ref_probs\nloss = ratio * adv",
    "d = logps - ref_logps\nratio = torch.exp(d.clamp(-9, 9))\nloss = ratio * A * mask",
    "ratio = torch.exp(logps - ref_logps)\nloss = ratio.clamp(0.8, 1.2) * A",
    "loss = torch.exp(logps - ref_logps) * advantage",
    "loss = A_hat * torch.clip(torch.exp(logps - base_model_logps), 0.8, 1.2)",
    "ratio = torch.exp(logps - initial_model_logps)\nloss = ratio * A_i",
    "ratio = torch.exp(logps - sft_logps)\nloss = gae * ratio",
]


@pytest.mark.parametrize("lines", RATIOS)
def test_a_ratio_against_the_reference_is_asked_about(lines):
    """Catches one way to write a ratio, or one name of an advantage, that is not known."""
    (finding,) = found(objective, "x = 1", lines)
    assert (finding.code, finding.cell) == ("M005", 1)
    line = next(n for n, text in enumerate(lines.splitlines(), 1) if "exp(" in text or " / " in text)
    assert (
        finding.found.startswith(f"line {line}: is this ratio against the reference")
        and "`old_logps`" in finding.advice
    )


def test_one_ratio_is_asked_about_once_and_two_are_two():
    lines = (
        "a = torch.exp(logps - ref_logps)\nx = a * adv\n"
        "y = a.clamp(0, 1) * adv\nb = torch.exp(lp - ref_lp)\nz = b * adv"
    )
    assert [finding.found[:7] for finding in found(objective, lines)] == ["line 1:", "line 4:"]


@pytest.mark.parametrize(
    "lines",
    [
        "ratio = torch.exp(logps - old_logps)\nloss = ratio * advantages",
        "ratio = torch.exp(logps - ref_logps)\nloss = ratio * weights",
        "ratio = torch.exp(logps - ref_logps)\nloss = ratio / advantages",
        "ratio = torch.exp(ref_logps - logps)\nloss = ratio * advantages",
        "ratio = torch.exp(ref_logps - ref_logps_2)\nloss = ratio * advantages",
        "ratio = torch.exp(rewards - ref_rewards)\nloss = ratio * advantages",
        "ratio = torch.exp(logps - base_logps)\nloss = ratio * advantages",
        "ratio = torch.exp(logps - initial_logps)\nloss = ratio * advantages",
        "ratio = torch.exp(logps - init_logps)\nloss = ratio * advantages",
        "ratio = logps - ref_logps\nloss = ratio * advantages",
        "ratio = f(logps - ref_logps)\nloss = ratio * advantages",
        "loss = torch.exp(adv - ref_logps) * x",
        "loss = ratio * advantages",
        "loss = torch.exp(logps - ref_old_logps) * advantages",
    ],
)
def test_another_ratio_is_right(lines):
    """Catches a question about the policy that sampled, or about the ratio of an estimate of the KL."""
    assert codes(objective, lines) == []


BACK = "\nloss.backward()"
EMPTY = [
    "loss = value_loss + beta * kl.mean()",
    "loss = -rewards.mean()",
    "loss = beta * kl",
    "loss = -advantages.mean()",
    "loss = -(rewards.sum() + vf_coef * value_loss) / mask.size(0)",
    "loss = kl_loss - entropy_coef * entropy",
    "loss = critic_loss + args.kl",
    "loss = torch.abs(adv).mean().to(device)",
    "loss = torch.tensor(rewards, requires_grad=True).float()",
    "loss = torch.stack(rewards).mean()",
    "loss = masked_mean(adv, completion_mask)",
    "loss = config.beta * kl.item()",
    "loss = self.beta * cfg.kl_coeff * torch.log(adv)",
    "loss = -torch.tensor(rewards).requires_grad_()",
    "action = model(x).argmax()\nreward = env(action)\nloss = -reward",
    "action = model(x).item()\nreward = env(action)\nloss = -reward",
    "action = torch.multinomial(model(x), 1)\nreward = env(action)\nloss = -reward",
    "action = F.one_hot(model(x))\nreward = env(action)\nloss = -reward",
    "text = model.generate(x)\nreward = score(text)\nloss = -reward",
    "reward = score(text)\nloss = -reward",
    "kl_term = ratio\nloss = kl_term",
]


@pytest.mark.parametrize("lines", EMPTY)
@pytest.mark.parametrize("back", [BACK, "\naccelerator.backward(loss)"])
def test_a_loss_without_the_policy_is_asked_about(lines, back):
    """Catches one way to write a loss of rewards, KL or values alone."""
    (finding,) = found(objective, "x = 1", lines + back)
    assert (finding.code, finding.cell) == ("M017", 1)
    line = next(n for n, text in enumerate(lines.splitlines(), 1) if text.startswith("loss ="))
    assert (
        finding.found == f"line {line}: where is the policy gradient in this loss?"
        and "minus advantage times" in finding.advice
    )


@pytest.mark.parametrize(
    "lines",
    [
        "loss = -(adv * logps).mean()",
        "loss = policy_loss + kl",
        "loss = value_loss + entropy",
        "loss = pg + beta * kl",
        "loss = surrogate_kl",
        "loss = kl\nloss = loss + pg",
        "loss = kl\nloss += pg",
        "for loss in [kl]:\n    x = 1",
        "loss = reward_loss",
        "loss = adv_term",
        "loss = adv_objective",
        "reward = -(logps * w)\nloss = reward.mean()",
        "adv = ratio * w\nloss = adv.mean()",
        "reward = f(pg_loss)\nloss = reward.mean()",
        "y = logps * 2\nadv = y\nloss = adv.mean()",
        "y = logps\nadv = y\nloss = adv.mean()",
        "a = logps\nb = a + 1\nreward = b + 1\nloss = reward.mean()",
        "reward = model(x)\nloss = -reward",
        "y = policy(x)\nreward = y[0]\nloss = -reward",
        "r = ratio * a\nloss = r + kl",
        "other = kl",
        "loss = 3",
        "loss = mean()",
    ],
)
def test_a_loss_with_the_policy_in_it_is_right(lines):
    """Catches a question about a loss whose policy gradient has a name of its own."""
    assert codes(objective, lines + BACK) == []


@pytest.mark.parametrize("name", ["value_loss", "critic_loss", "vf_loss", "loss_v", "q_loss", "v"])
def test_a_critic_learns_by_a_loss_of_its_own(name):
    """Catches a question about the critic's loss, where the policy has another."""
    lines = f"{name} = (values - advantages).mean()\n{name}.backward()\n"
    assert codes(objective, lines) == ["M017"]
    assert codes(objective, f"{lines}policy_loss = f(logps)\npolicy_loss.backward()") == []


@pytest.mark.parametrize(
    "lines", ["loss = kl", "loss = kl\nother.backward()", "loss = kl\nloss.forward()", "loss = kl\nbackward()"]
)
def test_what_is_not_stepped_is_no_loss(lines):
    assert codes(objective, lines) == []


def test_a_reward_that_a_reward_model_gave_has_no_path_to_the_policy():
    """Catches `reward_model(state)` taken for the policy."""
    assert codes(objective, f"reward = reward_model(x)\nloss = -reward{BACK}") == ["M017"]
    assert codes(objective, f"adv = value_net(x)\nloss = -adv{BACK}") == ["M017"]


@pytest.mark.parametrize(("steps", "asked"), [(2, []), (3, ["M017"])])
def test_a_reward_is_followed_back_a_few_steps(steps, asked):
    """Catches a search that gives up at once, and one that has no end."""
    lines = "".join(f"s{n} = s{n - 1} + 1\n" for n in range(1, steps + 1))
    assert codes(objective, f"s0 = f(logps)\n{lines}reward = s{steps} + 1\nloss = -reward{BACK}") == asked
