"""The KL: its direction, its sign and its gradient, each as people write it."""

import pytest

from checker.rules.method import kl
from tests.checker.rules.looking import codes, found


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("d = logps - ref_logps\nkl = torch.exp(d) - d - 1", "right way round"),
        ("kl = torch.exp(logps - ref_logps) - (logps - ref_logps) - 1", "right way round"),
        ("r = probs / ref_probs\nkl = r - torch.log(r) - 1", "right way round"),
        ("kl = (ref_probs * (ref_logps - logps)).sum()", "KL(reference || policy)"),
        ("kl = (ref_logps - logps) * ref_logps.exp()", "KL(reference || policy)"),
        ("kl = torch.exp(ref_logps) * (ref_logps - logps)", "KL(reference || policy)"),
        ("p = torch.softmax(ref_logits, -1)\nkl = p * (ref_logps - logps)", "KL(reference || policy)"),
        ("kl = F.kl_div(logps, ref_logps)", "`kl_div(policy, reference)`"),
        ("kl = F.kl_div(model_out, ref_logps, log_target=True)", "`kl_div(policy, reference)`"),
        ("kl = F.kl_div(logits, ref_logits)", "`kl_div(policy, reference)`"),
        ("kl = F.kl_div(my_probs, ref_probs)", "`kl_div(policy, reference)`"),
        ("kl = F.kl_div(prob, ref_probs)", "`kl_div(policy, reference)`"),
        ("kl = ref_logps - logps", "the sign of this KL"),
        ("kl_loss = (ref_logps - logps).mean()", "the sign of this KL"),
        ("approx_kl = masked_mean(ref_logps - logps, mask)", "the sign of this KL"),
        ("per_token_kl = ref_logps - new_logps", "the sign of this KL"),
        ("token_kl_penalty = ref_logps - cur_logps", "the sign of this KL"),
        ("kl_div = ((ref_logps - logps) * mask).sum() / mask.sum()", "the sign of this KL"),
    ],
)
def test_a_kl_the_other_way_round_is_asked_about(lines, says):
    """Catches one way to write a KL that is not known."""
    (finding,) = found(kl, "x = 1", lines)
    assert (finding.code, finding.cell) == ("M007", 1) and says in finding.found
    assert "ref_logps" in finding.advice


@pytest.mark.parametrize(
    "lines",
    [
        "d = ref_logps - logps\nkl = torch.exp(d) - d - 1",
        "d = ref_logps - ref_logps_2\nkl = torch.exp(d) - d - 1",
        "kl = (probs * (logps - ref_logps)).sum()",
        "kl = (ref_probs * (ref_logps - ref_logps_2)).sum()",
        "kl = (ref_probs * (ref_logps - heights)).sum()",
        "kl = (ref_probs + (ref_logps - logps)).sum()",
        "kl = (weights * (ref_logps - logps)).sum()",
        "kl = (ref_weights * (ref_logps - logps)).sum()",
        "kl = ref_logps * (ref_logps - logps)",
        "kl = F.kl_div(ref_logps, logps)",
        "kl = F.kl_div(logps)",
        "kl = F.kl_div(ref_logps, ref_logps_2)",
        "kl = F.kl_div(heights, ref_heights)",
        "kl = F.kl_div(logps, target=ref_logps)",
        "gap = ref_logps - logps",
        "my_kl_of_all = ref_logps - logps",
        "kl = logps - ref_logps",
        "kl = ref_logps - ref_old",
        "kl = ref_logps - heights",
        "kl = ref_logps - logps\nk3 = torch.exp(kl) - kl - 1",
        "kl = ref_logps - logps\nk2 = torch.pow(kl, 2)",
        "kl = ref_logps - logps\nk2 = torch.square(kl)",
        "kl = ref_logps - logps\nx = torch.abs(kl)",
        "kl = ref_logps - logps\nx = torch.expm1(kl)",
        "kl = ref_logps - logps\nx = kl ** 2",
        "kl = ref_logps - logps\nx = -kl",
    ],
)
def test_a_kl_the_right_way_round_is_right(lines):
    """Catches a question about a step on the way to k3 or k2, or about another gap."""
    assert "M007" not in codes(kl, lines)


@pytest.mark.parametrize(
    "use", ["x = f(kl)", "x = torch.exp(other)", "x = 2 ** kl", "x = kl * 2", "x = -other", "x = +kl", "x = not kl"]
)
def test_another_use_of_a_kl_changes_nothing_of_its_sign(use):
    assert codes(kl, f"kl = ref_logps - logps\n{use}") == ["M007"]


K1 = [
    "for b in c:\n    ks.append(logps - ref_logps)\nloss = pg + beta * torch.stack(ks).mean()",
    "x = a + b\ny = 3 * z\nw = beta * z\nloss = pg + beta * (logps - ref_logps).mean()",
    "loss = pg + beta * (logps - ref_logps).mean()",
    "loss = pg + (logps - ref_logps) * kl_coef",
    "loss = pg - (-KL_WEIGHT * (logps - ref_logps))",
    "loss: float = pg + kl_lambda * (new_logps - ref_logps)",
    "loss += cfg.kl_penalty_coeff * (logps - ref_logps)",
    "objective = pg + lambda_kl * (logps - ref_logps)",
    "my_loss = torch.mean(pg + kl_c * (logps - ref_logps))",
    "x.loss = pg + beta * mask * (logps - ref_logps)",
    "def pg_loss(beta):\n    return pg + beta * (logps - ref_logps).mean()",
    "def the_objective(beta):\n    return pg + beta * (logps - ref_logps).mean()",
    "kl = logps - ref_logps\nloss = pg + beta * kl.sum()",
    "for b in c:\n    kl = logps - ref_logps\n    ks.append(kl)\nloss = pg + beta * torch.cat(ks).mean()",
    "for b in c:\n    ks.append(logps - ref_logps)\nloss = pg + beta * torch.tensor(ks).mean()",
    "kl = 0\nfor b in c:\n    kl += logps - ref_logps\nloss = pg + beta * kl",
    "kl_term = beta * (logps - ref_logps)\nloss = pg + kl_term",
    "KL_part = beta * (logps - ref_logps)\nobjective = pg + KL_part",
]


@pytest.mark.parametrize("lines", K1)
def test_k1_in_a_loss_is_asked_about(lines):
    """Catches one way to add k1 to a loss, or one name of its factor, that is not known."""
    (finding,) = found(kl, "x = 1", lines)
    assert (finding.code, finding.cell) == ("M008", 1) and "meant to hold the policy back" in finding.found
    assert "gradient has mean 0" in finding.advice


@pytest.mark.parametrize(
    "lines",
    [
        "loss = pg + weight * (logps - ref_logps)",
        "loss = pg + beta / (logps - ref_logps)",
        "loss = pg + beta + (logps - ref_logps)",
        "rewards = r - beta * (logps - ref_logps)",
        "reward_loss = r - beta * (logps - ref_logps)",
        "loss = pg + beta * (ref_logps - ref_logps_2)",
        "loss = pg + beta * (logps - old_logps)",
        "loss = pg + beta * (heights - ref_logps)",
        "loss = pg + f(beta * (logps - ref_logps))",
        "def reward(beta):\n    return r - beta * (logps - ref_logps)",
        "f(beta * (logps - ref_logps))",
        "if beta * (logps - ref_logps):\n    loss = 1",
        "loss = lambda: beta * (logps - ref_logps)",
        "kl = 0\nfor b in c:\n    kl -= logps - ref_logps\nloss = pg + beta * kl",
        "kl_term = beta * (logps - ref_logps)\nreward = r - kl_term",
        "term = beta * (logps - ref_logps)\nloss = pg + term",
        "kl_term = beta * (logps - ref_logps)\ndef f(pg, kl_term):\n    loss = pg + kl_term\n    return loss",
        "for b in c:\n    ks.append(logps - ref_logps)\n    ks.append(3)\nloss = pg + beta * torch.cat(ks).mean()",
        "kl = torch.exp(d) - d - 1\nloss = pg + beta * kl",
    ],
)
def test_k1_in_a_reward_or_another_term_is_right(lines):
    """Catches a question about k1 in the reward, where it does hold the policy back."""
    assert codes(kl, lines) == []
