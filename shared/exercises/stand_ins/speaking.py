"""A model that says what it was told to, and a `sample` that asks it: for functions that sample in a notebook.

Such a function finds `sample`, and what else a notebook's earlier cells made, under names of its notebook. While it is
judged, others stand in for them.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import FunctionType

import torch

from shared.engine.sampling import Sampling
from shared.exercises.drawing import Draw
from shared.exercises.exercise import is_reference
from shared.exercises.results import NotAResult, clipped
from shared.exercises.stand_ins.tokens import TOKENIZER
from shared.rollout_record import Rollout


@dataclass(frozen=True, eq=False)
class Speaker:
    """A stand-in for a model. sure: what it says to a prompt when greedy; unsure: by chance, one after the other.

    At another temperature than 1 it begins at another place, so that the temperature shows in what it says.
    """

    sure: dict[str, str]
    unsure: dict[str, list[str]]
    device: torch.device = torch.device("cpu")

    def says(self, prompt: str, temperature: float, count: int) -> list[str]:
        if prompt not in self.unsure:
            raise NotAResult(f"it samples the prompt {clipped(repr(prompt), 80)}, which no row has: take it as it is.")
        said = self.unsure[prompt]
        if temperature == 0:
            return [self.sure.get(prompt, said[-1])] * count
        first = round(10 * temperature) - 10
        return [said[(first + place) % len(said)] for place in range(count)]

    def eval(self) -> "Speaker":
        return self

    def train(self, mode: bool = True) -> "Speaker":
        return self


def speak(model, tokenizer, prompts, num_generations: int, sampling: Sampling = Sampling(), **others) -> Rollout:
    """In the place of `shared.rollout.sample`. Settings that a speaker does not show are held against the notebook's."""
    if not isinstance(model, Speaker):
        raise NotAResult("its `sample` does not get the model that the function was given.")
    others = replace(sampling, temperature=1.0)
    if others != SETTINGS["SAMPLING"]:
        raise NotAResult(
            f"it samples with {others}, the temperature aside. The notebook's longest completion is `MAX_NEW_TOKENS`, and "
            "nothing else cuts what is drawn."
        )
    completions = []
    for prompt in prompts:
        completions += model.says(prompt, sampling.temperature, num_generations)
    with model.device:
        return rollout_of(list(prompts), completions, num_generations, sampling)


def stays_behind(model: Speaker, give: Callable[[Speaker], torch.Tensor]) -> bool:
    """True where what is given of a model is not on its device.

    It is tried with a device that holds no numbers: an error of it tells nothing of the function.
    """
    with suppress(Exception):
        return give(replace(model, device=torch.device("meta"))).device.type != "meta"
    return False


def rollout_of(
    prompts: list[str], completions: list[str], num_generations: int, sampling: Sampling = Sampling()
) -> Rollout:
    """A rollout of these texts; each is one token, its place among all."""
    N, B = len(prompts), len(completions)
    one_each = torch.ones(B, 1, dtype=torch.long)
    return Rollout(
        prompts=prompts,
        completions=completions,
        num_generations=num_generations,
        prompt_ids=torch.arange(N)[:, None],
        prompt_mask=torch.ones(N, 1, dtype=torch.long),
        completion_ids=torch.arange(B)[:, None],
        completion_mask=one_each,
        old_logps=-torch.ones(B, 1),
        prompt_lengths=torch.ones(N, dtype=torch.long),
        lengths=torch.ones(B, dtype=torch.long),
        truncated=torch.zeros(B, dtype=torch.bool),
        sampling=sampling,
    )


SAMPLERS = ("shared.rollout", "shared.evaluate")  # the library's modules in which a function may find `sample`
MOST = 11  # new tokens: no number that anybody writes down
SETTINGS = {"sample": speak, "tokenizer": TOKENIZER, "MAX_NEW_TOKENS": MOST, "SAMPLING": Sampling(MOST)}


@contextmanager
def standing_in(function: Callable, **others) -> Iterator[None]:
    """A block in which a notebook's function finds SETTINGS, and these others, under the names of its notebook.

    The library's own functions, which it may call, find `speak` as well. A box has none of their modules.
    """
    if is_reference(function) or not isinstance(function, FunctionType):
        yield
        return
    places = [(function.__globals__, SETTINGS | others)]
    places += [(vars(sys.modules[name]), {"sample": speak}) for name in SAMPLERS if name in sys.modules]
    before = [{name: variables[name] for name in names if name in variables} for variables, names in places]
    for variables, names in places:
        variables.update(names)
        for name, other in names.items():
            if isinstance(other, FunctionType):
                other.__qualname__ = name  # as errors about its arguments name it
    try:
        yield
    finally:
        for (variables, names), known in zip(places, before):
            for name in names:
                del variables[name]
            variables.update(known)


def names(count: int) -> list[str]:
    """So many names of prompts: a, B, c, ..., a1, B1."""
    letters = "aBcDeFgHiJkLmNoP"
    return [f"{letters[place % 16]}{place // 16 or ''}" for place in range(count)]


def drawn_speaker(draw: Draw, prompts: list[str], texts: list[str]) -> Speaker:
    """Says some of the texts; to each prompt others."""
    return Speaker({p: draw.choice(texts) for p in prompts}, {p: draw.some(texts, 4) for p in prompts})
