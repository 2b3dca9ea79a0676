"""Checks that a student calls on the student's own function, right under the exercise.

    check.group_advantages(group_advantages)

Each prints one verdict and never raises; `shared/exercises/judge.py` tells how the verdict comes about.
Here are the exercises: what is the reference, on which probes are the two compared, which mistakes are known.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from shared import advantages, losses
from shared import kl as kl_module
from shared.engine.sampling import Sampling
from shared.exercises.catalogue import hand_type as hand_type_exercise
from shared.exercises.catalogue import kl as kl_exercise
from shared.exercises.catalogue import loss as loss_exercise
from shared.exercises.exercise import Exercise as DeclaredExercise
from shared.exercises.judge import Exercise, Probe
from shared.exercises.judge import run as run_probes
from shared.exercises.mistakes import advantages as advantage_mistakes
from shared.exercises.mistakes import first_word as first_word_mistakes
from shared.exercises.mistakes import gae as gae_mistakes
from shared.exercises.mistakes import grpo_step as step_mistakes
from shared.exercises.mistakes import hand_type as hand_type_mistakes
from shared.exercises.mistakes import kl as kl_mistakes
from shared.exercises.mistakes import logps as logps_mistakes
from shared.exercises.mistakes import loss as loss_mistakes
from shared.exercises.mistakes import reward as reward_mistakes
from shared.exercises.mistakes import value_loss as value_mistakes
from shared.exercises.process import verdict_on
from shared.exercises.record import show
from shared.logps import completion_logps as scored
from shared.rollout import Rollout
from shared.tasks import analogies, poker
from shared.tasks.matching import exact_match


def _advantage_probes() -> list[Probe]:
    return [
        Probe((torch.tensor([1.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0]), 4)),
        Probe((torch.tensor([2.0, 1.0, -1.0, 5.0, 5.0, 5.0]), 3)),
        Probe((torch.tensor([1.0, 0.0, 3.0, 1.0]), 2)),
        Probe((torch.tensor([0.1, 0.1, 0.1, 0.1, 0.7, 0.1, 0.4, 0.4]), 4)),
    ]


GROUP_ADVANTAGES = Exercise(
    "group advantages",
    lambda rewards, num_generations: advantages.group_advantages(rewards, num_generations)[0],
    _advantage_probes,
    advantage_mistakes.MISTAKES,
    tolerance=5e-3,  # any small number added to the standard deviation will do
)


def _kl_probes() -> list[Probe]:
    logps = torch.tensor([[-1.0, -2.0, -0.5], [-0.1, -3.0, -1.5]])
    ref_logps = torch.tensor([[-1.5, -1.0, -0.5], [-0.6, -2.0, -4.0]])
    return [Probe((logps, ref_logps), gradient_of=0), Probe((logps, logps.clone()), gradient_of=0)]


KL = Exercise(
    "per-token KL", lambda logps, ref: kl_module.per_token_kl(logps, ref, "k3"), _kl_probes, kl_mistakes.MISTAKES
)


def _loss_probes() -> list[Probe]:
    generator = torch.Generator().manual_seed(0)

    def probe(lengths: list[int], spread: float, beta: float) -> Probe:
        B = C = len(lengths)  # as many tokens as rows, so that advantages along the wrong axis run
        old_logps = -2 * torch.rand(B, C, generator=generator) - 0.1
        logps = old_logps + spread * torch.randn(B, C, generator=generator)
        ref_logps = old_logps + 0.4 * torch.randn(B, C, generator=generator)
        advantages = torch.tensor([1.2, -0.7, 0.4, -0.9])[:B]
        mask = (torch.arange(C) < torch.tensor(lengths)[:, None]).long()
        return Probe((logps, old_logps, advantages, mask, ref_logps, beta, 0.2), gradient_of=0)

    return [probe([4, 2, 3, 1], 0.0, 0.04), probe([4, 2, 3, 1], 0.6, 0.04), probe([1, 4, 2, 3], 0.6, 0.0)]


def _reference_loss(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return losses.grpo_loss(logps, old_logps, advantages, completion_mask, ref_logps, beta=beta, epsilon=epsilon)[0]


LOSS = Exercise("GRPO loss", _reference_loss, _loss_probes, loss_mistakes.MISTAKES)


@lru_cache
def _tiny_model(seed: int = 0) -> GPT2LMHeadModel:
    """A random model with learned positions, in which every slip with padding shows."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = GPT2Config(
            vocab_size=16,
            n_positions=32,
            n_embd=16,
            n_layer=2,
            n_head=2,
            initializer_range=0.5,
            bos_token_id=None,
            eos_token_id=1,
            pad_token_id=1,
        )
        return GPT2LMHeadModel(config).eval()


def _logps_probes() -> list[Probe]:
    prompt_ids = torch.tensor([[1, 1, 5, 6, 7], [2, 3, 4, 5, 6], [1, 9, 8, 9, 3]])
    prompt_mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 1, 1, 1, 1]])
    completion_ids = torch.tensor([[10, 11, 1, 1], [12, 3, 5, 1], [4, 1, 1, 1]])  # EOS is 1, and so is the padding
    completion_mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 0, 0]])
    arguments = (_tiny_model(), prompt_ids, prompt_mask, completion_ids, completion_mask)
    return [Probe(arguments, gradient_of=0, relevant=completion_mask.float())]


def _reference_logps(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    attention_mask = torch.cat([prompt_mask, completion_mask], dim=1)
    logits = model(
        input_ids=torch.cat([prompt_ids, completion_ids], dim=1),
        attention_mask=attention_mask,
        position_ids=(attention_mask.cumsum(dim=1) - 1).clamp(min=0),
    ).logits[:, prompt_ids.size(1) - 1 : -1]
    return logits.log_softmax(-1).gather(-1, completion_ids[..., None])[..., 0] * completion_mask


COMPLETION_LOGPS = Exercise(
    "completion log-probabilities", _reference_logps, _logps_probes, logps_mistakes.MISTAKES, 1e-3
)


def _step_probes() -> list[Probe]:
    G = 2
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0]])
    rollout = Rollout(
        prompts=["a", "b", "c"],
        completions=["d", "e", "f", "g", "h", "i"],
        num_generations=G,
        prompt_ids=torch.tensor([[1, 1, 5, 6, 7], [2, 3, 4, 5, 6], [1, 9, 8, 9, 3]]),
        prompt_mask=torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 1, 1, 1, 1]]),
        completion_ids=torch.tensor(
            [[10, 11, 1, 1], [12, 3, 5, 1], [1, 1, 1, 1], [4, 1, 1, 1], [2, 2, 7, 9], [13, 6, 1, 1]]
        ),
        completion_mask=mask,
        old_logps=torch.zeros(mask.shape),
        prompt_lengths=torch.tensor([3, 5, 4]),
        lengths=mask.sum(dim=1),
        truncated=torch.zeros(len(mask), dtype=torch.bool),
        sampling=Sampling(4),
    )
    with torch.no_grad():
        now = scored(_tiny_model(), rollout)[0]
    # The policy has moved a little since it sampled, for some tokens beyond the clipping range.
    moved = 0.3 * torch.randn(mask.shape, generator=torch.Generator().manual_seed(0)) * mask
    rollout = replace(rollout, old_logps=now + moved)
    rewards = torch.tensor([1.0, 0.0, 0.5, 0.5, 0.0, 2.0])
    return [
        Probe((_tiny_model(), _tiny_model(seed=1), rollout, rewards, beta, 0.2), gradient_of=0) for beta in (0.0, 0.1)
    ]


def _reference_step(model, reference, rollout, rewards, beta, epsilon):
    logps, _ = scored(model, rollout)
    with torch.no_grad():
        ref_logps, _ = scored(reference, rollout)
    group = advantages.group_advantages(rewards, rollout.num_generations)[0]
    mask = rollout.completion_mask
    return losses.grpo_loss(logps, rollout.old_logps, group, mask, ref_logps, beta=beta, epsilon=epsilon)[0]


GRPO_STEP = Exercise("GRPO step", _reference_step, _step_probes, step_mistakes.MISTAKES, 1e-3)


def _reward_probes() -> list[Probe]:
    cases = [
        (" 3", "3"),
        ("3", "3"),
        (" 3\n", "3"),
        (" 4", "3"),
        (" 13", "3"),
        (" 30", "3"),
        (" 3 or 4", "3"),
        ("", "3"),
        (" three", "3"),
        (" it is 3", "3"),
        (" not 4 but 3", "3"),
        (" well, let me see.", "10"),
        (" 1", "10"),
        (" 10", "10"),
        (" 0", "0"),
    ]
    prompts = ["Count the dots: . * 3\nDots:"] * len(cases)
    return [Probe((prompts, [text for text, _ in cases], [answer for _, answer in cases]))]


REWARD = Exercise(
    "reward",
    lambda prompts, responses, answers: exact_match(prompts, responses, answers),
    _reward_probes,
    reward_mistakes.MISTAKES,
)


def _first_word_probes() -> list[Probe]:
    puppy = ["puppy"]
    sad = ["sad", "unhappy"]
    cases = [
        (" puppy", puppy),
        ("puppy", puppy),
        (" Puppy", puppy),
        (" puppy.", puppy),
        (" kitten", puppy),
        ("", puppy),
        (" puppy, of course", puppy),
        (" kitten or puppy", puppy),
        (" puppyish", puppy),
        (" pup", puppy),
        (" dog", puppy),
        (" unhappy", sad),
        (" sad", sad),
        (" happy", sad),
        (" unhappy and so on", sad),
        ("\n sad", sad),
        (" not sad", sad),
    ]
    prompts = ["a puppy , a sad one : cat is to kitten as dog is to"] * len(cases)
    return [Probe((prompts, [text for text, _ in cases], [accepted for _, accepted in cases]))]


FIRST_WORD = Exercise(
    "first-word reward",
    lambda prompts, responses, answers: analogies.reward(prompts, responses, answers),
    _first_word_probes,
    first_word_mistakes.MISTAKES,
)


def _hand_probes() -> list[Probe]:
    hands = """A♠ K♥ 7♦ 7♣ 2♠ | A♠ K♥ 9♦ 7♣ 2♠ | 9♠ 9♥ 7♦ 7♣ 2♠ | 5♠ 5♥ 5♦ 7♣ 2♠ | 5♠ 5♥ 5♦ 2♣ 2♠ | 8♠ 8♥ 8♦ 8♣ 2♠ |
        A♠ K♠ 9♠ 7♠ 2♠ | A♠ K♠ 9♠ 7♠ 2♥ | 6♠ 9♥ 7♦ T♣ 8♠ | A♠ 2♥ 3♦ 4♣ 5♠ | K♠ T♥ A♦ J♣ Q♠ | Q♠ K♥ A♦ 2♣ 3♠ |
        6♠ 7♥ 7♦ 8♣ 9♠ | 5♣ 6♣ 7♣ 8♣ 9♣ | 5♥ 4♥ 3♥ 2♥ A♥ | 9♠ 8♥ 7♦ 6♣ 5♠"""
    return [Probe((hand.split(),)) for hand in hands.split("|")]


HAND_TYPE = Exercise("poker hand", poker.hand_type, _hand_probes, hand_type_mistakes.MISTAKES)


def _gae_probes() -> list[Probe]:
    generator = torch.Generator().manual_seed(1)
    rewards = torch.rand(3, 4, generator=generator)
    values = torch.rand(3, 4, generator=generator)
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]])
    return [Probe((rewards, values, mask, lam), relevant=mask.float()) for lam in (0.7, 0.95)]


GAE = Exercise(
    "generalised advantages", lambda *arguments: advantages.gae(*arguments)[0], _gae_probes, gae_mistakes.MISTAKES
)


def _value_probes() -> list[Probe]:
    values = torch.tensor([[0.7, 0.9, 0.5], [1.4, -0.3, 9.0]])
    old_values = torch.tensor([[0.1, 0.3, 0.5], [0.6, 0.4, 0.0]])
    returns = torch.tensor([[0.6, 0.2, 1.0], [1.0, 0.5, 0.0]])
    return [Probe((values, old_values, returns, torch.tensor([[1, 1, 1], [1, 1, 0]]), 0.2), gradient_of=0)]


VALUE_LOSS = Exercise(
    "clipped value loss",
    lambda *arguments: losses.clipped_value_loss(*arguments)[0],
    _value_probes,
    value_mistakes.MISTAKES,
)

EXERCISES = (GROUP_ADVANTAGES, KL, LOSS, COMPLETION_LOGPS, GRPO_STEP, REWARD, FIRST_WORD, HAND_TYPE, GAE, VALUE_LOSS)


def run(exercise: DeclaredExercise, function: Callable) -> None:
    """Judge a function and show the verdict."""
    show(verdict_on(exercise, function))


def gae(function: Callable) -> None:
    """Check `f(rewards, values, completion_mask, lam) -> advantages`, (B, C) each."""
    run_probes(GAE, function)


def value_loss(function: Callable) -> None:
    """Check `f(values, old_values, returns, completion_mask, epsilon) -> loss`, (B, C) each but epsilon."""
    run_probes(VALUE_LOSS, function)


def group_advantages(function: Callable) -> None:
    """Check `f(rewards (B,), num_generations) -> advantages (B,)`."""
    run_probes(GROUP_ADVANTAGES, function)


def kl(function: Callable) -> None:
    """Check `f(logps (B, C), ref_logps (B, C)) -> k3 (B, C)`."""
    run(kl_exercise.EXERCISE, function)


def loss(function: Callable) -> None:
    """Check `f(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon) -> loss`."""
    run(loss_exercise.EXERCISE, function)


def completion_logps(function: Callable) -> None:
    """Check `f(model, prompt_ids, prompt_mask, completion_ids, completion_mask) -> logps (B, C)`, ids (B, P) and (B, C)."""
    run_probes(COMPLETION_LOGPS, function)


def grpo_step(function: Callable) -> None:
    """Check `f(model, reference, rollout, rewards (B,), beta, epsilon) -> loss`, put together from the parts above."""
    run_probes(GRPO_STEP, function)


def reward(function: Callable) -> None:
    """Check `f(prompts, responses, answers) -> list of floats`: 1.0 for the number alone on the first line, else 0.0."""
    run_probes(REWARD, function)


def first_word(function: Callable) -> None:
    """Check `f(prompts, responses, answers) -> list of floats`: 1.0 where the first word is one of the row's answers."""
    run_probes(FIRST_WORD, function)


def hand_type(function: Callable) -> None:
    """Check `f(cards) -> type`: five cards such as "T♥" in, one of eight labels or "straight flush" out."""
    run(hand_type_exercise.EXERCISE, function)
