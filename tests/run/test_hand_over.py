"""The hand-over to TRL, with the real TRL on the CPU."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM
from trl import GRPOConfig as TRLConfig
from typer.testing import CliRunner

from shared.grpo import GRPOConfig, collect, policy_loss
from shared.losses import CLIP_RATIOS
from shared.models import frozen_copy, load_policy, load_tokenizer
from shared.recipes import RECIPES, prepare
from shared.rloo import RLOO, RLOOConfig
from shared.run import hand_over
from shared.run.command import app
from shared.run.convert import convert
from shared.run.plan import Plan
from shared.run.trl_settings import (
    AS_HERE,
    COUNTERPARTS,
    same_name,
    shares_of,
    trl_settings,
    with_extra,
    without_counterpart,
)
from shared.saving import save_policy
from tests.conftest import few_of
from tests.fakes import byte_tokenizer

ENDS = list(range(0, 1770, 4))  # a fourth of all tokens, so that of three-token completions some end by themselves
CONFIG = GRPOConfig(steps=5, prompts_per_step=4, num_generations=8, log_every=1)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with a random model of the course's vocabulary, its weights large enough to say different things."""
    tokenizer = load_tokenizer()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        initializer_range=0.5,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    folder = tmp_path_factory.mktemp("tiny")
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def one_for_all(completions, **columns):
    return [1.0] * len(completions)


def call(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


# --- settings


@pytest.mark.parametrize("config", [CONFIG, RLOOConfig(prompts_per_step=4)])
def test_settings_of_one_name_are_trls_fields(config):
    """Catches a TRL in which a setting was renamed: it would be handed over to nothing."""
    assert set(trl_settings(config, on_cpu=True)) <= COUNTERPARTS[type(config)].names
    assert AS_HERE.keys() <= COUNTERPARTS[GRPOConfig].names  # what RLOO has not is left out of its own


@pytest.mark.parametrize("settings", [GRPOConfig, RLOOConfig])
def test_every_setting_is_handed_over_or_refused_or_of_no_consequence(settings):
    """Catches a new setting of ours that TRL would train without, and one that it has no longer."""
    renamed = {"steps", "prompts_per_step", "minibatches", "max_new_tokens", "log_every", "checkpoint_every"}
    refused = {"kl_in", "kl_estimator", "advantage_eps", "eval_every"}
    refused |= {"sampler_bits", "staleness", "decoupled", "baseline"}
    assert {field.name for field in fields(settings)} - same_name(settings()) <= renamed | refused


def test_the_table_of_names_is_whole():
    """Catches a setting whose name is neither TRL's nor in the table of the docs, and a name that TRL does not have."""
    page = (Path(__file__).parents[2] / "docs" / "cluster.qmd").read_text(encoding="utf-8")
    table = page.partition("| here | in `trl.GRPOConfig` |\n|---|---|\n")[2].partition("\n\n")[0]
    others = dict(re.match(r"\| `(\w+)` \| (.+) \|$", line).groups() for line in table.splitlines())
    theirs = TRLConfig.__dataclass_fields__
    assert others.keys() == {field.name for field in fields(GRPOConfig)} - theirs.keys()
    for name, counterpart in others.items():
        named = re.findall(r"`(\w+)`", counterpart)
        assert set(named) <= theirs.keys() and (named or counterpart.startswith("none: ")), name


@pytest.mark.parametrize(
    "changes, sentence",
    [
        (dict(beta=0.1, kl_in="reward"), "leave --kl-in reward out"),
        (dict(beta=0.1, kl_estimator="k2"), "leave --kl-estimator k2 out"),
        (dict(advantage_eps=1e-6), "leave --advantage-eps out"),
        (dict(eval_every=5), "leave --eval-every out"),
        (dict(scale_rewards="mean"), "leave --scale-rewards mean out"),
        (dict(staleness=2), "leave --staleness and"),
        (dict(sampler_bits=4), "leave --sampler-bits out"),
        (dict(minibatches=3), "3 minibatches cannot share 4 prompts"),
    ],
)
def test_what_trl_has_no_counterpart_for_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        trl_settings(replace(CONFIG, **changes), on_cpu=True)


def test_a_baseline_that_trls_rloo_has_not_is_refused():
    """Catches REINFORCE asked for and RLOO trained."""
    with pytest.raises(ValueError, match="leave --baseline none out"):
        trl_settings(RLOOConfig(baseline="none"), on_cpu=True)


def test_a_kl_that_weighs_nothing_is_not_refused():
    assert without_counterpart(replace(CONFIG, kl_in="reward", kl_estimator="k1")) == []


def test_a_prompt_that_trl_would_read_otherwise_is_refused():
    """Catches an EOS behind every prompt, after which TRL would sample."""
    hand_over.refuse_other_tokens(byte_tokenizer("<s> $A"), "7 + 4")
    with pytest.raises(ValueError, match="TRL would read the prompt '7 [+] 4' as '7 [+] 4</s>'"):
        hand_over.refuse_other_tokens(byte_tokenizer("$A </s>"), "7 + 4")


@pytest.mark.parametrize("processes", [1, 2, 4])
@pytest.mark.parametrize("minibatches, num_iterations", [(1, 1), (2, 1), (2, 3)])
def test_trl_makes_as_many_rollouts_and_updates(processes, minibatches, num_iterations):
    """Held against TRL's own arithmetic: a rollout of N x G completions, updates x minibatches of each."""
    config = replace(CONFIG, minibatches=minibatches, num_iterations=num_iterations)
    settings = trl_settings(config, on_cpu=True, processes=processes)
    rollout = settings["per_device_train_batch_size"] * settings["steps_per_generation"] * processes
    assert rollout == 4 * 8
    updates_of_a_rollout = num_iterations * settings["steps_per_generation"] / settings["gradient_accumulation_steps"]
    assert updates_of_a_rollout == num_iterations * minibatches
    assert settings["max_steps"] == 5 * updates_of_a_rollout


def test_weights_and_checkpoints_are_handed_over():
    """Catches rewards that count alike in TRL, and a checkpoint after every second step where each was asked for."""
    settings = trl_settings(replace(CONFIG, reward_weights=(0.5, 2.0), checkpoint_every=1), on_cpu=True)
    assert (settings["reward_weights"], settings["save_steps"]) == ([0.5, 2.0], 1)


def test_smaller_passes_are_more_of_them():
    assert shares_of(CONFIG, processes=2, per_device=4) == {
        "per_device_train_batch_size": 4,
        "gradient_accumulation_steps": 4,
        "steps_per_generation": 4,
    }


def test_what_processes_cannot_share_is_refused():
    with pytest.raises(ValueError, match="32 completions a minibatch .* cannot be shared evenly by 3 processes"):
        shares_of(CONFIG, processes=3)


def test_options_behind_the_dashes_go_over_ours(tmp_path):
    settings = trl_settings(CONFIG, on_cpu=True) | {"output_dir": str(tmp_path)}
    extra = ["--per_device_train_batch_size", "8", "--learning_rate=0.5", "--mask_truncated_completions", "true"]
    args = with_extra(settings, extra, CONFIG, 1)
    assert (args.learning_rate, args.mask_truncated_completions, args.loss_type) == (0.5, True, "grpo")
    assert (args.per_device_train_batch_size, args.gradient_accumulation_steps) == (8, 4)
    assert args.generation_batch_size == 32
    args = with_extra(settings, [*extra, "--gradient_accumulation_steps", "2"], CONFIG, 1)
    assert args.gradient_accumulation_steps == 2


@pytest.mark.parametrize("extra", [["--no_such_option", "1"], ["--learning_rate", "much"], ["stray"]])
def test_an_option_that_trl_does_not_take_is_a_sentence(extra, tmp_path):
    settings = trl_settings(CONFIG, on_cpu=True) | {"output_dir": str(tmp_path)}
    with pytest.raises(ValueError, match="trl.GRPOConfig does not take the options behind --"):
        with_extra(settings, extra, CONFIG, 1)


# --- the trainer


def trainer_of(task, tiny, tmp_path, algorithm="grpo", **settings):
    recipe = replace(RECIPES[task], train_rows=8, eval_rows=2, constrained=False)
    settings = dict(steps=2, prompts_per_step=2, num_generations=2, num_iterations=1, minibatches=1) | settings
    plan = Plan(recipe, algorithm, settings, model=tiny, lora=False, checkpoint=tmp_path)
    tokenizer = load_tokenizer(tiny)
    materials = prepare(recipe, tokenizer)
    config = plan.config(max_new_tokens=3)
    args = hand_over.arguments(plan, config, str(tmp_path))
    return hand_over.trainer_for(plan, config, args, tokenizer, materials), plan, materials, config


@pytest.mark.parametrize(
    ("asked", "adapters", "four_bits"),
    [({"lora": False}, False, False), ({"lora": True}, True, False), ({"load_in_4bit": True}, True, True)],
)
def test_the_trainer_is_given_what_the_plan_says(asked, adapters, four_bits, tmp_path, monkeypatch):
    """Catches a revision, 4-bit weights or adapters that are asked for and not handed over, and rewards of one name."""
    handed_over = replace(COUNTERPARTS[GRPOConfig], trainer=lambda **given: given)
    monkeypatch.setitem(COUNTERPARTS, GRPOConfig, handed_over)
    recipe = replace(RECIPES["countdown"], train_rows=8, eval_rows=2, constrained=False)
    plan = Plan(recipe, "grpo", {}, model="someone/tiny@v1", logs=("csv:run.csv",), **asked)
    config = plan.config(max_new_tokens=3)
    args = hand_over.arguments(plan, config, str(tmp_path))
    assert args.model_init_kwargs == {"dtype": "float32", "revision": "v1"} and args.logging_steps == 1
    tokenizer = load_tokenizer()
    given = hand_over.trainer_for(plan, config, args, tokenizer, prepare(recipe, tokenizer))
    assert given["model"] == "someone/tiny" and given["args"] is args
    assert [function.__name__ for function in given["reward_funcs"]] == [f.__name__ for f in recipe.reward_funcs]
    assert (given["peft_config"] is not None, given["quantization_config"] is not None) == (adapters, four_bits)


def test_a_warm_up_that_trl_leaves_out_is_told(monkeypatch):
    """Catches a run in TRL that begins where nothing is ever rewarded, without a word."""
    tokenizer = load_tokenizer()
    hand_over.tell_of_warm_up(Plan(RECIPES["dots"], "grpo", {}), tokenizer)  # the embedded model has none: no warning
    monkeypatch.setattr("shared.model_classes.SMALLEST_REAL_VOCABULARY", 0)
    with pytest.warns(UserWarning, match="which TRL's trainer leaves out"):
        hand_over.tell_of_warm_up(Plan(RECIPES["dots"], "grpo", {}), tokenizer)


@pytest.mark.parametrize("task", few_of([n for n in RECIPES if not RECIPES[n].environment_factory], ["countdown"]))
def test_two_steps_of_every_tasks_rewards(task, tiny, tmp_path):
    """Catches a reward that TRL cannot call, a column that it does not pass on, rows that `datasets` does not take."""
    trainer, plan, materials, _ = trainer_of(task, tiny, tmp_path)
    trainer.train()
    assert trainer.state.global_step == 2
    measured = hand_over.measure(trainer, plan, materials, "after")
    assert measured.prompts == [row["prompt"] for row in materials.eval_rows] and len(measured.completions) == 2


@pytest.mark.parametrize(
    "loss_type, level, masked",
    [
        ("grpo", "token", False),
        ("grpo", "token", True),
        ("dapo", "token", True),
        ("dr_grpo", "token", False),
        ("grpo", "sequence", False),
    ],
)
def test_the_two_losses_agree(loss_type, level, masked, tiny, tmp_path):
    """One rollout, one policy that has moved since: TRL's trainer, its own forward pass included, against ours."""
    settings = dict(loss_type=loss_type, beta=0.1, temperature=0.8, num_generations=4, epsilon=0.1, epsilon_high=0.3)
    settings |= {"importance_sampling_level": level, "mask_truncated_completions": masked}
    trainer, plan, materials, config = trainer_of("dots", tiny, tmp_path, num_iterations=2, **settings)
    model, tokenizer = load_policy(tiny, device="cpu")
    model.generation_config.eos_token_id = ENDS
    reference = frozen_copy(model)
    experience = collect(
        model, tokenizer, materials.train_rows[:2], lambda completions, **_: [float(len(c)) for c in completions], config,
        reference=reference,
    )  # fmt: skip
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    ours, metrics = policy_loss(model, experience, config)
    assert metrics["clip_ratio"] > 0 and metrics["kl"] > 0

    rollout = experience.rollout
    assert rollout.truncated.any() and not rollout.truncated.all()
    completion_mask = rollout.completion_mask * ~(rollout.truncated & masked)[:, None]  # as TRL makes it of its rollout
    theirs = trainer.accelerator.unwrap_model(trainer.model).eval()
    theirs.load_state_dict(model.state_dict())
    rows = torch.arange(2).repeat_interleave(4)
    trainer.current_gradient_accumulation_steps = 1
    inputs = {
        "prompt_ids": rollout.prompt_ids[rows],
        "prompt_mask": rollout.prompt_mask[rows],
        "completion_ids": rollout.completion_ids,
        "completion_mask": completion_mask,
        "advantages": experience.advantages,
        "old_per_token_logps": rollout.old_logps,
        "ref_per_token_logps": experience.ref_logps,
        "num_items_in_batch": completion_mask.sum(),
    }
    torch.testing.assert_close(trainer._compute_loss(theirs, inputs), ours, rtol=1e-5, atol=1e-5)
    logged = next(log for log in trainer._metrics.values() if "kl" in log)
    for name in CLIP_RATIOS:
        assert metrics[name].item() == pytest.approx(logged[name][-1], abs=1e-6)


def test_the_two_gradients_of_rloo_agree(tiny, tmp_path, monkeypatch):
    """One rollout with a KL in its rewards: TRL's own advantages and gradient, against ours. Its loss has another value."""
    trainer, _, materials, config = trainer_of(
        "dots", tiny, tmp_path, "rloo", num_generations=4, beta=0.3, temperature=0.8
    )
    model, tokenizer = load_policy(tiny, device="cpu")
    torch.manual_seed(1)
    reference = frozen_copy(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    rows = materials.train_rows[:2]
    algorithm = RLOO(model, tokenizer, lambda completions, **_: [float(len(c)) for c in completions], config, reference=reference)  # fmt: skip
    experience = algorithm.experience(rows, 0)
    rollout = experience.rollout
    algorithm.loss(experience)[0].backward()

    theirs = trainer.accelerator.unwrap_model(trainer.model).train()
    theirs.load_state_dict(model.state_dict())
    trainer.ref_model.load_state_dict(reference.state_dict())
    trainer.reward_funcs = [lambda completions, **_: [float(len(c)) for c in completions]]
    prompts = [row[mask == 1].tolist() for row, mask in zip(rollout.prompt_ids, rollout.prompt_mask) for _ in range(4)]
    ids = [row[:length].tolist() for row, length in zip(rollout.completion_ids, rollout.lengths)]
    monkeypatch.setattr(trainer, "_tokenize_prompts", lambda texts: (prompts, None, {}))
    monkeypatch.setattr(trainer, "_generate_single_turn", lambda *args: ids)
    inputs = trainer._generate_and_score_completions([row for row in rows for _ in range(4)])
    torch.testing.assert_close(inputs["advantages"], experience.advantages, rtol=1e-4, atol=1e-4)
    trainer.current_gradient_accumulation_steps = 1
    trainer._compute_loss(theirs, inputs).backward()
    assert any(parameter.grad.abs().max() > 1e-3 for parameter in theirs.parameters())
    for ours, other in zip(model.parameters(), theirs.parameters()):
        torch.testing.assert_close(ours.grad, other.grad, rtol=1e-4, atol=1e-5)


def test_lengths_and_tokens_are_counted_as_trl_counts(tiny, tmp_path, monkeypatch):
    """TRL's own generation step on the completions of our rollouts, twice: `num_tokens` is a sum over the run."""
    trainer, _, materials, config = trainer_of("dots", tiny, tmp_path, num_generations=4, beta=0.0)
    model, tokenizer = load_policy(tiny, device="cpu")
    model.generation_config.eos_token_id = ENDS
    trainer.eos_token_ids = ENDS
    trainer.model.train()
    so_far = 0
    for step in range(2):
        experience = collect(model, tokenizer, materials.train_rows[:2], one_for_all, config, step=step)
        rollout, so_far = experience.rollout, so_far + experience.metrics["num_tokens"]
        ids = [row[:length].tolist() for row, length in zip(rollout.completion_ids, rollout.lengths)]
        prompts = [
            row[mask == 1].tolist() for row, mask in zip(rollout.prompt_ids, rollout.prompt_mask) for _ in range(4)
        ]
        monkeypatch.setattr(trainer, "_tokenize_prompts", lambda texts, prompts=prompts: (prompts, None, {}))
        monkeypatch.setattr(trainer, "_generate_single_turn", lambda *args, ids=ids: (ids, None))
        trainer._generate(rollout.repeated(rollout.prompts))
        logged = trainer._metrics["train"]
        assert so_far == logged["num_tokens"][-1]
        assert rollout.truncated.any() and not rollout.truncated.all()
        for name in ("mean_length", "mean_terminated_length", "clipped_ratio"):
            assert experience.metrics[f"completions/{name}"] == pytest.approx(logged[f"completions/{name}"][-1])


# --- the command


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["poker"], "add --free"),
        (["sentences"], "add --algorithm grpo, or rloo"),
        (["addition", "--log", "rollouts:run.jsonl"], "add `--log_completions true` behind --"),
        (["analogies"], "add --lora for adapters or --no-lora"),
        (["dots", "--beta", "0.1", "--kl-in", "reward"], "TRL penalises the KL in the loss alone"),
        (["dots", "--eval-every", "5"], "leave --eval-every out"),
        (["dots", "--", "--no_such_option", "1"], "does not take the options behind --"),
    ],
)
def test_a_refusal_is_a_sentence(arguments, sentence):
    ran = call("--engine", "trl", *arguments)
    assert ran.exit_code == 2 and sentence in ran.output


def test_adapters_are_refused_until_they_are_one_with_their_model(tiny, tmp_path):
    """Catches a KL that TRL measures from the model below adapters that were trained before, and a merge that loses them."""
    model, tokenizer = load_policy(tiny, device="cpu", lora={"r": 2, "init_lora_weights": False})
    tuned = save_policy(model, tokenizer, tmp_path / "tuned", task="x")
    ran = call("dots", "--engine", "trl", "--model", str(tuned))
    assert ran.exit_code == 2 and "shared.run.convert" in ran.output
    convert(tuned, tmp_path / "whole")
    whole, _ = load_policy(tmp_path / "whole", device="cpu")
    ids = torch.tensor([[2, 3, 4]])
    with torch.no_grad():
        torch.testing.assert_close(whole(ids).logits, model(ids).logits)


@pytest.mark.parametrize("arguments", [["--", "--use_cpu", "true"], ["--use-vllm"], ["--vllm-server", "http://x"]])
def test_what_is_trls_is_refused_without_it(arguments):
    ran = call("dots", *arguments)
    assert ran.exit_code == 2 and "add --engine trl" in ran.output


def test_a_run_is_measured_kept_and_told(tiny, tmp_path):
    result, folder, table = tmp_path / "run.json", tmp_path / "tuned", tmp_path / "run.csv"
    ran = call(
        *f"dots --engine trl --model {tiny} --steps 2 --prompts-per-step 2 --num-generations 2".split(),
        *f"--train-rows 4 --eval-rows 3 --weight-decay 0.5 --warmup-steps 0 --log csv:{table} --save {folder} --result {result}".split(),
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    told = json.loads(result.read_text())
    assert told["engine"] == "trl" and told["measured"]["held_out_prompts"] == 3 and told["history"]
    assert len(table.read_text().splitlines()) == 3
    tuned, base = load_policy(folder, device="cpu")[0], load_policy(tiny, device="cpu")[0]
    assert any((p != q).any() for p, q in zip(tuned.parameters(), base.parameters()))


def test_the_same_command_goes_on_in_trl(tiny, tmp_path):
    """Catches a checkpoint that is written and never read."""
    folder, table = tmp_path / "checkpoints", tmp_path / "run.csv"
    small = f"dots --engine trl --model {tiny} --prompts-per-step 2 --num-generations 2 --train-rows 4 --eval-rows 2"
    kept = [*small.split(), "--checkpoint", str(folder), "--checkpoint-every", "1", "--log", f"csv:{table}"]
    assert call(*kept, "--steps", "1").exit_code == 0
    first = table.read_text().splitlines()
    ran = call(*kept, "--steps", "2")
    assert ran.exit_code == 0 and "Going on from" in ran.output
    lines = table.read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["step", "1", "2"] and lines[:2] == first


@pytest.mark.slow
def test_dots_is_learned_in_trl(tmp_path):
    """The embedded model, 40 steps: from about 0.25 to at least 0.95 of held-out completions, sampled."""
    result = tmp_path / "run.json"
    ran = call("dots", "--engine", "trl", "--result", str(result), "--", "--gradient_checkpointing", "false")
    assert ran.exit_code == 0, ran.output
    measured = json.loads(result.read_text())["measured"]
    assert measured["baseline"] < 0.4 and measured["fine-tuned"] >= 0.95
