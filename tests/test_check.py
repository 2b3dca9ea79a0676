"""A check must name each known mistake, accept what is right in another way, and survive anything else."""

import re
import time

import pytest
import torch

from shared import check
from shared.check import EXERCISES, GROUP_ADVANTAGES, KL, LOSS, REWARD
from shared.exercises.judge import judge

CASES = [(exercise, mistake) for exercise in EXERCISES for mistake in exercise.mistakes]


def test_at_least_forty_mistakes_are_known():
    assert len(CASES) >= 40


@pytest.mark.parametrize(("exercise", "mistake"), CASES, ids=lambda case: getattr(case, "name", None))
def test_each_mistake_is_recognised_by_name(exercise, mistake):
    """It must differ from the reference, and from every other mistake: the explanation given is its own."""
    passed, verdict = judge(exercise, mistake.function)
    assert not passed
    assert verdict == mistake.explanation


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_the_reference_passes(exercise):
    assert judge(exercise, exercise.reference)[0]


def looped_advantages(rewards, G):
    out = []
    for i in range(0, len(rewards), G):
        group = [float(r) for r in rewards[i : i + G]]
        mean = sum(group) / G
        std = (sum((r - mean) ** 2 for r in group) / G) ** 0.5
        out += [(r - mean) / (std + 1e-8) for r in group]
    return out


def reshaped_advantages(rewards, G):
    groups = rewards.double().reshape(-1, G)
    std = groups.var(1, unbiased=False).sqrt()[:, None]
    return torch.where(std > 0, (groups - groups.mean(1)[:, None]) / std.clamp(min=1e-6), 0.0).flatten()


def numpy_advantages(rewards, G):
    groups = rewards.numpy().reshape(-1, G)
    return ((groups - groups.mean(1, keepdims=True)) / (groups.std(1, keepdims=True) + 1e-6)).reshape(-1)


def repeated_advantages(rewards, G):
    mean = rewards.view(-1, G).mean(1).repeat_interleave(G)
    std = rewards.view(-1, G).std(1, correction=0).repeat_interleave(G)
    return (rewards - mean) / (std + 1e-5)


def expm1_kl(logps, ref_logps):
    return torch.expm1(ref_logps - logps) - (ref_logps - logps)


def double_kl(logps, ref_logps):
    log_r = ref_logps.double() - logps.double()
    return log_r.exp() - log_r - 1


def divided_kl(logps, ref_logps):
    return ref_logps.exp() / logps.exp() - 1 + logps - ref_logps


def two_sided_loss(logps, old, adv, mask, ref, beta, eps):
    ratio = (logps - old).exp()
    limited = torch.where(adv[:, None] > 0, ratio.clamp(max=1 + eps), ratio.clamp(min=1 - eps))
    per_token = -limited * adv[:, None] + beta * expm1_kl(logps, ref)
    return torch.stack([row[m.bool()].mean() for row, m in zip(per_token, mask)]).mean()


def looped_loss(logps, old, adv, mask, ref, beta, eps):
    total = 0.0
    for i in range(len(adv)):
        n = int(mask[i].sum())
        terms = []
        for t in range(n):
            r = torch.exp(logps[i, t] - old[i, t])
            terms.append(
                -torch.min(r * adv[i], torch.clip(r, 1 - eps, 1 + eps) * adv[i])
                + beta * expm1_kl(logps[i, t], ref[i, t])
            )
        total = total + sum(terms) / n
    return total / len(adv)


def larger_of_losses(logps, old, adv, mask, ref, beta, eps):
    ratio, adv, mask = (logps - old).exp(), adv.unsqueeze(1), mask.bool()
    worst = torch.max(-adv * ratio, -adv * ratio.clamp(1 - eps, 1 + eps)) + beta * expm1_kl(logps, ref)
    return (worst.masked_fill(~mask, 0).sum(1) / mask.sum(1)).mean()


def row_by_row_logps(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    rows = []
    for p, pm, c, cm in zip(prompt_ids, prompt_mask, completion_ids, completion_mask):
        ids = torch.cat([p[pm.bool()], c[: int(cm.sum())]])[None]
        logits = model(input_ids=ids).logits[0, int(pm.sum()) - 1 : -1]
        row = logits.log_softmax(-1).gather(-1, c[: int(cm.sum()), None])[:, 0]
        rows.append(torch.cat([row, row.new_zeros(len(c) - len(row))]))
    return torch.stack(rows)


def unmasked_logps(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    """What stands in the padding does not matter: the loss masks it."""
    mask = torch.cat([prompt_mask, completion_mask], 1)
    logits = model(
        torch.cat([prompt_ids, completion_ids], 1), attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(0)
    ).logits
    logits = logits[:, prompt_ids.size(1) - 1 : -1]
    return logits.gather(-1, completion_ids[..., None]).squeeze(-1) - logits.logsumexp(-1)


def cross_entropy_logps(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    mask = torch.cat([prompt_mask, completion_mask], 1)
    logits = model(
        torch.cat([prompt_ids, completion_ids], 1), attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(0)
    ).logits
    logits = logits[:, prompt_ids.size(1) - 1 : -1]
    return (
        -torch.nn.functional.cross_entropy(logits.transpose(1, 2), completion_ids, reduction="none") * completion_mask
    )


def first_line_reward(prompts, responses, answers):
    return [1.0 if (r.strip().split("\n")[0].strip() == str(a)) else 0.0 for r, a in zip(responses, answers)]


def looped_step(model, reference, rollout, rewards, beta, epsilon):
    """One completion at a time, without any padding."""
    adv, total = looped_advantages(rewards, rollout.num_generations), 0.0
    for i, mask in enumerate(rollout.completion_mask):
        prompt, n = i // rollout.num_generations, int(mask.sum())
        ids = torch.cat(
            [rollout.prompt_ids[prompt][rollout.prompt_mask[prompt].bool()], rollout.completion_ids[i, :n]]
        )[None]
        logps, ref_logps = (
            m(input_ids=ids).logits[0, -n - 1 : -1].log_softmax(-1).gather(-1, ids[0, -n:, None])[None, :, 0]
            for m in (model, reference)
        )
        old, ones = rollout.old_logps[None, i, :n], torch.ones(1, n)
        total = total + two_sided_loss(
            logps, old, torch.tensor(adv[i : i + 1]), ones, ref_logps.detach(), beta, epsilon
        )
    return total / len(rollout)


def patterned_first_word(prompts, responses, answers):
    words = [re.search(r"\w+", r) for r in responses]
    return [1.0 if w and w[0].lower() in {a.lower() for a in accepted} else 0.0 for w, accepted in zip(words, answers)]


def bitwise_hand_type(cards):
    """Ranks as bits, straights as runs of five of them: another way to the same types."""
    ranks = ["A23456789TJQK".index(card[0]) for card in cards]
    bits = sum({1 << r for r in ranks}) | (1 << 13 if 0 in ranks else 0)
    straight = len(set(ranks)) == 5 and any(bits >> i & 31 == 31 for i in range(10))
    flush = len({card[-1] for card in cards}) == 1
    pairs = sum(ranks.count(r) for r in ranks)  # 5 for five different, 7, 9, 11, 13, 17
    if straight or flush:
        return " ".join(["straight"] * straight + ["flush"] * flush)
    return {
        5: "high card",
        7: "one pair",
        9: "two pair",
        11: "three of a kind",
        13: "full house",
        17: "four of a kind",
    }[pairs]


CORRECT = [
    (check.HAND_TYPE, bitwise_hand_type),
    (check.FIRST_WORD, patterned_first_word),
    (check.GRPO_STEP, looped_step),
    *[(GROUP_ADVANTAGES, f) for f in (looped_advantages, reshaped_advantages, numpy_advantages, repeated_advantages)],
    (GROUP_ADVANTAGES, lambda rewards, G: torch.tensor(looped_advantages(rewards, G)).half()),
    (GROUP_ADVANTAGES, lambda rewards, num_generations: tuple_free(rewards, num_generations)),
    *[(KL, f) for f in (expm1_kl, double_kl, divided_kl)],
    (KL, lambda logps, ref_logps: (logps - ref_logps) + torch.exp(ref_logps - logps) - 1.0),
    *[(LOSS, f) for f in (two_sided_loss, looped_loss, larger_of_losses)],
    (LOSS, lambda *a: two_sided_loss(*a).double()),
    (LOSS, lambda *a: larger_of_losses(*a)[None].squeeze()),
    *[(check.COMPLETION_LOGPS, f) for f in (row_by_row_logps, unmasked_logps, cross_entropy_logps)],
    (check.COMPLETION_LOGPS, lambda *a: unmasked_logps(*a).double()),
    (REWARD, first_line_reward),
    (REWARD, lambda p, r, a: torch.tensor(first_line_reward(p, r, a))),
    (REWARD, lambda p, r, a: [bool(x) for x in first_line_reward(p, r, a)]),
    (REWARD, lambda p, r, a: [int(r_.strip() == a_) for r_, a_ in zip(r, a)]),
]


def tuple_free(rewards, num_generations):
    groups = rewards.unflatten(0, (-1, num_generations))
    return torch.nn.functional.layer_norm(groups, (num_generations,), eps=1e-8).flatten()


def test_at_least_twenty_correct_variants():
    assert len(CORRECT) >= 20


@pytest.mark.parametrize(("exercise", "function"), CORRECT, ids=lambda c: getattr(c, "__name__", None))
def test_what_is_right_in_another_way_passes(exercise, function):
    passed, verdict = judge(exercise, function)
    assert passed, verdict


def raising(*_):
    raise KeyError("answer")


def blank(*_):
    raise NotImplementedError("TODO: the group advantages")


def in_place(rewards, G):
    rewards -= rewards.mean()
    return rewards


def endless(*_):
    while True:
        pass


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (raising, "it raised KeyError: 'answer', in line"),
        (blank, "not filled in yet"),
        (lambda *_: None, "Is the `return` missing?"),
        (lambda *_: "three", "where numbers are expected"),
        (lambda rewards, G: rewards[:2], r"the shape (2,); expected (8,)"),
        (lambda rewards, G: (rewards, {}), "a tuple of 2 things"),
        (lambda rewards, G: rewards * torch.nan, "nan"),
        (lambda rewards: rewards, "it raised TypeError"),
        (in_place, "it changes its argument number 1 in place"),
        (lambda rewards, G: rewards * 7, "probe 1 of 4 differs"),
    ],
)
def test_whatever_else_the_function_does_is_said_in_a_sentence(function, said):
    passed, verdict = judge(GROUP_ADVANTAGES, function)
    assert not passed
    assert said in verdict


def test_a_function_that_never_returns_is_stopped(monkeypatch):
    monkeypatch.setattr("shared.exercises.judge.TIME_LIMIT", 0.2)
    start = time.monotonic()
    passed, verdict = judge(GROUP_ADVANTAGES, endless)
    assert not passed and "did not return" in verdict
    assert time.monotonic() - start < 20


def test_the_verdict_is_one_line_in_a_notebook(capsys):
    check.group_advantages(looped_advantages)
    assert capsys.readouterr().out == "✓ group advantages: right on 4 probes.\n"
    check.kl(lambda logps, ref_logps: logps - ref_logps)
    assert capsys.readouterr().out.startswith("✗ per-token KL: This is k1")


def test_a_text_that_is_wrong_in_a_new_way_is_shown_with_its_hand():
    passed, verdict = judge(check.HAND_TYPE, lambda cards: "two pairs")
    assert not passed and "7♦" in verdict and "says 'two pairs'; expected 'one pair'" in verdict
    assert "expected a text" in judge(check.HAND_TYPE, lambda cards: 3)[1]
    assert "returned" in judge(KL, lambda logps, ref_logps: "small")[1]
