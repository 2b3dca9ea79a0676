"""Right ways to compare the first line of a response."""

import re

import numpy as np
import torch

from shared.tasks.matching import exact_match


def ORACLE(prompts, responses, answers):
    return exact_match(prompts, responses, answers)


def split_at_line_ends(prompts, responses, answers):
    return [1.0 if (r.strip().split("\n")[0].strip() == str(a)) else 0.0 for r, a in zip(responses, answers)]


def as_a_tensor(prompts, responses, answers):
    return torch.tensor(split_at_line_ends(prompts, responses, answers))


def as_an_array(prompts, responses, answers):
    return np.array(split_at_line_ends(prompts, responses, answers))


def partitioned(prompts, responses, answers):
    rewards = []
    for response, answer in zip(responses, answers):
        first, _, _ = response.lstrip().partition("\n")
        if first.strip() == answer:
            rewards.append(1.0)
        else:
            rewards.append(0.0)
    return rewards


def by_pattern(prompts, responses, answers):
    return [
        float(re.match(rf"\s*{re.escape(answer)}[^\S\n]*(\n|\Z)", response) is not None)
        for response, answer in zip(responses, answers)
    ]


def with_index(prompts, responses, answers):
    rewards = [0.0] * len(responses)
    for i in range(len(responses)):
        lines = [line.strip() for line in responses[i].split("\n") if line.strip()]
        if lines and lines[0] == answers[i]:
            rewards[i] = 1.0
    return rewards


def mapped(prompts, responses, answers):
    def one(response, answer):
        return float(next(iter(response.strip().splitlines()), "").strip() == answer)

    return list(map(one, responses, answers))


def as_a_tuple(prompts, responses, answers):
    return tuple(mapped(prompts, responses, answers))


RIGHT = [
    split_at_line_ends,
    as_a_tensor,
    as_an_array,
    partitioned,
    by_pattern,
    with_index,
    mapped,
    as_a_tuple,
]
EQUIVALENT = {
    "matches: return [line == answer for line, answer in zip(wanted, lines)]": "two texts are equal in any order",
}
