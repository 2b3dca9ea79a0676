"""Tests of every algorithm on the loop: resuming, options, samples, references, devices."""

import math

import pytest
import torch

from shared import grpo, ppo, rloo
from shared.constrain import answer_trie
from shared.grpo import GRPOConfig
from shared.logps import completion_logps
from shared.models import frozen_copy
from shared.ppo import ActorCritic, PPOConfig
from shared.rloo import RLOOConfig
from shared.rollout import sample
from shared.training import NonFiniteTraining
from tests.algorithms import ALL, SAMPLING, TEXTS, longer_is_better, parts_of, start, without_seconds
from tests.fakes import tiny_llama
from tests.grpo import ROWS, first_letter, run
from tests.line import parameters
from tests.second_device import DEVICE, second_device


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("name", ALL)
def test_resuming_continues_the_same_trajectory_bit_for_bit(name, tokenizer, tmp_path):
    """Catches optimiser state, warm-up, sampling seed or order of prompts that start over, and a head that is not kept."""
    whole, run_whole = start(name)
    uninterrupted = run_whole(tokenizer, settings={"steps": 4})
    path = tmp_path / "a folder" / "run.pt"
    _, run_first = start(name)
    run_first(tokenizer, settings={"steps": 3, "checkpoint_every": 2}, checkpoint_path=path)
    resumed, run_rest = start(name, seed=5)  # other weights: all must come from the checkpoint
    continued = run_rest(tokenizer, settings={"steps": 4, "checkpoint_every": 2}, checkpoint_path=path)
    assert without_seconds(continued) == without_seconds(uninterrupted)
    assert all(map(torch.equal, parameters(whole), parameters(resumed)))


@pytest.mark.parametrize("name", ALL)
def test_every_algorithm_passes_the_loops_options_on(name, tokenizer):
    """Catches a checkpoint, an evaluation or a listener that is asked for and never comes."""
    seen = []
    _, run = start(name)
    run(tokenizer, settings={"steps": 1, "eval_every": 1}, evaluate=lambda model: 0.5, on_step=seen.append)
    assert [record["eval_reward"] for record in seen] == [0.5]


@pytest.mark.parametrize("name", ALL)
def test_every_algorithm_has_what_the_loop_gives(name, tokenizer):
    model, run = start(name)
    before = parameters(model)
    history = run(tokenizer, settings={"steps": 4, "eval_every": 2, "warmup_steps": 2}, evaluate=lambda model: 0.5)
    assert [record["step"] for record in history] == [1, 2, 3, 4]
    assert history[1]["eval_reward"] == 0.5 and history[0]["learning_rate"] == pytest.approx(5e-3)
    assert all(math.isfinite(value) for record in history for value in record.values())
    assert any(not torch.equal(a, b) for a, b in zip(before, parameters(model)))


@pytest.mark.parametrize("name", SAMPLING)
def test_each_step_samples_its_own_completions_as_seed_step_and_constraint_say(name, tokenizer):
    """Catches the same noise at every step, a seed that is ignored, and a constraint or reference that is lost."""
    model, reference = tiny_llama().eval(), tiny_llama(9).eval()
    trie = answer_trie(tokenizer, ["a", "ab", "bb", "ccc", "dd", "e"])
    _, kind, config, policy = parts_of(name, model)
    settings = config(prompts_per_step=4, minibatches=1, num_generations=4, max_new_tokens=4, beta=0.1, seed=6)
    for constraint in (None, trie):
        algorithm = kind(policy, tokenizer, longer_is_better, settings, reference=reference, constraint=constraint)
        for step in (0, 1):
            experience = algorithm.experience(TEXTS, step)
            prompts = [row["prompt"] for row in TEXTS]
            oracle = sample(model, tokenizer, prompts, 4, settings.sampling, constraint=constraint, seed=6, step=step)
            assert experience.rollout.completions == oracle.completions
            assert experience.rewards.tolist() == longer_is_better(prompts, oracle.completions)
            logps = completion_logps(reference, oracle)[0]
            torch.testing.assert_close(experience.ref_logps, logps, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SAMPLING)
def test_advantages_are_where_the_policy_is(name, tokenizer):
    """Rewards are counted on the CPU. Catches advantages that stay there, which only a second device shows."""
    with second_device():
        model = tiny_llama().eval().to(DEVICE)
        _, kind, config, policy = parts_of(name, model)
        settings = config(prompts_per_step=4, num_generations=2, minibatches=1, max_new_tokens=2, beta=0.0)
        experience = kind(policy, tokenizer, longer_is_better, settings).collect(TEXTS, 0)
        assert experience.advantages.device == experience.rollout.old_logps.device == DEVICE
        assert experience.rewards.device.type == "cpu"


@pytest.mark.parametrize("name", SAMPLING)
def test_a_run_keeps_to_its_constraint_and_shows_its_name(name, tokenizer, capsys):
    model = tiny_llama().eval()
    module, _, config, policy = parts_of(name, model)
    said = set()

    def spy(prompts, completions, **columns):
        said.update(completions)
        return longer_is_better(prompts, completions)

    arguments = [policy, tokenizer, TEXTS, spy, config(steps=2, prompts_per_step=2, minibatches=1, max_new_tokens=4)]
    options = {"constraint": answer_trie(tokenizer, ["a", "bb"])}
    if name == "PPO":
        arguments.insert(1, frozen_copy(model))
    module.train(*arguments, **options)
    assert said == {"a", "bb"} and f"{name}:" in capsys.readouterr().err


def test_a_spoiled_value_head_stops_training(tokenizer):
    """Catches six silent steps of nan loss."""
    policy = ActorCritic(tiny_llama().eval())
    torch.nn.init.constant_(policy.value_head[-1].bias, math.nan)
    config = PPOConfig(steps=6, prompts_per_step=2, max_new_tokens=3, log_every=0)
    with pytest.raises(NonFiniteTraining):
        ppo.train(policy, frozen_copy(policy.model), tokenizer, TEXTS, longer_is_better, config, progress=False)


@pytest.mark.parametrize("kind, config", [(grpo, GRPOConfig), (rloo, RLOOConfig)])
def test_the_policy_as_its_own_reference_is_refused(kind, config, tokenizer):
    """The KL would be 0 for ever: the mistake this course teaches against."""
    model = tiny_llama().eval()
    with pytest.raises(ValueError, match="reference is the policy itself"):
        kind.train(model, tokenizer, TEXTS, longer_is_better, config(steps=1, beta=0.1), reference=model)
    policy = ActorCritic(model)
    with pytest.raises(ValueError, match="reference is the policy itself"):
        ppo.train(policy, model, tokenizer, TEXTS, longer_is_better, PPOConfig(steps=1))


@pytest.mark.usefixtures("shapes_unchecked")
def test_a_run_that_cannot_learn_says_so(tokenizer, capsys):
    """A model that never earns a reward trained 80 steps at 0.000 and ended green."""

    def never(prompts, completions, **columns):
        return [0.0] * len(completions)

    settings = {"steps": 12, "prompts_per_step": 2, "num_generations": 2, "max_new_tokens": 2, "log_every": 0}
    grpo.train(tiny_llama().eval(), tokenizer, TEXTS, never, GRPOConfig(**settings), progress=False)
    said = capsys.readouterr().out
    assert said.count("nothing to learn from") == 1 and "(average 0.000)" in said
    grpo.train(tiny_llama().eval(), tokenizer, TEXTS, never, GRPOConfig(**settings | {"steps": 9}), progress=False)
    policy = ActorCritic(tiny_llama().eval())
    ppo.train(policy, None, tokenizer, TEXTS, never, PPOConfig(**settings | {"beta": 0.0}), progress=False)
    assert capsys.readouterr().out.count("nothing to learn from") == 1, "not after nine steps; and PPO says it as well"


@pytest.mark.parametrize("kind, config", [(grpo, GRPOConfig()), (rloo, RLOOConfig()), (ppo, PPOConfig())])
def test_settings_of_another_kind_are_refused(kind, config, tokenizer):
    """Catches an AttributeError deep in a step, or settings of another algorithm that happen to have the same names."""
    model = tiny_llama()
    trained = (ActorCritic(model), None) if kind is ppo else (model,)
    other = RLOOConfig() if kind is grpo else GRPOConfig()
    for wrong in ({"steps": 1}, None, type(config), other):
        with pytest.raises(ValueError, match=f"those of this algorithm, such as {type(config).__name__}"):
            kind.train(*trained, tokenizer, ROWS, first_letter, wrong, progress=False)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"model": "models/course-lm"}, "The model is of the type str; give the first of what load_policy returns"),
        ({"tokenizer": "models/course-lm"}, "The tokenizer is of the type str; give the second"),
        ({"tokenizer": tiny_llama()}, "The tokenizer is of the type LlamaForCausalLM"),
        ({"reference": "models/course-lm"}, "The reference is of the type str"),
        ({"constraint": ["a", "b"]}, "The constraint is of the type list; answer_trie"),
        ({"on_step": "run.csv"}, "given 'run.csv'; give a function"),
        ({"on_rollout": ["run.jsonl"]}, "given 'run.jsonl'; give a function"),
        ({"reward": "exact"}, "reward_funcs has 'exact'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_argument_of_another_kind_is_named(wrong, words, tokenizer):
    """Catches Python's AttributeError about something that the caller never wrote."""
    with pytest.raises(ValueError, match=words):
        run(**({"model": tiny_llama(), "tokenizer": tokenizer} | wrong))


def test_ppo_asks_for_a_value_head(tokenizer):
    with pytest.raises(ValueError, match=r"give ActorCritic\(model\)"):
        ppo.train(tiny_llama(), None, tokenizer, ROWS, first_letter, PPOConfig(), progress=False)
