"""Sweeps that were run beforehand: read by notebooks, made again by a command."""

import importlib
import json
import re
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml

from benchmarks.sweeps import (
    analogies,
    distillation,
    distillation_controls,
    game,
    game_pull,
    gradients,
    measuring,
    more_samples,
    off_policy,
    poker,
    ppo,
    ppo_hacked,
    ratio_weights,
    reasoning_format,
    reward_model,
    transfer,
    what_rl_adds_controls,
    what_rl_adds_entropy,
    what_rl_adds_lost,
)
from benchmarks.sweeps.__main__ import CHAPTERS as NAMES
from benchmarks.sweeps.__main__ import SEEDS
from benchmarks.sweeps.settings import settings_of
from shared import grpo
from shared.distill import Distillation
from shared.engine.sampling import Sampling
from shared.exact import Enumeration
from shared.experience import Experience
from shared.grpo import GRPOConfig
from shared.logps import completion_logps
from shared.models import COURSE_MODEL, frozen_copy
from shared.recorded import SWEEPS, Recorded, recorded
from shared.rollout_record import Rollout
from shared.tasks import addition, countdown
from shared.tasks.tags import tagged
from shared.training import rows_of_step
from tests.claims import causes
from tests.fakes import tiny_llama

ROOT = Path(__file__).parents[1]
CHAPTERS = {name: importlib.import_module(f"benchmarks.sweeps.{name}") for name in NAMES}
# Sweeps whose thresholds were written when the numbers were known; there is to be no further one.
WRITTEN_AFTER = {
    "analogies",
    "async_rl",
    "distillation",
    "distillation_controls",
    "dots_short",
    "game",
    "more_samples",
    "off_policy",
    "off_policy_rates",
    "real_model",
    "transfer",
    "what_rl_adds",
}
MADE = Recorded(
    chapter="dots",
    command="python -m benchmarks.sweeps dots",
    code="1.0 at 1234567",
    date="2026-01-31",
    threads=1,
    runs=(
        {"condition": "A", "seed": 0, "seconds": 2.0, "reward": 0.5, "curve": [1, 2]},
        {"condition": "A", "seed": 1, "seconds": 3.0, "reward": 0.75, "curve": [3, 4]},
        {"condition": "B", "seed": 0, "seconds": 4.0, "reward": 0.1},
    ),
)


def test_what_was_written_is_read_again(tmp_path):
    (tmp_path / "dots.json").write_text(json.dumps(asdict(MADE)))
    assert recorded("dots", tmp_path) == MADE


def test_a_record_of_another_model_than_the_one_in_use_says_so(monkeypatch):
    """Catches the embedded model's curves beside a real model's results, without a word."""
    monkeypatch.setenv("COURSE_MODEL", "smollm2")
    assert MADE.origin.startswith("NOT OF smollm2, BUT OF THE EMBEDDED MODEL: ")
    monkeypatch.setenv("COURSE_MODEL", str(COURSE_MODEL))
    assert not MADE.origin.startswith("NOT OF")
    assert replace(MADE, model="smollm2").origin.startswith("NOT OF models/course-lm, BUT OF smollm2: ")
    monkeypatch.delenv("COURSE_MODEL")
    assert not replace(MADE, model="smollm2").origin.startswith("NOT OF")


def test_the_origin_stands_in_one_line():
    """Catches a figure of another day and another code that passes for today's."""
    for part in ("3 runs", "seeds 0, 1", "9 processor seconds", "2026-01-31", "1.0 at 1234567"):
        assert part in MADE.origin
    assert "\n" not in MADE.origin


def test_the_spread_is_over_the_seeds():
    assert MADE.conditions == ["A", "B"] and MADE.seeds == [0, 1]
    assert MADE.spread("A", "reward") == (0.625, 0.5, 0.75)
    assert MADE.spread("A", lambda run: run["curve"][-1]) == (3.0, 2, 4)
    assert MADE.told("A", "reward") == "0.625 (0.500 to 0.750)" and MADE.told("A", "reward", 1) == "0.6 (0.5 to 0.8)"


def test_a_row_has_means_and_the_range_of_the_last_measure():
    """Catches a range of another measure than the one beside it, and a mean that is the lowest seed."""
    last = {"reward": "reward", "last": lambda run: run["curve"][-1]}
    row = {"setting": "A", "reward": 0.625, "last": 3.0, "2 seeds": (2, 4)}
    assert MADE.row("setting", "A", last) == row and list(MADE.row("setting", "A", last)) == list(row)
    assert MADE.row("setting", "A", {"reward": "reward"}, "seeds")["seeds"] == (0.5, 0.75)


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(KeyError, match="'C'; there are A, B"):
        MADE.of("C")
    with pytest.raises(FileNotFoundError, match="python -m benchmarks.sweeps poker"):
        recorded("poker", tmp_path)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_recorded_sweep_has_every_condition_as_it_is_set_today_and_every_seed(chapter):
    """Catches a condition that was added and never run, one that was changed since, and a trial that was written."""
    sweep = recorded(chapter)
    assert sweep.chapter == chapter and sweep.conditions == list(CHAPTERS[chapter].CONDITIONS)
    assert sweep.settings == {name: settings_of(one) for name, one in CHAPTERS[chapter].CONDITIONS.items()}
    for condition in sweep.conditions:
        assert [run["seed"] for run in sweep.of(condition)] == list(range(SEEDS))
    assert re.search(r"at [0-9a-f]{7}$", sweep.code), "a sweep is made by code that is committed"
    assert {path.stem for path in SWEEPS.glob("*.json")} == set(CHAPTERS)


def git(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.fixture
def history():
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("the history is not here")


@pytest.mark.usefixtures("history")
def test_recorded_sweeps_name_commits_of_this_history():
    """Catches a sweep that names a commit which a rebase left behind: nobody could look at the code that made it."""
    commits = {chapter: recorded(chapter).code.rpartition(" ")[2] for chapter in NAMES}
    lost = [name for name, at in commits.items() if git("merge-base", "--is-ancestor", at, "HEAD").returncode]
    assert not lost


def causes_at(commit: str, notebook: str) -> list[dict]:
    """The causes that a notebook has at a commit; none where there is no such file."""
    shown = git("show", f"{commit}:tests/claims/causes/{notebook}.yml")
    return (yaml.safe_load(shown.stdout) or {}).get("causes", [])


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("chapter", sorted(set(CHAPTERS) - WRITTEN_AFTER))
def test_the_thresholds_of_a_sweep_were_written_before_it_ran(chapter):
    """Catches a threshold that is put where the numbers leave room for it."""
    commit = recorded(chapter).code.rpartition(" ")[2]
    for path in causes.NOTEBOOKS.glob("*.ipynb"):
        held = [one for one in causes.causes_of(path.stem) if chapter in (one.run[0], one.control[0])]
        then = [(one["run"], one["control"], one["threshold"]) for one in causes_at(commit, path.stem)] if held else []
        assert [one.says for one in held if (one.run, one.control, one.threshold) not in then] == []


def assert_as_recorded(now: dict, then: dict, *measures: str, tolerance: float = 0.1) -> None:
    """Other machines round differently: hence the tolerance."""
    for measure in measures:
        assert now[measure] == pytest.approx(then[measure], abs=tolerance), measure


def gradients_as_recorded(now: dict, then: dict) -> None:
    assert_as_recorded(now, then, "reward at 10", "reward at 30", "KL at 10")
    if "curve" in then:
        assert [point["step"] for point in now["curve"]] == [point["step"] for point in then["curve"]]
        assert now["curve"][0]["divided by std"] == pytest.approx(then["curve"][0]["divided by std"], rel=0.2)


def ratio_weights_as_recorded(now: dict, then: dict) -> None:
    """Of the gradients the KL and the cosines of the bounded weights: what lies near 0 may turn with rounding."""
    if "sets" not in then:
        assert_as_recorded(now, then, "reward at 4")  # eight updates a rollout part further on
        return
    for hands, recorded_hands in zip(now["sets"], then["sets"], strict=True):
        assert_as_recorded(hands, recorded_hands, "KL")
        for name in ("ratio", "CISPO, bound 5", "SAPO"):
            assert_as_recorded(hands["stale"][name], recorded_hands["stale"][name], "cosine")


def poker_as_recorded(now: dict, then: dict) -> None:
    """The first third of each path: later the seed's choice between two labels amplifies rounding."""
    assert [point["step"] for point in now["path"]] == [8, 10, 12, 14, 20]
    for point, of_then in zip(now["path"], then["path"]):
        assert point["step"] == of_then["step"]
        assert_as_recorded(point, of_then, "right", "KL")


def transfer_as_recorded(now: dict, then: dict) -> None:
    """Rows of dots by length, and sums with a calculator."""
    if "validation" in then:
        assert now["validation"][:4] == pytest.approx(then["validation"][:4], abs=0.2)
    else:
        assert now["right"] == pytest.approx(then["right"], abs=0.2)


def game_as_recorded(now: dict, then: dict) -> None:
    """The games that are won, and what the policy expects to hear. A secret of seven is 0.14."""
    if "after" in then:
        for when in ("before", "after"):
            assert sum(now[when]) == pytest.approx(sum(then[when]), abs=0.15 * len(then[when]))
    else:
        assert now["wins at 60"] == pytest.approx(then["wins at 60"], abs=0.2)
        assert now["expects right"][10] == pytest.approx(then["expects right"][10], abs=0.2)


def reward_model_as_recorded(now: dict, then: dict) -> None:
    """Runs against a reward model amplify rounding: of them only the beginning is compared."""
    assert_as_recorded(now, then, "accuracy", tolerance=0.02)
    compared = len(now["curve"]) if then["condition"].startswith("DPO") else 2
    for point, of_then in list(zip(now["curve"], then["curve"], strict=True))[:compared]:
        assert point["step"] == of_then["step"]
        assert point["gold"] == pytest.approx(of_then["gold"], abs=0.5)
        assert point["KL"] == pytest.approx(of_then["KL"], rel=0.2, abs=0.1)


def more_samples_as_recorded(now: dict, then: dict) -> None:
    for when in ("before", "after"):
        assert_as_recorded(now[when], then[when], "vote", "checker")
    assert now["training"]["samples"] == then["training"]["samples"]


def off_policy_as_recorded(now: dict, then: dict) -> None:
    """The fast runs are rough and amplify rounding: of them only the beginning is compared."""
    assert now["rewards"][0] == pytest.approx(then["rewards"][0], abs=0.02)
    assert_as_recorded(now, then, "reward at 8", tolerance=0.15)
    if "fast" not in then["condition"]:
        assert_as_recorded(now, then, "reward at 32")


def first(chapter) -> str:
    return next(iter(chapter.CONDITIONS))


# The measures that are compared when a sweep is made again, or what compares them, and how far they may part where it is not a tenth: other
# measures part further on, and runs without a penalty amplify rounding most. Of a sweep that is listed with a condition
# every run of the slow tests makes that one again; the rest are exhaustive ones.
MEASURES = {
    "dots_short": ("8 prompts x 4, G = 2", "greedy", "sampled", "equal groups", "KL"),
    "analogies": (first(analogies), "validation", "held out", "soft"),
    "countdown_groups": (None, "solved", "solved, greedy"),
    "distillation": ("supervised, teacher's samples", "solved", "greedy", "below header", "dots"),
    "distillation_controls": (None, "solved", "greedy"),
    "game": (first(game), game_as_recorded),
    "game_pull": (None, "wins at 60"),
    "game_turns": (None, "won"),
    "gradients": (first(gradients), gradients_as_recorded),
    "judges": ("phrase, refuses 0.2", "reward at 32", "paid"),
    "maxent_irl": (None, "gap", "loss at 300"),
    "more_samples": (first(more_samples), more_samples_as_recorded),
    "off_policy": (first(off_policy), off_policy_as_recorded),
    "off_policy_rates": ("1 update, 3e-04", "reward at 8"),
    "poker": (first(poker), poker_as_recorded),
    "ppo": (first(ppo), "full stops"),
    "ppo_critic": (None, "reward"),
    "ppo_hacked": (None, "full stops"),
    "ratio_weights": (first(ratio_weights), ratio_weights_as_recorded),
    "ratio_weights_rates": ("gradients", ratio_weights_as_recorded),
    "reasoning_format": ("KL, not divided", "format at 30", "KL at 30"),
    "reasoning_format_ranks": (None, "right"),
    "reward_model": (first(reward_model), reward_model_as_recorded),
    "transfer": (first(transfer), transfer_as_recorded),
    "what_rl_adds": ("rejection sampling", "solved", "pass@8", "entropy"),
    "what_rl_adds_controls": (None, "solved", "others, pass@8"),
    "what_rl_adds_entropy": (None, "pass@8", "entropy"),
    "what_rl_adds_lost": (None, "solved", "key of known"),
}
TOLERANCES = {"full stops": 0.5, "KL at 30": 0.3}
ROUGH = {("ppo", "PPO, beta 0"): 1.0, ("ppo_hacked", "hacked"): 4.0, ("ppo_hacked", "hacked, but bounded"): 4.0}
SHORTER = {"poker": {"steps": 20}}  # runs that are not made to their end
AGAIN = [
    pytest.param(chapter, condition, marks=() if condition == one else pytest.mark.exhaustive)
    for chapter, (one, *_) in MEASURES.items()
    for condition in CHAPTERS[chapter].CONDITIONS
]


@pytest.mark.slow
@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(("chapter", "condition"), AGAIN)
def test_one_seed_of_a_condition_comes_out_as_recorded(chapter, condition):
    """Catches figures that today's code no longer gives."""
    now = CHAPTERS[chapter].run(condition, seed=0, **SHORTER.get(chapter, {}))
    then = recorded(chapter).of(condition)[0]
    for measure in MEASURES[chapter][1:]:
        if callable(measure):
            measure(now, then)
            continue
        tolerance = ROUGH.get((chapter, condition), TOLERANCES.get(measure, 0.1))
        assert (measure in now) == (measure in then), measure
        if measure in then:
            assert_as_recorded(now, then, measure, tolerance=tolerance)
    if chapter == "what_rl_adds":
        assert [point["samples"] for point in now["curve"]] == [point["samples"] for point in then["curve"]]


def test_a_weighted_loss_has_the_gradient_of_the_method_that_it_is_named_after(tokenizer):
    """Catches a weight that the gradient passes through, an advantage in it, and an aggregation that is not GRPO's."""
    model = tiny_llama().eval()
    config = GRPOConfig(prompts_per_step=2, num_generations=4, max_new_tokens=4, loss_type="sapo", seed=1)
    rows = [{"prompt": "abc"}, {"prompt": "d"}]
    algorithm = ratio_weights.Weighted(model, tokenizer, lambda completions, **_: list(map(len, completions)), config)
    algorithm.weight_of = ratio_weights.WEIGHTS["SAPO"]
    experience = algorithm.collect(rows, step=0)
    with torch.no_grad():  # a policy that has moved: ratios on both sides of 1
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    of_both = [algorithm.loss(experience)[0], grpo.policy_loss(model, experience, config)[0]]
    ours, librarys = (torch.autograd.grad(loss, model.lm_head.weight)[0] for loss in of_both)
    torch.testing.assert_close(ours, librarys, rtol=1e-4, atol=1e-6)


def test_an_unbounded_ratio_is_held_against_the_exact_gradient_without_bias():
    """Two prompts and two completions with scores by hand. Catches a sampler that is taken for the policy, advantages with
    the own reward in their baseline, and a division by the number of draws that is forgotten."""
    logps = torch.tensor([[0.6, 0.4], [0.2, 0.8]], dtype=torch.double).log()
    scores = torch.tensor([[0.4, -0.6], [0.8, -0.2]], dtype=torch.double).flatten()
    gram = torch.outer(scores, scores) * torch.eye(2).repeat_interleave(2, 0).repeat_interleave(2, 1)
    now = Enumeration(logps, gram.view(2, 2, 2, 2))
    sampler = torch.tensor([[0.3, 0.7], [0.5, 0.5]], dtype=torch.double).log()
    free = ratio_weights.against_exact(now, sampler, ratio_weights.plain_ratio)
    assert free["bias"] < 0.05 and free["cosine"] > 0.999 and free["noise"] > 0.1
    assert ratio_weights.against_exact(now, sampler, ratio_weights.no_ratio)["bias"] > 0.2


def test_a_short_run_of_analogies_measures_pairs(monkeypatch):
    """One step on a few rows. Catches words by lot that are the answers, and pairs that are lost."""
    rows = dict(analogies.setting())
    monkeypatch.setattr(analogies, "setting", lambda: rows)
    rows["held out"] = rows["held out"][:6]
    rows["choosing"] = rows["choosing"][:3]
    rows["trained"] = rows["trained"][:8]
    monkeypatch.setattr(analogies, "EARLY", 1)
    measured = analogies.run("by lot, exact", seed=0, steps=1)
    assert measured["soft"] != measured["soft by the lot"]
    assert sum(measured["pairs"]) == len({row["word"] for row in rows["held out"]})
    assert measured["validation at 8"] == measured["validation"]


@pytest.fixture
def two_games():
    """The base model, and a rollout of two games: 4 was right in the first, 7 too high in the second."""
    base, tokenizer = game.models()
    policy = game.frozen_copy(base).requires_grad_(True)
    row = game.EXACT_SET[3]
    said = " 4? right\n"
    ids = tokenizer(said, add_special_tokens=False, return_tensors="pt")["input_ids"].repeat(2, 1)  # (2, 4)
    ids[1, 0] = tokenizer(" 7", add_special_tokens=False)["input_ids"][0]
    asked = tokenizer(row["prompt"], return_tensors="pt")
    won, lost = (game.FindTheNumber(row) for _ in range(2))
    won.say(" 4?")
    return policy, Rollout(
        prompts=[row["prompt"]],
        completions=[said, " 7? high\n"],
        num_generations=2,
        prompt_ids=asked["input_ids"],
        prompt_mask=asked["attention_mask"],
        completion_ids=ids,
        completion_mask=torch.ones_like(ids),
        old_logps=torch.zeros(2, 4),
        prompt_lengths=asked["attention_mask"].sum(dim=1),
        lengths=torch.tensor([4, 4]),
        truncated=torch.zeros(2, dtype=torch.bool),
        sampling=Sampling(4),
        policy_mask=torch.tensor([[1, 1, 0, 0]] * 2),
        environments=[won, lost],
    )


def test_the_words_of_the_game_are_learnt_by_their_weight_alone(two_games):
    """Catches a mask that lets them through, and a condition that is called after them and leaves them out."""
    policy, rollout = two_games
    losses = {weight: game.step_loss(policy, rollout, weight)[0].item() for weight in (0.0, 0.5, 1.0)}
    logps = completion_logps(policy, replace(rollout, policy_mask=None))[0].detach()  # (2, 4)
    A = 1 / (1 + 2e-4)  # rewards 1 and 0: a deviation of 0.5, and 1e-4 beside it
    own, words = (-A * (logps[0, part].sum() - logps[1, part].sum()) / 2 for part in (slice(0, 2), slice(2, 4)))
    assert losses[0.0] == pytest.approx(own.item(), rel=1e-4)
    assert losses[0.5] == pytest.approx((own + 0.5 * words).item(), rel=1e-4)
    assert losses[1.0] == pytest.approx((own + words).item(), rel=1e-4)


def test_the_pull_of_the_words_is_measured_in_that_of_the_turns(two_games):
    """Catches words of the wrong games, and a pull that is a weight."""
    policy, rollout = two_games
    own, words = (
        torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(policy.parameters()))])
        for loss in (game.two_losses(policy, rollout)[0], game.two_losses(policy, rollout, (1.0,))[1])
    )
    game_pull.Pulled(pull=3.0, words_of=(1.0,)).backward(policy, rollout)
    together = torch.cat([parameter.grad.flatten() for parameter in policy.parameters()])
    assert torch.allclose(together, own + 3 * own.norm() / words.norm() * words, atol=1e-4)
    logps = completion_logps(policy, replace(rollout, policy_mask=None))[0].detach()  # (2, 4)
    A = 1 / (1 + 2e-4)
    assert game.two_losses(policy, rollout, (1.0,))[1].item() == pytest.approx(-A * logps[0, 2:].sum().item() / 2)


def test_a_short_run_of_transfer_measures_lengths_and_sums(monkeypatch):
    """One step of each part on a few rows: which figures come, and that validation rows are none of the training's."""
    monkeypatch.setattr(transfer, "ROWS_OF_A_LENGTH", 2)
    monkeypatch.setattr(transfer, "SUMS", 2)
    rows = transfer.run("rate 1e-4", seed=0, steps=1)
    assert len(rows["validation"]) == len(rows["below the header"]) == 7 and 0 <= rows["held out"] <= 1
    assert set(transfer.run("its tokens learnt", seed=0, steps=1)) == {
        "right",
        "one too high",
        "right below the header",
    }
    trained = [{"prompt": row["prompt"]} for row in transfer.rows_by_length("train", seed=1)[:3]]
    assert not {row["prompt"] for row in transfer.rows_for_choosing(trained)} & {row["prompt"] for row in trained}


def test_a_zero_before_a_right_sum_leaves_it_right():
    """Catches a control whose sums are false as well, one that speaks unasked, and an answer 042 that counts as wrong."""
    speak = transfer.with_a_zero(addition.calculator())
    assert speak("17 + 25 =") == " 042\n" and speak("17 + 25") == ""
    said = [tagged("17 + 25 = 42", number) for number in ("42", "042", "43", "0042")]
    assert transfer.right([""] * 4, said, ["42"] * 4) == [1, 1, 0, 0]


def test_a_hacked_run_is_measured_by_its_words(monkeypatch):
    """Catches words that are counted with their full stops, a text without any that divides by 0, and a bounded reward."""
    assert ppo_hacked.unbounded([""], ["." * 25]) == [2.5]
    for says, words in ((" slept. he sang.", 1.5), ("....", 0.0), (" slept", 2.0)):
        monkeypatch.setattr(ppo_hacked, "completed", lambda _, said=says: ([said, said], torch.tensor(0.5)))
        monkeypatch.setattr(ppo_hacked, "trained", lambda *_: None)
        measured = ppo_hacked.run("hacked", seed=0)
        assert measured == {
            "full stops": says.count("."),
            "words a stop": pytest.approx(words),
            "known words": 1.0,
            "KL": 0.5,
        }


def test_choices_are_drawn_anew_for_each_seed_and_follow_the_gold_reward():
    """Catches choices that ignore the gold reward, that have no noise, or that are the same for every seed."""
    texts = (" went to the old church again.", " slept.")  # gold 0 and -5: the first is chosen in 0.993
    near = (" went to the old church again.", " went to the old church.")  # gold 0 and -1: in 0.731
    pool = [{"prompt": str(i), "completions": pair} for i in range(400) for pair in (texts, near)]
    rows = reward_model.choices_of(pool, seed=0)
    assert rows != reward_model.choices_of(pool, seed=1) and rows == reward_model.choices_of(pool, seed=0)
    sure = [row["chosen"] == texts[0] for row in rows if texts[1] in row.values()]
    noisy = [row["chosen"] == near[0] for row in rows if near[1] in row.values()]
    assert len(sure) == len(noisy) == 400
    assert sum(sure) / 400 > 0.97 and 0.65 < sum(noisy) / 400 < 0.81


def test_the_controls_of_distillation_differ_in_what_their_names_say(monkeypatch):
    """Catches a control that is its run once more, or that changes two things."""
    seen = []
    monkeypatch.setattr(distillation_controls, "by_distillation", lambda model, seed, config: seen.append(config))
    ways = [name for name in distillation_controls.CONDITIONS if "KL" in name]
    for name in ways:
        distillation_controls.CONDITIONS[name](None, 0)
    for name, config in zip(ways, seen, strict=True):
        whose = "student" if name.endswith("own samples") else "teacher"
        temperature = 1.0 if name.startswith("soft") else distillation.TEACHER_TEMPERATURE
        expected = {"distillation_alpha": float("reverse" in name), "sampled_by": whose}
        assert config == replace(distillation.REVERSE, teacher_temperature=temperature, **expected), name


def test_the_log_ratio_at_the_sampled_tokens_pulls_as_the_whole_distributions_do(tokenizer):
    """Catches a sign, an advantage that carries a gradient, and a teacher that is not the one with its temperature."""
    torch.manual_seed(0)
    student, teacher = tiny_llama().eval(), frozen_copy(tiny_llama().eval())
    config = replace(distillation.REVERSE, prompts_per_step=1, num_generations=4096, max_new_tokens=1)
    rows = [{"prompt": "ab", "teacher_prompt": "cab"}]
    gradients_of = []
    for algorithm in (distillation.TokenRatio, Distillation):
        ours = algorithm(
            student, tokenizer, lambda completions, **_: [0.0] * len(completions), config, reference=teacher
        )
        loss = ours.loss(ours.collect(rows, step=0))[0]
        gradients_of.append(torch.autograd.grad(loss, student.lm_head.weight)[0].flatten())
    assert torch.cosine_similarity(*gradients_of, dim=0) > 0.9
    assert 0.8 < gradients_of[0].norm() / gradients_of[1].norm() < 1.25


def test_supervised_training_has_the_documents_that_the_forward_kl_learns_from(monkeypatch):
    """Catches a comparison of two losses on two sets of samples."""
    config = replace(distillation.FORWARD, steps=2, prompts_per_step=2, seed=1)
    monkeypatch.setattr(distillation, "FORWARD", config)
    shared = distillation.setting()
    documents = distillation.documents_of_teacher(seed=1)
    algorithm = Distillation(
        shared.base,
        shared.tokenizer,
        countdown.correctness_reward,
        config,
        reference=frozen_copy(shared.base),
    )
    for step in range(2):
        rows = rows_of_step(shared.train_rows, 2, step, seed=1)
        rollout = algorithm.collect(rows, step).rollout
        pairs = zip(rollout.prompts, rollout.completions)
        assert documents[2 * step : 2 * step + 2] == [{"prompt": p, "completion": c} for p, c in pairs]


def test_pushing_down_is_not_what_costs():
    """Catches the cause that `notebooks/what_rl_adds.ipynb` calls refuted, if its control, made again, bears it out."""
    pushed_down = recorded("what_rl_adds").spread("GRPO, 3e-4", "logp with key")[0]
    pushed_up_alone = recorded("what_rl_adds_lost").spread("nothing pushed down", "logp with key")[0]
    assert pushed_up_alone < pushed_down - 1
    assert (round(pushed_up_alone, 2), round(pushed_down, 2)) == (-5.96, -3.59)


def test_a_control_of_what_is_lost_pushes_nothing_down_and_changes_nothing_else(monkeypatch):
    """Two completions of one group, the first right. Catches a control that pushes down as well, or that is paid otherwise."""
    collected = Experience(
        rollout=None,
        rewards_per_func=torch.tensor([[1.0], [0.0]]),
        rewards=torch.tensor([1.0, 0.0]),
        advantages=torch.tensor([2.0, -2.0]),
        ref_logps=None,
        metrics={},
    )
    monkeypatch.setattr(grpo.GRPO, "collect", lambda self, rows, step, share: collected)
    algorithm = what_rl_adds_lost.PushingUpAlone
    changed = algorithm.collect(object.__new__(algorithm), [], 0)
    assert changed.advantages.tolist() == [2.0, 0.0] and changed.rewards.tolist() == [1.0, 0.0]


def test_a_coin_pays_by_place_and_prompt_alone():
    """Catches a random reward that reads what was said, that pays a whole group alike, or that no run repeats."""
    prompts = ["a"] * 32
    paid = what_rl_adds_controls.coin_reward(prompts, ["right"] * 32)
    assert paid == what_rl_adds_controls.coin_reward(prompts, ["wrong"] * 32)
    assert 8 < sum(paid) < 24 and set(paid) == {0.0, 1.0}
    assert what_rl_adds_controls.coin_reward(["b"] * 32, ["right"] * 32) != paid


def test_a_bonus_rises_below_its_target_entropy_and_falls_above(monkeypatch):
    """Catches a controller with its sign turned, which drives the entropy away, and a coefficient below 0."""
    algorithm = object.__new__(what_rl_adds_entropy.HeldEntropy)
    algorithm.config = GRPOConfig()
    found = []
    for entropy in (0.4, 0.2, 0.2, 0.4):
        experience = SimpleNamespace(metrics={"entropy": entropy})
        monkeypatch.setattr(grpo.GRPO, "collect", lambda self, rows, step, share, found=experience: found)
        algorithm.collect([], 0)
        found.append(algorithm.config.entropy_coef)
    assert found == pytest.approx([0.0, 0.01, 0.02, 0.01])


def test_the_gradient_of_a_penalty_on_completions_is_that_of_the_kl():
    """Catches a penalty that is called a KL and pulls elsewhere. Its samples come as often as the policy says them."""
    reference = torch.tensor([0.25, 0.25, 0.5]).log()
    said = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2])  # one group, as often as the policy says each of three completions
    logits = torch.tensor([0.5, 0.25, 0.25]).log().requires_grad_()
    logps = logits.log_softmax(dim=0)
    exact = torch.autograd.grad((logps.exp() * (logps - reference)).sum(), logits, retain_graph=True)[0]
    arguments = logps[said][:, None], None, reference[said][:, None], torch.ones(8, 1), torch.zeros(8)
    loss = reasoning_format.of_completions(*arguments, beta=1.0) * reasoning_format.SAMPLING.max_new_tokens
    found = torch.autograd.grad(loss, logits)[0]
    assert found == pytest.approx(exact * 8 / 7, abs=1e-6)  # each is less the others, not less the group's mean


def test_a_pair_is_the_first_right_and_the_first_wrong_sample_of_a_prompt():
    """Catches a judge that is fitted to the last ones, or to a prompt that has only wrong ones."""
    drawn = SimpleNamespace(
        prompts=["a"] * 4 + ["b"] * 4,
        num_generations=4,
        completions=[" 1", " 2", " 3", " 4", " 5", " 6", " 7", " 8"],
        rewards=torch.tensor([0, 1, 0, 1, 0, 0, 0, 0]),
    )
    assert more_samples.pairs_of(drawn) == [{"prompt": "a", "chosen": " 2", "rejected": " 1"}]


def test_a_vote_of_n_is_taken_of_every_n_samples_of_a_row():
    """Catches votes that run over the border of two rows, and a remark that is counted as an answer."""
    task = replace(more_samples.CONDITIONS["dots"], drawn=4)
    rows = [{"prompt": "a", "answer": "1"}, {"prompt": "b", "answer": "2"}]
    said = [" 1", " 7", " well, a few dots.", " 1"] + [" well, a few dots.", " 2", " 3", " 3"]
    assert more_samples.by_votes(task, rows, said, (1, 2, 4)) == [3 / 8, 3 / 4, 1 / 2]


def test_every_condition_of_off_policy_spends_the_same_samples():
    """Catches a condition that is ahead because it saw more: completions and updates are counted."""
    for name, condition in off_policy.CONDITIONS.items():
        config = off_policy.config_of(condition, seed=0)
        assert config.steps * config.prompts_per_step * config.num_generations == 4096, name
        updates = config.steps * config.num_iterations
        assert updates == (128 if "4 updates" in name else 32), name


def test_a_clock_does_not_count_what_it_was_stopped_for(monkeypatch):
    """Catches seconds of measuring in those of training."""
    monkeypatch.setattr(measuring.time, "process_time", iter([10.0, 13.0, 20.0, 21.0]).__next__)
    clock = measuring.Clock()  # at 10
    with clock.stopped():  # from 13 to 20
        pass
    assert clock.seconds == 4.0  # at 21
