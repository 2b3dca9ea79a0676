"""On a second device the course samples the same tokens and learns the same parameters, and mixes no devices.

What that device is, and what it does not show of a GPU, says `tests.second_device`. Everything is compared bit for bit:
both devices compute with the CPU's kernels. The CPU samples in lockstep as the device does (`with_its_operations`); that trees
draw the same tokens is tested in `tests/engine/test_lockstep.py`.
"""

from dataclasses import fields, is_dataclass, replace
from itertools import product

import pytest
import torch

from shared import grpo, ppo, rewards, rloo, rollout, supervised, training
from shared.constrain import AnswerTrie, answer_trie
from shared.critic import ActorCritic
from shared.engine import piece_size
from shared.engine.sampling import Sampling
from shared.evaluate import evaluate
from shared.logps import completion_logps
from shared.models import add_lora, frozen_copy
from shared.rollout import sample
from tests.conftest import few_of
from tests.engine.test_llama import tiny_qwen
from tests.fakes import letter_tokenizer, tiny_gpt2, tiny_llama
from tests.second_device import second_device, with_its_operations
from tests.second_device_tensor import DEVICE

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
MODELS = {"llama": tiny_llama, "gpt2": tiny_gpt2, "qwen2": tiny_qwen}
ROWS = [{"prompt": p, "answer": a} for p, a in [("abc", "a"), ("d", "b"), ("efg", "c"), ("hi", "d"), ("d", "e")]]
PROMPTS = [row["prompt"] for row in ROWS]
TOKENIZER = letter_tokenizer()
TRIE = answer_trie(TOKENIZER, ["ab", "ac", "b", "cde"])


def reward(prompts, completions, answer, **columns):
    """Tells most completions apart, so that there is something to learn from every group."""
    return [float(c.startswith(a)) + 0.1 * len(c) + 0.01 * c.count("a") for c, a in zip(completions, answer)]


def on_the_host(value):
    """Tensors copied to the CPU, in dataclasses, lists and dicts; times are left out."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu()
    if is_dataclass(value):
        return {f.name: on_the_host(getattr(value, f.name)) for f in fields(value) if f.name != "constraint"}
    if isinstance(value, (list, tuple)):
        return [on_the_host(part) for part in value]
    if isinstance(value, dict):
        return {name: on_the_host(part) for name, part in value.items() if name != "step_time"}
    return value


def equal(one, other) -> bool:
    """Bit for bit."""
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


def on_the_cpu(run):
    """The values that `run(device)` returns on the CPU."""
    with with_its_operations():
        return on_the_host(run(torch.device("cpu")))


def on_both(run) -> tuple:
    """The values that `run(device)` returns on the CPU and on the second device."""
    here = on_the_cpu(run)
    with with_its_operations(), second_device():
        return here, on_the_host(run(DEVICE))


SAMPLINGS = {
    "sampled": (Sampling(6), None),
    "greedy": (Sampling(6, temperature=0.0), None),
    "top-k and top-p": (Sampling(6, temperature=1.3, top_k=6, top_p=0.8), None),
    "constrained": (Sampling(6), TRIE),
}


FEW_SAMPLINGS = [
    ("llama", "sampled"),
    ("qwen2", "sampled"),
    ("llama", "constrained"),
    ("gpt2", "greedy"),
    ("gpt2", "top-k and top-p"),
]


@pytest.mark.parametrize("names", few_of(product(MODELS, SAMPLINGS), FEW_SAMPLINGS), ids=lambda names: " ".join(names))
def test_the_same_tokens_and_scores(names):
    """Catches numbers drawn by the device's own generator, and a tensor of the CPU among those of the GPU."""
    make = MODELS[names[0]]
    sampling, constraint = SAMPLINGS[names[1]]

    def run(device):
        model = make().eval().to(device)
        drawn = sample(model, TOKENIZER, PROMPTS, 4, sampling, constraint=constraint, seed=3)
        assert drawn.completion_ids.device == drawn.completion_mask.device == drawn.old_logps.device == device
        assert drawn.lengths.device.type == drawn.truncated.device.type == "cpu"
        logps, entropy = completion_logps(model, drawn, with_entropy=True)
        (logps + 0.1 * entropy).sum().backward()
        part = completion_logps(model, drawn.take([3, 1]))[0]
        return [drawn, logps, entropy, part, [p.grad for p in model.parameters()]]

    here, there = on_both(run)
    assert equal(here, there)
    assert len({tuple(row) for row in here[0]["completion_ids"].tolist()}) > 1


BASE = grpo.GRPOConfig(steps=2, prompts_per_step=4, num_generations=4, max_new_tokens=4, log_every=0, warmup_steps=0)
# name: model, settings over BASE, what else is given to `train`.
GRPO_RUNS = {
    "plain": ("llama", {}, {}),
    "plain, transformers' pass": ("gpt2", {}, {}),
    "KL in the loss": ("gpt2", {"beta": 0.1, "loss_type": "dr_grpo"}, {}),
    "KL in the reward": ("llama", {"beta": 0.1, "kl_in": "reward"}, {}),
    "minibatches": ("llama", {"steps": 1, "num_iterations": 2, "minibatches": 2, "loss_type": "dapo"}, {}),
    "top-k, top-p and entropy": ("gpt2", {"top_k": 6, "top_p": 0.9, "entropy_coef": 0.01}, {}),
    "constrained": ("llama", {"beta": 0.1}, {"constraint": TRIE}),
    "adapters": ("llama", {"beta": 0.1}, {"lora": True}),
}


def trained_with_grpo(make, device, config, lora=False, **options) -> list:
    model = make().eval().to(device)
    reference = frozen_copy(model) if config.beta and not lora else None
    if lora:
        torch.manual_seed(0)
        model = add_lora(model)
    history = grpo.train(model, TOKENIZER, ROWS, reward, config, reference=reference, progress=False, **options)
    assert {p.device for p in model.parameters()} == {device}
    return [history, list(model.parameters())]


FEW_GRPO_RUNS = ["minibatches", "top-k, top-p and entropy", "adapters"]


@pytest.mark.parametrize("name", few_of(GRPO_RUNS, FEW_GRPO_RUNS))
def test_grpo_learns_the_same(name):
    """Catches rewards, advantages or masks that stay on the CPU, and any number that depends on the device."""
    model, settings, options = GRPO_RUNS[name]
    config = replace(BASE, **settings)
    here, there = on_both(lambda device: trained_with_grpo(MODELS[model], device, config, **options))
    assert equal(here, there)
    assert here[0][0]["grad_norm"] > 0


def test_an_update_in_pieces_learns_the_same(monkeypatch):
    monkeypatch.setattr(piece_size, "LOGITS_AT_ONCE", 1)
    here, there = on_both(lambda device: trained_with_grpo(tiny_llama, device, replace(BASE, steps=1, beta=0.1)))
    assert equal(here, there)


def test_a_run_goes_on_from_its_checkpoint_on_the_device(tmp_path):
    """Catches optimiser states that come back to another device than the parameters."""
    config = replace(BASE, checkpoint_every=1)

    def run(device):
        path = tmp_path / f"{device.type}.pt"
        trained_with_grpo(tiny_llama, device, replace(config, steps=1), checkpoint_path=path)
        return trained_with_grpo(tiny_llama, device, config, checkpoint_path=path)

    here, there = on_both(run)
    assert equal(here, there)
    assert equal(here, on_the_cpu(lambda device: trained_with_grpo(tiny_llama, device, config)))


PPO_BASE = ppo.PPOConfig(steps=1, prompts_per_step=4, max_new_tokens=4, log_every=0)
PPO_RUNS = {
    "KL in the loss": ("llama", {}, None),
    "KL in the reward": ("gpt2", {"kl_in": "reward", "entropy_coef": 0.01}, None),
    "constrained": ("llama", {"num_generations": 2, "minibatches": 1}, TRIE),
}


@pytest.mark.parametrize("name", few_of(PPO_RUNS, ["KL in the reward"]))
def test_ppo_learns_the_same(name):
    """Catches a value head that stays on the CPU when the transformer moves."""
    model, settings, constraint = PPO_RUNS[name]
    config = replace(PPO_BASE, **settings)

    def run(device):
        policy = MODELS[model]().eval().to(device)
        reference = frozen_copy(policy)
        torch.manual_seed(0)
        policy = ActorCritic(policy)
        history = ppo.train(policy, reference, TOKENIZER, ROWS, reward, config, constraint=constraint, progress=False)
        return [history, list(policy.parameters())]

    assert equal(*on_both(run))


def test_rloo_and_supervised_training_learn_the_same():
    settings = {"steps": 2, "prompts_per_step": 4, "log_every": 0}

    def run(device):
        model = tiny_llama().eval().to(device)
        config = rloo.RLOOConfig(**settings, num_generations=4, max_new_tokens=4, beta=0.1)
        history = rloo.train(model, TOKENIZER, ROWS, reward, config, reference=frozen_copy(model), progress=False)
        documents = [row | {"completion": row["answer"]} for row in ROWS]
        config = training.TrainingConfig(**settings)
        history += supervised.train(model, TOKENIZER, documents, config, progress=False)
        return [history, list(model.parameters())]

    assert equal(*on_both(run))


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_an_evaluation_measures_the_same(make):
    def run(device):
        model = make().eval().to(device)
        sampled = evaluate(
            model, TOKENIZER, ROWS, reward, max_new_tokens=4, temperature=1.0, num_generations=3, batch_size=2
        )
        greedy = evaluate(model, TOKENIZER, ROWS, reward, max_new_tokens=4, constraint=TRIE)
        return [sampled, sampled.mean, sampled.per_prompt, greedy]

    assert equal(*on_both(run))


def test_rewards_from_a_model_are_the_same():
    """Catches texts that are encoded on the CPU for a judge on the GPU."""
    completions = ["ab", "c", "", "abcd", "i"]

    def run(device):
        model = tiny_llama().eval().to(device)
        similarity = rewards.semantic_similarity(rewards.text_embedder(model, TOKENIZER))
        judge = rewards.model_as_judge(model, TOKENIZER, "{prompt}{completion}", yes="a", no="b")
        answers = [[row["answer"], "fg"] for row in ROWS]
        return [similarity(PROMPTS, completions, answers=answers), judge(PROMPTS, completions)]

    assert equal(*on_both(run))


# The same comparisons with mistakes in the code that they are about.


def test_numbers_of_the_devices_own_generator_would_be_seen(monkeypatch):
    def drawn_there(seed, step, places, num_generations, length):
        generator = torch.Generator(DEVICE).manual_seed(seed)
        return torch.rand(len(places) * num_generations, length, generator=generator, device=DEVICE)

    def run(device):
        if device == DEVICE:
            monkeypatch.setattr(rollout, "uniforms", drawn_there)
        return sample(tiny_llama().eval().to(device), TOKENIZER, PROMPTS, 4, Sampling(6), seed=3)

    assert not equal(*on_both(run))


def test_a_constraint_left_on_the_cpu_would_be_seen(monkeypatch):
    monkeypatch.setattr(AnswerTrie, "to", lambda self, device: self)

    def run(device):
        return sample(tiny_llama().eval().to(device), TOKENIZER, PROMPTS, 2, Sampling(4), constraint=TRIE)

    with pytest.raises(RuntimeError, match="same device"):
        on_both(run)
