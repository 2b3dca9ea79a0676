"""The command line: a small run end to end, and mistakes that are told before anything is loaded."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from shared.evaluate import evaluate
from shared.models import load_policy
from shared.recipes import RECIPES
from shared.rollouts import read_rollouts
from shared.run import session
from shared.run.command import app
from shared.run.plan import CHECKPOINT_EVERY

SMALL = "--steps 2 --prompts-per-step 4 --num-generations 2 --eval-rows 4 --train-rows 8".split()


def call(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("algorithm", ["grpo", "rloo", "ppo"])
def test_a_run_is_measured_kept_and_told(algorithm, tmp_path):
    result = tmp_path / "results" / "run.json"
    folder = tmp_path / "tuned"
    kept = tmp_path / "run.jsonl"
    logs = ["--log", f"rollouts:{kept},every=2"]
    ran = call("dots", "--algorithm", algorithm, *SMALL, *logs, "--save", str(folder), "--result", str(result))
    assert ran.exit_code == 0, ran.output
    assert "baseline reward" in ran.output and "95 % interval" in ran.output
    told = json.loads(result.read_text())
    assert told["task"] == "dots" and told["algorithm"] == algorithm and len(told["history"]) == 2
    assert told["settings"]["steps"] == 2 and told["settings"]["learning_rate"] == 1e-4  # the task's own
    assert told["measured"]["held_out_prompts"] == 4
    assert told["measured"]["baseline_low"] <= told["measured"]["baseline"] <= told["measured"]["baseline_high"]
    completions = read_rollouts(kept)
    assert [one["step"] for one in completions] == [2] * 8
    mean = sum(one["reward"] for one in completions) / 8
    assert mean == pytest.approx(told["history"][1]["reward"])
    tuned, _ = load_policy(folder, device="cpu")
    base, _ = load_policy(device="cpu")
    assert any((p != q).any() for p, q in zip(tuned.parameters(), base.parameters()))
    assert "steps | 2" in (folder / "README.md").read_text()


@pytest.mark.parametrize("adapters", [[], ["--lora"]])
def test_a_teacher_teaches_below_its_header(adapters, tmp_path):
    """Catches rows without the teacher's prompt, and a teacher that is there only where there is a KL penalty."""
    result = tmp_path / "run.json"
    ran = call("countdown", "--algorithm", "distill", *adapters, *SMALL, "--result", str(result))
    assert ran.exit_code == 0, ran.output
    told = json.loads(result.read_text())
    assert told["settings"]["teacher_temperature"] == 0.3 and told["settings"]["distillation_alpha"] == 1.0
    assert all(record["kl"] > 0.05 for record in told["history"])  # below the student's prompt it were 0


def test_adapters_alone_are_trained_and_kept(tmp_path):
    ran = call("dots", "--lora", *SMALL, "--beta", "0.1", "--save", str(tmp_path / "tuned"))
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / "tuned" / "adapter_config.json").exists()


def test_the_same_command_goes_on(tmp_path):
    """Catches a checkpoint that is written by nobody because no interval was given."""
    file = tmp_path / "run.pt"
    steps = ["--checkpoint", str(file), "--checkpoint-every", "1", "--result", str(tmp_path / "run.json")]
    call("dots", *SMALL, *steps)
    ran = call("dots", *SMALL, *steps, "--steps", "3")
    history = json.loads((tmp_path / "run.json").read_text())["history"]
    assert ran.exit_code == 0 and [record["step"] for record in history] == [1, 2, 3]
    said = "".join(ran.output.split())  # lines end anywhere in a long path
    assert f"Goingonfromstep2of{file}." in said and f"Thecheckpointisin{file}" in said


class Deaf:
    """An environment that only listens."""

    def __init__(self, row, seed):
        self.answer = row["answer"]
        self.asked = 0
        self.done = False

    def say(self, text):
        self.asked += 1
        return ""


def listened(prompts, completions, answer, environments, **columns):
    """A reward that reads games."""
    assert [game.answer for game in environments] == list(answer)
    return [float(game.asked) for game in environments]


@pytest.mark.parametrize("algorithm", ["grpo", "rloo", "ppo"])
def test_a_recipes_environment_is_there_in_training_and_in_measuring(algorithm, monkeypatch):
    """Catches an environment that is lost on its way from the recipe, before, in or after training."""
    recipe = replace(RECIPES["dots"], environment_factory=Deaf, reward_funcs=(listened,), measured=listened)
    monkeypatch.setitem(RECIPES, "dots", recipe)
    ran = call("dots", "--algorithm", algorithm, *SMALL, "--steps", "1")
    assert ran.exit_code == 0, ran.output
    refused = call("game", "--engine", "trl", *SMALL)
    assert refused.exit_code == 2 and "leave --engine trl" in " ".join(refused.output.replace("│", " ").split())


def test_a_warm_up_comes_before_the_baseline_and_the_reference(monkeypatch, tmp_path):
    """Catches a baseline and a reference that cannot play, and a warm-up of another seed."""
    copied, warmed = [], []
    train, copy = session.supervised.train, session.frozen_copy

    def supervised_train(model, tokenizer, documents, config, **options):
        warmed.append((len(documents), config.seed))
        return train(model, tokenizer, documents, replace(config, steps=1), **options)

    monkeypatch.setattr(session.supervised, "train", supervised_train)
    monkeypatch.setattr(session, "frozen_copy", lambda model: copied.append(len(warmed)) or copy(model))
    ran = call("game", *SMALL, "--steps", "1", "--seed", "3", "--result", str(tmp_path / "run.json"))
    assert ran.exit_code == 0, ran.output
    assert warmed == [(RECIPES["game"].warm_up.count, 3)] and copied == [1]


def test_a_run_that_was_interrupted_is_not_measured_as_if_it_had_finished(monkeypatch, tmp_path):
    """Catches a half-trained model whose gain is told as that of the whole run."""
    monkeypatch.setattr(session.training, "train", lambda *_, **__: [{"step": 1, "reward": 0.5}])
    ran = call("dots", *SMALL, "--result", str(tmp_path / "run.json"))
    told = json.loads((tmp_path / "run.json").read_text())
    assert ran.exit_code == 130 and told["interrupted"]
    assert "baseline" in told["measured"] and not {"fine-tuned", "gain"} & told["measured"].keys()


def test_a_part_of_the_weights_is_trained_against_the_whole_as_it_was(monkeypatch):
    """Catches a reference that is there only where all weights are trained, or that is measured in the policy's place."""
    recipe = replace(RECIPES["dots"], trained="upper half", eval_rows=4, train_rows=8)
    seen, measured = [], []

    def train(algorithm, *_, evaluate, **__):
        seen.append(algorithm)
        evaluate(algorithm.policy)
        return []

    def evaluated(model, *arguments, **options):
        measured.append(model)
        return evaluate(model, *arguments, **options)

    monkeypatch.setattr(session.training, "train", train)
    monkeypatch.setattr(session, "evaluate", evaluated)
    session.run(session.Plan(recipe, "grpo", {"beta": 0.1}))
    (algorithm,) = seen
    assert [model is algorithm.policy for model in measured] == [True, True]
    trained = [parameter.requires_grad for parameter in algorithm.policy.parameters()]
    assert any(trained) and not all(trained)
    assert algorithm.reference is not None and algorithm.reference is not algorithm.policy


def test_only_the_first_of_several_processes_writes(monkeypatch, tmp_path, capsys):
    """Catches a log that every process opens, and a model that all of them save at once."""

    class Second(session.Processes):
        """As the second of two, whose share is the whole all the same."""

        first = False

    opened = []
    monkeypatch.setattr(session.loggers, "csv_log", opened.append)
    monkeypatch.setattr(session.Processes, "here", classmethod(lambda cls: Second()))
    recipe = replace(RECIPES["dots"], eval_rows=4, train_rows=8)
    log, result, folder = (tmp_path / name for name in ("run.csv", "run.json", "tuned"))
    small = {"steps": 1, "prompts_per_step": 4, "num_generations": 2}
    session.run(session.Plan(recipe, "grpo", small, save=folder, result=result, logs=(f"csv:{log}",)))
    assert not opened and not list(tmp_path.iterdir()) and not capsys.readouterr().out


def test_a_checkpoint_is_saved_now_and_then_without_being_asked():
    plan = session.Plan(RECIPES["dots"], "grpo", {}, checkpoint="run.pt")
    assert plan.config(4).checkpoint_every == CHECKPOINT_EVERY
    asked = session.Plan(RECIPES["dots"], "grpo", {"checkpoint_every": 3}, checkpoint="run.pt")
    assert asked.config(4).checkpoint_every == 3


def without_seconds(file):
    told = json.loads(file.read_text())
    return told | {"history": [{k: v for k, v in record.items() if k != "step_time"} for record in told["history"]]}


def test_a_run_is_a_file(tmp_path):
    """Catches a setting that a result does not hold, and one that is taken from the task instead of from the file."""
    first, again, other = (tmp_path / f"{name}.json" for name in ("first", "again", "other"))
    changed = ["--beta", "0.5", "--seed", "3", "--lora", "--reward-weights", "2"]
    call("dots", *SMALL, *changed, "--result", str(first))
    ran = call("--settings", str(first), "--result", str(again))
    assert ran.exit_code == 0, ran.output
    assert f"The run of {first}, with every setting as it was." in ran.output
    assert f"every step are in {again}." in ran.output
    assert without_seconds(again) == without_seconds(first)
    ran = call("--settings", str(first), "--result", str(other), "--steps", "1", "--beta", "0.5")
    assert f"The run of {first}, but steps 1 instead of 2." in ran.output
    assert without_seconds(other)["history"] == without_seconds(first)["history"][:1]


@pytest.mark.parametrize(
    "text, options, sentence",
    [
        (None, [], "cannot be read (No such file or directory)"),
        ("{", [], "holds no run"),
        ('{"task": "dots"}', [], "holds no run (KeyError: 'model')"),
        ("RESULT", ["--algorithm", "ppo"], "are those of grpo: leave --algorithm out"),
    ],
)
def test_a_file_that_is_no_run_is_a_sentence(text, options, sentence, tmp_path):
    file = tmp_path / "run.json"
    result = {"task": "dots", "algorithm": "grpo", "engine": "course", "model": {"name": "m", "revision": None}}
    result |= {"trained": "all", "load_in_4bit": False, "constrained": False, "train_rows": 8, "eval_rows": 4}
    if text is not None:
        file.write_text(json.dumps(result | {"settings": {"steps": 2}}) if text == "RESULT" else text)
    ran = call("--settings", str(file), *options)
    assert ran.exit_code == 2 and sentence in " ".join(ran.stderr.split()) and not ran.stdout


@pytest.mark.parametrize("terminal", [True, False])
def test_a_redirected_log_has_no_bar(terminal, monkeypatch):
    """Catches a line for each step, one behind the other, in a file where a scheduler keeps what a job said."""
    shown = []
    monkeypatch.setattr(session.sys, "stderr", SimpleNamespace(isatty=lambda: terminal, write=print, flush=print))
    monkeypatch.setattr(session.training, "train", lambda *args, **options: shown.append(options["progress"]) or [])
    session.run(session.Plan(replace(RECIPES["dots"], eval_rows=4, train_rows=8), "grpo", {"beta": 0.0}))
    assert shown == [terminal]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["dots", "--steps", "0"], "steps is 0; it must be at least 1"),
        (["dots", "--lam", "0.5"], "grpo has no setting lam; ppo has."),
        (["dots", "--log", "wandb:x"], "choose one of csv:FILE"),
        (["dots", "--log", "rollouts:x,every=0"], "there may be every=N"),
        (["dots", "--save", "tests"], "holds something else than a saved policy"),
        (["dots", "--num-generations", "1"], "num_generations is 1; it must be at least 2"),
        (["nosuch"], "'nosuch' is not one of 'dots'"),
        (["dots", "--loss-type", "no"], "Invalid value for '--loss-type': 'no' is not one of 'grpo'"),
        (["--steps", "3"], "Name a task, one of dots, poker"),
        (["dots", "--learning-rate", "0"], "learning_rate is 0.0; it must be positive"),
        (["dots", "--stpes", "3"], "No such option: --stpes"),
        (["dots", "--algorithm", "distill"], "dots has no header under which a teacher does better; countdown has."),
        (["dots", "stray"], "stray is for TRL alone"),
        (
            ["dots", "--result", "README.md/run.json"],
            "README.md/run.json cannot be written (File exists). Choose a path",
        ),
        (["dots", "--save", "README.md/tuned"], "README.md/tuned cannot be written"),
        (["dots", "--result", "tests"], "tests is a folder; give a file."),
        (["dots", "--log", "csv:README.md/run.csv"], "README.md/run.csv cannot be written"),
        (["dots", "--log", "rollouts:README.md/run.jsonl,every=2"], "README.md/run.jsonl cannot be written"),
    ],
)
def test_a_mistake_is_a_sentence_before_a_model_is_loaded(arguments, sentence, monkeypatch):
    """Catches a night of training that ends with a folder into which nothing may be saved."""
    monkeypatch.setattr(session, "load_policy", lambda *args, **options: pytest.fail("a model was loaded"))
    ran = call(*arguments)
    said = " ".join(ran.output.replace("│", " ").split())
    assert ran.exit_code == 2 and sentence in said and "Traceback" not in said and "Value error" not in said


def test_what_only_the_task_knows_is_a_sentence_too():
    ran = call("dots", "--constrained", *SMALL)
    assert ran.exit_code == 2 and "dots has no set of labels" in ran.output


def test_the_help_names_every_setting_and_whose_it_is():
    said = call("--help").output
    assert call("-h").output == said
    assert "--learning-rate" in said and "Settings of ppo" in said and "Settings of grpo and ppo" in said
