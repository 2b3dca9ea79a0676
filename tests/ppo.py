"""The parts that the tests of PPO share: a task, its settings and one step's experience."""

from shared import ppo
from shared.critic import ActorCritic
from shared.models import frozen_copy
from shared.ppo import PPOConfig

ROWS = [{"prompt": "ab"}, {"prompt": "abcab"}, {"prompt": "c"}, {"prompt": "bca"}]
CONFIG = PPOConfig(
    steps=3, prompts_per_step=4, num_generations=4, max_new_tokens=5, minibatches=2, num_iterations=2, log_every=0
)


def count_a(prompts, completions, **columns):
    return [float(c.count("a")) for c in completions]


def experience_of(model, tokenizer, config):
    policy = ActorCritic(model)
    experience = ppo.collect(policy, frozen_copy(model), tokenizer, ROWS, count_a, config)
    return policy, experience
