"""A training of any algorithm whose rollouts and gradients are kept, to be compared with that of several processes."""

from unittest import mock

import pytest
import torch

from shared import experience, training, updates
from shared.constrain import answer_trie
from shared.critic import ActorCritic
from shared.distill import Distillation, DistillConfig
from shared.dpo import DPO
from shared.engine.processes import ALONE
from shared.grpo import GRPO, GRPOConfig
from shared.models import add_lora
from shared.ppo import PPO, PPOConfig
from shared.rloo import RLOO, RLOOConfig
from shared.supervised import Supervised
from tests.fakes import letter_tokenizer, tiny_gpt2, tiny_llama
from tests.several import in_processes

PROMPTS = ("abc", "d", "efghijab", "ab", "hij", "dd", "cab", "f")
ROWS = [
    {
        "prompt": prompt,
        "completion": prompt[::-1] + "a",
        "chosen": prompt[::-1],
        "rejected": "ba" + prompt,
        "teacher_prompt": "j" + prompt,
    }
    for prompt in PROMPTS
]
SAMPLED = dict(steps=3, num_generations=3, max_new_tokens=5, log_every=0, learning_rate=1e-3, weight_decay=0.1)
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
# transformers computes Llama's norms in float32 whatever the model is, where a difference of 1e-16 may be rounded to one
# of 1e-7: what is to agree to 1e-10 is another model.
MODELS = {torch.float32: tiny_llama, torch.float64: tiny_gpt2}
KINDS = {
    "grpo": (GRPO, GRPOConfig),
    "rloo": (RLOO, RLOOConfig),
    "ppo": (PPO, PPOConfig),
    "distill": (Distillation, DistillConfig),
}


def uneven(prompts, completions, **columns):
    """Rewards that differ between and within groups; of one prompt all are equal."""
    return [1.0 if p == "d" else len(c) + 2.0 * c.count("a") + 0.5 * c.count("d") for p, c in zip(prompts, completions)]


def algorithm_of(kind, config, dtype, lora=False, constrained=False):
    tokenizer = letter_tokenizer()
    make = MODELS[dtype]
    model = make(0).eval().to(dtype)
    if lora:
        torch.manual_seed(1)
        model = add_lora(model, init_lora_weights=False, r=2, lora_alpha=2).to(dtype)
    if kind == "supervised":
        return Supervised(model, tokenizer)
    if kind == "dpo":
        return DPO(model, tokenizer, config, reference=make(1).eval().to(dtype))
    trained = model
    if kind == "ppo":
        trained = ActorCritic(model).to(dtype)
        torch.nn.init.normal_(trained.value_head[-1].weight, generator=torch.Generator().manual_seed(2))
    reference = make(1).eval().to(dtype) if config.needs_reference and not lora else None
    trie = answer_trie(tokenizer, ["a", "ab", "b", "ccc", "aaaa"]) if constrained else None
    return KINDS[kind][0](trained, tokenizer, uneven, config, reference=reference, constraint=trie)


class Watched:
    """A training whose gradients are kept, and whose rollouts are kept or given."""

    def __init__(self, algorithm, config, rollouts=None):
        self.algorithm = algorithm
        self.config = config
        self.given = rollouts
        self.rollouts = []
        self.gradients = []

    def sample(self, model, tokenizer, prompts, *args, step, places, **options):
        if self.given is None:
            self.rollouts.append(
                self.really_sample(model, tokenizer, prompts, *args, step=step, places=places, **options)
            )
            return self.rollouts[-1]
        part = self.given[step].take(places)
        assert part.prompts == prompts
        return part

    def guarded_step(self, model, *args):
        gradients = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        self.gradients.append(torch.cat(gradients).double())
        return self.really_step(model, *args)

    def train(self, processes):
        self.really_sample = experience.sample
        self.really_step = updates.guarded_step
        with (
            mock.patch.object(experience, "sample", self.sample),
            mock.patch.object(updates, "guarded_step", self.guarded_step),
        ):
            history = training.train(self.algorithm, ROWS, self.config, progress=False, processes=processes)
        parameters = torch.cat([p.detach().flatten() for p in self.algorithm.model.parameters()])
        return history, self.gradients, parameters


def compare(kind, config, count, dtype, **build):
    """Train in one process and in `count`; assert that nobody can tell which was which."""
    with_one = Watched(algorithm_of(kind, config, dtype, **build), config)
    history, gradients, parameters = with_one.train(ALONE)
    rollouts = with_one.rollouts or None

    def train_here(processes):
        return Watched(algorithm_of(kind, config, dtype, **build), config, rollouts).train(processes)

    results = in_processes(count, train_here)
    for there, grads, params in results:
        assert torch.equal(params, results[0][2])  # bit for bit among themselves
        assert len(grads) == len(gradients)
        assert sum(gradient.norm() > 0 for gradient in gradients) > len(gradients) / 2  # a minibatch may be all flat
        for update, (ours, one) in enumerate(zip(grads, gradients)):
            # Adam moves a weight by the learning rate, whichever way its gradient points. Where that is 0 rounding alone
            # points, so that from the first update on the gradients are those of weights that differ.
            assert (ours - one).norm() <= TOLERANCE[dtype] * (100 if update else 1) * one.norm()
        assert (params - parameters).norm() <= 10 * TOLERANCE[dtype] * parameters.norm()
        for record, expected in zip(there, history):
            assert record.keys() == expected.keys()
            told = {name: value for name, value in record.items() if name != "step_time"}
            assert told == pytest.approx({name: expected[name] for name in told}, rel=1e-4, abs=1e-5)


def grpo(**settings):
    return "grpo", GRPOConfig(**SAMPLED | {"prompts_per_step": 7} | settings)
