"""Right ways to evaluate; `sample` is what a notebook imports."""

import torch

from shared.engine.sampling import Sampling
from shared.rollout import sample
from shared.tasks.matching import exact_match

ORACLE = None
tokenizer = None


def by_rollout(model, rows, temperature=0.0, num_generations=1):
    questions, right = zip(*((row["prompt"], row["answer"]) for row in rows))
    rollout = sample(model, tokenizer, questions, num_generations, Sampling(8, temperature), seed=0)
    rewards = exact_match(rollout.repeated(questions), rollout.completions, rollout.repeated(right))
    return rollout.completions, torch.tensor(rewards)


def prompt_by_prompt(model, rows, temperature=0.0, num_generations=1):
    completions, rewards = [], []
    for row in rows:
        said = sample(model, tokenizer, [row["prompt"]], num_generations, Sampling(8, temperature=temperature))
        completions += said.completions
        rewards += exact_match([""] * num_generations, said.completions, [row["answer"]] * num_generations)
    return completions, torch.tensor(rewards)


RIGHT = [by_rollout, prompt_by_prompt]
