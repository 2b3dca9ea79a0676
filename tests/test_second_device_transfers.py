"""The number of waits for the device in a step: after a transfer a GPU stands still until Python has caught up.

Transfers to the host are counted, and for each token copies to the device too.

The figures of today's code are printed by `pytest -s tests/test_second_device_transfers.py`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from unittest import mock

import pytest
import torch

from shared import experience, grpo, ppo, training, updates
from shared.constrain import AnswerTrie, answer_trie
from shared.critic import ActorCritic
from shared.engine import lockstep, piece_size
from shared.experience import RolloutAlgorithm
from shared.models import frozen_copy
from tests.conftest import few_of
from tests.fakes import letter_tokenizer, tiny_gpt2, tiny_llama
from tests.second_device import second_device
from tests.second_device_tensor import DEVICE, SecondDevice
from tests.test_second_device import ROWS, reward

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
TOKENIZER = letter_tokenizer()
SHORT = 4
LONG = 20
LONG_ANSWERS = answer_trie(TOKENIZER, ["abcdefghij" * 2, "abcdefghij" * 2 + "a", "bcdefghija" * 2])
# After five tokens (EOS is one) most completions have ended, and the batch is made smaller.
UNEVEN_ANSWERS = answer_trie(TOKENIZER, ["abcd", "bcde", "cdef", "defg", "efgh", "fghijabcde" * 2, "ghijabcdef" * 2])
SETTINGS = {"prompts_per_step": 4, "num_generations": 4, "beta": 0.1, "log_every": 0}
# At most so many transfers to the host, and copies to the device. In lockstep the host looks at every eighth token.
GOALS = {
    "a token": 1 / 8,
    "a token, to the device": 0,
    "a step otherwise": 5,
    "an update": 2,
    "a piece of an update": 0,
}


@dataclass(frozen=True)
class Case:
    """A model and an algorithm with its settings."""

    make: Callable
    algorithm: str = "grpo"
    kl_in: str = "loss"
    constraint: AnswerTrie | None = None

    def build(self, max_new_tokens: int) -> RolloutAlgorithm:
        model = self.make().eval().to(DEVICE)
        options = {"reference": frozen_copy(model), "constraint": self.constraint}
        settings = SETTINGS | {"max_new_tokens": max_new_tokens, "kl_in": self.kl_in}
        if self.algorithm == "grpo":
            algorithm = grpo.GRPO(model, TOKENIZER, reward, grpo.GRPOConfig(**settings), **options)
        else:
            config = ppo.PPOConfig(**settings, num_iterations=1, minibatches=1)
            algorithm = ppo.PPO(ActorCritic(model), TOKENIZER, reward, config, **options)
        algorithm.verified = True  # a run's first step looks the model over once; that is not counted here
        return algorithm


CASES = {
    "GRPO": Case(tiny_llama),
    "GRPO, KL in the reward": Case(tiny_llama, kl_in="reward"),
    "GRPO, constrained": Case(tiny_llama, constraint=LONG_ANSWERS),
    "GRPO, uneven completions": Case(tiny_llama, constraint=UNEVEN_ANSWERS),
    "GRPO, transformers' pass": Case(tiny_gpt2),
    "PPO": Case(tiny_llama, "ppo"),
    "PPO, transformers' pass": Case(tiny_gpt2, "ppo"),
}
FEW = ["GRPO", "GRPO, uneven completions", "PPO, transformers' pass"]
# With a pass that is not ours transformers looks into the padding mask itself, once or twice in each pass.
GOALS_IN_TRANSFORMERS = {
    "a token": 2,
    "a token, to the device": 4,
    "a step otherwise": 7,
    "an update": 3,
    "a piece of an update": 1,
}


def goals_of(name: str) -> dict[str, int]:
    return GOALS_IN_TRANSFORMERS if "transformers' pass" in name else GOALS


@dataclass
class Counted:
    """Transfers while a function runs, over all its calls: to the host, and to the device."""

    device: SecondDevice
    transfers: int = 0
    arrivals: int = 0

    def wrap(self, function: Callable) -> Callable:
        def counting(*args, **kwargs):
            before = len(self.device.arrivals)
            with self.device.counted() as kinds:
                result = function(*args, **kwargs)
            self.transfers += kinds.total()
            self.arrivals += len(self.device.arrivals) - before
            return result

        return counting


def one_step(case: Case, max_new_tokens: int, in_pieces: bool = False) -> tuple[dict[str, int], Counter]:
    """The transfers of one step with one update, by part (`sampling`, `update`, `rest`) and by the line that asked."""
    with second_device() as device:
        algorithm = case.build(max_new_tokens)
        optimizer = torch.optim.AdamW(algorithm.parameter_groups(algorithm.config), fused=True)
        sampling = Counted(device)
        update = Counted(device)
        before = len(device.transfers)
        with (
            mock.patch.object(experience, "sample", sampling.wrap(experience.sample)),
            mock.patch.object(updates, "update", update.wrap(updates.update)),
            mock.patch.object(piece_size, "LOGITS_AT_ONCE", 1 if in_pieces else piece_size.LOGITS_AT_ONCE),
        ):
            metrics = training.one_step(algorithm, ROWS, algorithm.config, 0, optimizer)
    assert metrics["completions/max_length"] == max_new_tokens, "the sampling loop ended early: nothing to compare"
    lines = Counter(transfer.asked_by for transfer in device.transfers[before:])
    rest = lines.total() - sampling.transfers - update.transfers
    counts = {"sampling": sampling.transfers, "update": update.transfers, "rest": rest}
    return counts | {"sampling, to the device": sampling.arrivals}, lines


@cache
def transfers(name: str) -> tuple[dict[str, float], Counter]:
    """Transfers of each kind that has a goal, by how they grow with tokens and pieces; and the lines that asked."""
    short, lines = one_step(CASES[name], SHORT)
    long, _ = one_step(CASES[name], LONG)
    in_pieces, _ = one_step(CASES[name], SHORT, in_pieces=True)
    a_token = (long["sampling"] - short["sampling"]) / (LONG - SHORT)
    return {
        "a token": a_token,
        "a token, to the device": (long["sampling, to the device"] - short["sampling, to the device"]) / (LONG - SHORT),
        "a step otherwise": short["rest"] + short["sampling"] - SHORT * a_token,
        "an update": short["update"],
        "a piece of an update": (in_pieces["update"] - short["update"]) / (SETTINGS["prompts_per_step"] - 1),
    }, lines


@pytest.mark.parametrize("what", GOALS)
@pytest.mark.parametrize("name", few_of(CASES, FEW))
def test_the_host_waits_no_oftener_than_the_goal(name, what):
    """Catches an `.item()`, a mask as an index or a list made of a tensor that slips into a loop."""
    found, lines = transfers(name)
    print(f"\n{name}: {found[what]:.2g} transfers for {what}; the goal is {goals_of(name)[what]}")
    assert found[what] <= goals_of(name)[what], f"asked for in a step of {SHORT} tokens by {dict(lines)}"


def test_one_more_look_for_each_token_is_counted():
    """Catches counts that stay at 0 whatever the code does: an `.item()` for each token is one more for each token."""
    case = CASES["GRPO"]
    before, _ = one_step(case, SHORT)

    def with_a_look(function):
        def looking(logits, *args):
            logits.sum().item()
            return function(logits, *args)

        return looking

    with mock.patch.object(lockstep, "next_token", with_a_look(lockstep.next_token)):
        after, lines = one_step(case, SHORT)
    assert after == before | {"sampling": before["sampling"] + SHORT}
    assert any(line.startswith("tests/test_second_device_transfers.py") for line in lines)
