"""Checks that a student calls on the student's own function, right under the exercise.

    check.group_advantages(group_advantages)

A check runs the function on probes and compares with the reference in `shared/`. When they differ it looks whether
the function behaves like one of the known wrong ones (`shared/mistakes/`) and says which, why it matters and where to
look. It prints one verdict and never raises. `judge` returns the verdict instead.
"""

import copy
import signal
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from shared import advantages, losses, rewards
from shared import kl as kl_module
from shared.logps import completion_logps as scored
from shared.mistakes import Mistakes
from shared.mistakes import advantages as advantage_mistakes
from shared.mistakes import first_word as first_word_mistakes
from shared.mistakes import gae as gae_mistakes
from shared.mistakes import grpo_step as step_mistakes
from shared.mistakes import hand_type as hand_type_mistakes
from shared.mistakes import kl as kl_mistakes
from shared.mistakes import logps as logps_mistakes
from shared.mistakes import loss as loss_mistakes
from shared.mistakes import reward as reward_mistakes
from shared.mistakes import value_loss as value_mistakes
from shared.rollout import Rollout, Sampling
from shared.tasks import analogies, poker

TIME_LIMIT = 10  # seconds for all probes together


@dataclass(frozen=True)
class Probe:
    """Arguments to call the function with.

    gradient_of: the position of the tensor or model whose gradient is compared as well; None for no gradient.
    relevant: (same shape as the result) where the result matters; None for everywhere.
    """

    arguments: tuple
    gradient_of: int | None = None
    relevant: Tensor | None = None


@dataclass(frozen=True)
class Exercise:
    """What a check needs to know: the reference, the probes, how near is near enough, and the known mistakes."""

    name: str
    reference: Callable
    probes: Callable[[], Sequence[Probe]]
    mistakes: Mistakes
    tolerance: float = 1e-4


class Problem(Exception):
    """Something about a result that can be told without a comparison, as a sentence."""


def run(exercise: Exercise, function: Callable) -> None:
    """Run an exercise's probes through `function` and print the verdict."""
    passed, verdict = judge(exercise, function)
    print(f"{'✓' if passed else '✗'} {exercise.name}: {verdict}")


def judge(exercise: Exercise, function: Callable) -> tuple[bool, str]:
    """Whether the function passes, and the sentence to say about it."""
    probes = exercise.probes()
    expected = [_call(exercise.reference, probe) for probe in probes]
    try:
        with time_limit(TIME_LIMIT):
            found = [_call(function, probe, right) for probe, right in zip(probes, expected)]
    except Problem as problem:
        named = _recognise(exercise, probes, function)
        return False, named or str(problem)
    if _agree(found, expected, exercise.tolerance):
        return True, f"right on {len(probes)} probe{'s' if len(probes) > 1 else ''}."
    named = _recognise(exercise, probes, function)
    return False, named or _difference(probes, found, expected, exercise.tolerance)


@dataclass(frozen=True)
class _Outcome:
    """What a call came to: the value, and the gradient that was asked for (None when there is none).

    A function that returns a text has it in `text`, and the value 0.
    """

    value: Tensor
    gradient: Tensor | None
    text: str | None = None


def _call(function: Callable, probe: Probe, expected: _Outcome | None = None) -> _Outcome:
    """Call with a private copy of the arguments. With `expected`, refuse results of another type or shape."""
    arguments = copy.deepcopy(probe.arguments)
    source = None if probe.gradient_of is None else arguments[probe.gradient_of]
    if isinstance(source, Tensor):
        source.requires_grad_(True)
    try:
        result = function(*arguments)
    except Problem:
        raise
    except NotImplementedError as error:
        raise Problem(f"not filled in yet ({error}).") from error
    except Exception as error:
        raise Problem(_where_it_raised(error)) from error
    if expected is not None:
        _refuse_modified(arguments, probe)
    text = result if isinstance(result, str) and (expected is None or expected.text is not None) else None
    if expected is not None and expected.text is not None and text is None:
        raise Problem(f"it returned {_short(result)}; expected a text such as {expected.text!r}.")
    value = _as_tensor(result) if text is None else torch.zeros(())
    if expected is not None and value.shape != expected.value.shape:
        raise Problem(
            f"it returned the shape {tuple(value.shape)}; expected {tuple(expected.value.shape)}."
        )
    gradient = None
    if source is not None and value.requires_grad:
        gradient = _gradient(value, source, probe.relevant)
    value = value.detach()
    if probe.relevant is not None and value.shape == probe.relevant.shape:
        value = value * probe.relevant
    return _Outcome(value, gradient, text)


def _as_tensor(result) -> Tensor:
    if result is None:
        raise Problem("it returned None. Is the `return` missing?")
    if isinstance(result, tuple):
        raise Problem(f"it returned a tuple of {len(result)} things; return the one result alone.")
    try:
        value = torch.as_tensor(result)
    except (TypeError, ValueError, RuntimeError) as error:
        raise Problem(f"it returned {type(result).__name__} where numbers are expected: {str(result)[:60]!r}.") from error
    return value if value.dtype == torch.float64 else value.float()


def _gradient(value: Tensor, source, relevant: Tensor | None) -> Tensor:
    """The gradient of the weighted sum of the value, all of `source` (a tensor, or a model's parameters) in one row."""
    weights = torch.linspace(0.5, 1.5, value.numel()).view(value.shape)
    if relevant is not None and relevant.shape == value.shape:
        weights = weights * relevant
    wanted = [source] if isinstance(source, Tensor) else list(source.parameters())
    gradients = torch.autograd.grad((value * weights).sum(), wanted, allow_unused=True)
    return torch.cat([torch.zeros_like(w).flatten() if g is None else g.flatten() for g, w in zip(gradients, wanted)])


def _refuse_modified(arguments: tuple, probe: Probe) -> None:
    for position, (now, before) in enumerate(zip(arguments, probe.arguments), 1):
        if not _same(now, before):
            raise Problem(
                f"it changes its argument number {position} in place (an `x -= ...` or `x[...] = ...`). Work on a new "
                "tensor, or what uses the argument afterwards gets something else."
            )


def _same(now, before) -> bool:
    if isinstance(now, torch.nn.Module):
        return True  # a backward pass may leave gradients there
    if is_dataclass(now):
        return all(_same(getattr(now, f.name), getattr(before, f.name)) for f in fields(now))
    return torch.equal(now, before) if isinstance(now, Tensor) else now == before


def _where_it_raised(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__]
    where = f", in line {own[0].lineno} of the cell or file: `{own[0].line}`" if own and own[0].line else ""
    message = str(error).strip().splitlines()[0] if str(error).strip() else "no message"
    return f"it raised {type(error).__name__}: {message}{where}."


def _agree(found: list[_Outcome], expected: list[_Outcome], tolerance: float) -> bool:
    return all(
        f.text == e.text and _near(f.value, e.value, tolerance) and _near(f.gradient, e.gradient, tolerance)
        for f, e in zip(found, expected)
    )


def _near(found: Tensor | None, expected: Tensor | None, tolerance: float) -> bool:
    """Equal up to the tolerance relative to the largest expected value; nan equals nan."""
    if found is None or expected is None:
        return expected is None or bool((expected == 0).all())
    if found.shape != expected.shape:
        return False
    scale = max(1.0, expected.nan_to_num().abs().max().item()) if expected.numel() else 1.0
    return torch.allclose(found.double(), expected.double(), rtol=0, atol=tolerance * scale, equal_nan=True)


def _recognise(exercise: Exercise, probes: Sequence[Probe], function: Callable) -> str | None:
    """The explanation of the first known mistake that behaves like the function on every probe, None for none."""
    found = [_attempt(function, probe) for probe in probes]
    if not any(found):
        return None
    for mistake in exercise.mistakes:
        wrong = [_attempt(mistake.function, probe) for probe in probes]
        if all(_alike(f, w, exercise.tolerance) for f, w in zip(found, wrong)):
            return mistake.explanation
    return None


def _attempt(function: Callable, probe: Probe) -> _Outcome | None:
    """What the function makes of the probe, None when it makes nothing."""
    try:
        with time_limit(TIME_LIMIT):
            return _call(function, probe)
    except Problem:
        return None


def _alike(one: _Outcome | None, other: _Outcome | None, tolerance: float) -> bool:
    """Whether two calls came to the same; a missing gradient is one of zeros."""
    if one is None or other is None:
        return one is other
    gradients = [o.gradient if o.gradient is not None and o.gradient.any() else torch.zeros(1) for o in (one, other)]
    return one.text == other.text and _near(one.value, other.value, tolerance) and _near(*gradients, tolerance)


def _difference(probes, found, expected, tolerance) -> str:
    """The first probe that differs, in numbers."""
    for number, (probe, f, e) in enumerate(zip(probes, found, expected), 1):
        if f.text != e.text:
            return f"for {_short(probe.arguments)} it says {f.text!r}; expected {e.text!r}."
        if not _near(f.value, e.value, tolerance):
            shown = f" For {_short(probe.arguments)}" if not isinstance(probe.arguments[0], torch.nn.Module) else ""
            return f"probe {number} of {len(probes)} differs.{shown} it gives {_short(f.value)}; expected {_short(e.value)}."
        if not _near(f.gradient, e.gradient, tolerance):
            if f.gradient is None or not f.gradient.any():
                return "the value is right and its gradient is missing: look for `.detach()`, `.item()` or `torch.no_grad()`."
            return "the value is right and its gradient is not: look for a `.detach()` too many or too few."
    return "it differs."


def _short(value, width: int = 160) -> str:
    if isinstance(value, tuple):
        return _clip(", ".join(_short(v, 80) for v in value), width)
    if isinstance(value, Tensor):
        return _clip(str([round(v, 4) for v in value.flatten().tolist()]) if value.ndim else f"{value.item():.4f}", width)
    return _clip(repr(value), width)


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


@contextmanager
def time_limit(seconds: int):
    """Raise Problem inside the block after so long. Only where the system can interrupt: Unix, main thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise Problem(f"it did not return within {seconds} seconds. Is there a loop that never ends?")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- the exercises -------------------------------------------------------------------------------------------------


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


KL = Exercise("per-token KL", lambda logps, ref: kl_module.per_token_kl(logps, ref, "k3"), _kl_probes, kl_mistakes.MISTAKES)


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
            vocab_size=16, n_positions=32, n_embd=16, n_layer=2, n_head=2, initializer_range=0.5,
            bos_token_id=None, eos_token_id=1, pad_token_id=1,
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


COMPLETION_LOGPS = Exercise("completion log-probabilities", _reference_logps, _logps_probes, logps_mistakes.MISTAKES, 1e-3)


def _step_probes() -> list[Probe]:
    G, mask = 2, torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0]])
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
        truncated=torch.zeros(len(mask), dtype=torch.bool),
        sampling=Sampling(4),
    )
    with torch.no_grad():
        now = scored(_tiny_model(), rollout)[0]
    # The policy has moved a little since it sampled, for some tokens beyond the clipping range.
    moved = 0.3 * torch.randn(mask.shape, generator=torch.Generator().manual_seed(0)) * mask
    rollout = replace(rollout, old_logps=now + moved)
    rewards = torch.tensor([1.0, 0.0, 0.5, 0.5, 0.0, 2.0])
    return [Probe((_tiny_model(), _tiny_model(seed=1), rollout, rewards, beta, 0.2), gradient_of=0) for beta in (0.0, 0.1)]


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
        (" 3", "3"), ("3", "3"), (" 3\n", "3"), (" 4", "3"), (" 13", "3"), (" 30", "3"), (" 3 or 4", "3"), ("", "3"),
        (" three", "3"), (" it is 3", "3"), (" not 4 but 3", "3"), (" well, let me see.", "10"), (" 1", "10"),
        (" 10", "10"), (" 0", "0"),
    ]
    prompts = ["Count the dots: . * 3\nDots:"] * len(cases)
    return [Probe((prompts, [text for text, _ in cases], [answer for _, answer in cases]))]


REWARD = Exercise(
    "reward", lambda prompts, responses, answers: rewards.exact_match(prompts, responses, answers), _reward_probes,
    reward_mistakes.MISTAKES,
)


def _first_word_probes() -> list[Probe]:
    puppy, sad = ["puppy"], ["sad", "unhappy"]
    cases = [
        (" puppy", puppy), ("puppy", puppy), (" Puppy", puppy), (" puppy.", puppy), (" kitten", puppy), ("", puppy),
        (" puppy, of course", puppy), (" kitten or puppy", puppy), (" puppyish", puppy), (" pup", puppy), (" dog", puppy),
        (" unhappy", sad), (" sad", sad), (" happy", sad), (" unhappy and so on", sad), ("\n sad", sad), (" not sad", sad),
    ]
    prompts = ["a puppy , a sad one : cat is to kitten as dog is to"] * len(cases)
    return [Probe((prompts, [text for text, _ in cases], [accepted for _, accepted in cases]))]


FIRST_WORD = Exercise(
    "first-word reward", lambda prompts, responses, answers: analogies.reward(prompts, responses, answers),
    _first_word_probes, first_word_mistakes.MISTAKES,
)


def _hand_probes() -> list[Probe]:
    hands = """A♠ K♥ 7♦ 7♣ 2♠ | A♠ K♥ 9♦ 7♣ 2♠ | 9♠ 9♥ 7♦ 7♣ 2♠ | 5♠ 5♥ 5♦ 7♣ 2♠ | 5♠ 5♥ 5♦ 2♣ 2♠ | 8♠ 8♥ 8♦ 8♣ 2♠ |
        A♠ K♠ 9♠ 7♠ 2♠ | A♠ K♠ 9♠ 7♠ 2♥ | 6♠ 9♥ 7♦ T♣ 8♠ | A♠ 2♥ 3♦ 4♣ 5♠ | K♠ T♥ A♦ J♣ Q♠ | Q♠ K♥ A♦ 2♣ 3♠ |
        6♠ 7♥ 7♦ 8♣ 9♠ | 5♣ 6♣ 7♣ 8♣ 9♣ | 5♥ 4♥ 3♥ 2♥ A♥ | 9♠ 8♥ 7♦ 6♣ 5♠"""
    return [Probe((hand.split(),)) for hand in hands.split("|")]


HAND_TYPE = Exercise("poker hand", poker.hand_type, _hand_probes, hand_type_mistakes.MISTAKES)


def _gae_probes() -> list[Probe]:
    generator = torch.Generator().manual_seed(1)
    rewards, values = torch.rand(3, 4, generator=generator), torch.rand(3, 4, generator=generator)
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]])
    return [Probe((rewards, values, mask, lam), relevant=mask.float()) for lam in (0.7, 0.95)]


GAE = Exercise("generalised advantages", lambda *arguments: advantages.gae(*arguments)[0], _gae_probes, gae_mistakes.MISTAKES)


def _value_probes() -> list[Probe]:
    values = torch.tensor([[0.7, 0.9, 0.5], [1.4, -0.3, 9.0]])
    old_values = torch.tensor([[0.1, 0.3, 0.5], [0.6, 0.4, 0.0]])
    returns = torch.tensor([[0.6, 0.2, 1.0], [1.0, 0.5, 0.0]])
    return [Probe((values, old_values, returns, torch.tensor([[1, 1, 1], [1, 1, 0]]), 0.2), gradient_of=0)]


VALUE_LOSS = Exercise(
    "clipped value loss", lambda *arguments: losses.clipped_value_loss(*arguments)[0], _value_probes, value_mistakes.MISTAKES
)

EXERCISES = (GROUP_ADVANTAGES, KL, LOSS, COMPLETION_LOGPS, GRPO_STEP, REWARD, FIRST_WORD, HAND_TYPE, GAE, VALUE_LOSS)


def gae(function: Callable) -> None:
    """Check `f(rewards, values, completion_mask, lam) -> advantages`, (B, C) each."""
    run(GAE, function)


def value_loss(function: Callable) -> None:
    """Check `f(values, old_values, returns, completion_mask, epsilon) -> loss`, (B, C) each but epsilon."""
    run(VALUE_LOSS, function)


def group_advantages(function: Callable) -> None:
    """Check `f(rewards (B,), num_generations) -> advantages (B,)`."""
    run(GROUP_ADVANTAGES, function)


def kl(function: Callable) -> None:
    """Check `f(logps (B, C), ref_logps (B, C)) -> k3 (B, C)`."""
    run(KL, function)


def loss(function: Callable) -> None:
    """Check `f(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon) -> loss`."""
    run(LOSS, function)


def completion_logps(function: Callable) -> None:
    """Check `f(model, prompt_ids, prompt_mask, completion_ids, completion_mask) -> logps (B, C)`, ids (B, P) and (B, C)."""
    run(COMPLETION_LOGPS, function)


def grpo_step(function: Callable) -> None:
    """Check `f(model, reference, rollout, rewards (B,), beta, epsilon) -> loss`, put together from the parts above."""
    run(GRPO_STEP, function)


def reward(function: Callable) -> None:
    """Check `f(prompts, responses, answers) -> list of floats`: 1.0 for the number alone on the first line, else 0.0."""
    run(REWARD, function)


def first_word(function: Callable) -> None:
    """Check `f(prompts, responses, answers) -> list of floats`: 1.0 where the first word is one of the row's answers."""
    run(FIRST_WORD, function)


def hand_type(function: Callable) -> None:
    """Check `f(cards) -> type`: five cards such as "T♥" in, one of eight labels or "straight flush" out."""
    run(HAND_TYPE, function)
