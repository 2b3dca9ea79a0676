"""Right ways to compare the first line of a completion."""

import numpy as np
import torch

from shared.tasks.matching import exact_match


def ORACLE(prompts, completions, answer, **columns):
    return exact_match(prompts, completions, answer)


def split_at_line_ends(prompts, completions, answer, **columns):
    return [1.0 if (r.strip().split("\n")[0].strip() == str(a)) else 0.0 for r, a in zip(completions, answer)]


def as_a_tensor(prompts, completions, answer, **columns):
    return torch.tensor(split_at_line_ends(prompts, completions, answer))


def as_an_array(prompts, completions, answer, **columns):
    return np.array(split_at_line_ends(prompts, completions, answer))


def mapped(prompts, completions, answer, **columns):
    def one(completion, right):
        return float(next(iter(completion.strip().splitlines()), "").strip() == right)

    return list(map(one, completions, answer))


def as_a_tuple(prompts, completions, answer, **columns):
    return tuple(mapped(prompts, completions, answer))


RIGHT = [as_a_tensor, as_an_array, as_a_tuple]
EQUIVALENT = {
    "matches: return [line == answer for line, answer in zip(wanted, lines)]": "two texts are equal in any order",
}
