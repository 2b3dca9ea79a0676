"""The cases of a GRPO step: two tiny models, a rollout of one of them, and rewards."""

from dataclasses import replace

import torch

from shared.engine.sampling import Sampling
from shared.exercises.catalogue.common import tiny
from shared.exercises.catalogue.dots.step_loss.steps import SCORED
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case
from shared.rollout_record import Rollout


def draw(draw: Draw) -> Case:
    N, G = draw.size(3), draw.choice([2, 3, 4])
    seeds = draw.sample(range(3), 2)
    rollout = rollout_of(draw, N, G, seeds[0])
    return {
        "model": tiny.tiny_model(seeds[0]),
        "reference": tiny.tiny_model(seeds[1]),
        "rollout": rollout,
        "rewards": torch.tensor(draw.some(draw.choice([(0.0, 0.5, 1.0, 2.0, -1.0)] * 3 + [(1.0,)]), N * G)),
        "beta": draw.choice([0.0, 0.02, 0.1, 0.5]),
        "epsilon": draw.choice([0.1, 0.2, 0.3]),
    }


def rollout_of(draw: Draw, N: int, G: int, seed: int) -> Rollout:
    """A rollout of N prompts by a policy near the tiny model of this seed: some tokens have left the clipping range."""
    prompt_ids, prompt_mask = tiny.prompts(draw, N, draw.size(4))
    completion_ids, mask = tiny.completions(draw, N * G, draw.size(4, least=2))
    repeated = (prompt_ids.repeat_interleave(G, dim=0), prompt_mask.repeat_interleave(G, dim=0))
    with torch.no_grad():
        now = SCORED(tiny.tiny_model(seed), *repeated, completion_ids, mask)
    moved = draw.choice([0.1, 0.5]) * draw.numbers(*mask.shape, least=-1, most=1)
    return Rollout(
        prompts=[f"prompt {n}" for n in range(N)],
        completions=[f"completion {b}" for b in range(N * G)],
        num_generations=G,
        prompt_ids=prompt_ids,
        prompt_mask=prompt_mask,
        completion_ids=completion_ids,
        completion_mask=mask,
        old_logps=(now + moved) * mask,
        prompt_lengths=prompt_mask.sum(dim=1),
        lengths=mask.sum(dim=1),
        truncated=torch.zeros(len(mask), dtype=torch.bool),
        sampling=Sampling(mask.size(1)),
    )


def call(function, case: Case):
    """The loss. The function has seen the same rollout with other tokens in it: nothing of them may be kept."""
    ids = case["rollout"].completion_ids
    if case["beta"] > 0:
        ids.copy_(ids.flip(0))
        function(*case.values())
        ids.copy_(ids.flip(0))
    return function(*case.values())


def boundary() -> list[Case]:
    """Three groups of two without KL, and far from 0 with it; a policy that has not moved; groups of equal rewards."""
    case = draw(Draw("boundary")) | {"beta": 0.0, "epsilon": 0.2}
    chance = Draw("three groups of two")
    rollout = rollout_of(chance, 3, 2, 0)
    case |= {"model": tiny.tiny_model(0), "reference": tiny.tiny_model(1), "rollout": rollout}
    case |= {"rewards": torch.tensor([1.0, 0.0, 0.5, 0.5, 0.0, 2.0])}
    with torch.no_grad():
        repeated = (rollout.prompt_ids.repeat_interleave(2, dim=0), rollout.prompt_mask.repeat_interleave(2, dim=0))
        now = SCORED(tiny.tiny_model(0), *repeated, rollout.completion_ids, rollout.completion_mask)
    on_policy = replace(rollout, old_logps=now)
    priced = case | {"beta": 0.3}
    equal = {"rewards": torch.ones(6), "epsilon": 1e6}  # the price is all that is left, and the range has no end
    return [
        case,
        priced | {"rewards": case["rewards"].flip(0) + 9},
        case | {"rollout": on_policy},
        priced | equal,
    ]


def smaller(case: Case) -> list[Case]:
    """One prompt with its completions."""
    rollout, G = case["rollout"], case["rollout"].num_generations
    if len(rollout.prompts) == 1:
        return []
    return [
        case | {"rollout": rollout.take([n]), "rewards": case["rewards"][n * G : (n + 1) * G]}
        for n in range(len(rollout.prompts))
    ]


def valid(case: Case) -> bool:
    """Rewards that are equal or clearly not: any small number may be added to their standard deviation."""
    spread = case["rewards"].view(-1, case["rollout"].num_generations).std(dim=1, correction=0)
    return bool(((spread == 0) | (spread > 0.1)).all())
