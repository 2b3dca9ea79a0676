"""A reference as named steps, and the slips that change one of them.

A step is a small function whose parameters name the arguments of the exercise and other steps; the last one gives the
result. A slip (see CONTRIBUTING: house words) names the step, or the argument, that it changes:

    @STEPS.step
    def ratio(logps, old_logps):
        return torch.exp(logps - old_logps)

    @STEPS.slip("ratio", "The ratio is upside down: ...")
    def ratio_upside_down(logps, old_logps):
        return torch.exp(old_logps - logps)

    @STEPS.slip("loss", "The sign is flipped: ...")
    def sign_flipped(loss):
        return -loss

The first slip stands in the place of its step. The second has a parameter named like its step: it takes the result of
the step and changes it. Two slips can be made together unless both stand in the place of the same step, or each reads
what the other changes.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import combinations

SENTENCE_END = re.compile(r"(?<=[.?!])\s+")


@dataclass(frozen=True)
class Part:
    """A function, and the names of its parameters: arguments and steps that it reads."""

    function: Callable
    reads: tuple[str, ...]

    @classmethod
    def of(cls, function: Callable) -> "Part":
        return cls(function, tuple(inspect.signature(function).parameters))


@dataclass(frozen=True)
class Slip:
    """A mistake in one place.

    changes: the step or argument.
    explanation: told to a student who made it. Its first sentence is the symptom; the others, why and what to write, are
        the hint that the student may ask for.
    """

    changes: str
    explanation: str
    part: Part

    @classmethod
    def of(cls, changes: str, explanation: str, function: Callable) -> "Slip":
        return cls(changes, explanation, Part.of(function))

    @property
    def name(self) -> str:
        return self.part.function.__name__

    @property
    def symptom(self) -> str:
        return SENTENCE_END.split(self.explanation, maxsplit=1)[0]

    @property
    def hint(self) -> str:
        return self.explanation[len(self.symptom) :].strip()

    @property
    def stands_in(self) -> bool:
        """True for a slip that stands in the place of its step; any other changes the result of the step."""
        return self.changes not in self.part.reads


class Slips(list[Slip]):
    """Slips in their order: of an exercise, or those of one idea in a file of their own."""

    def slip(self, changes: str, explanation: str) -> Callable[[Callable], Callable]:
        """Decorator: a slip of a step or an argument, known by the function's name."""

        def declare(function: Callable) -> Callable:
            self.append(Slip.of(changes, explanation, function))
            return function

        return declare

    def named(self, *names: str) -> list[Slip]:
        """The slips of these names, for an exercise that has the steps that they change. KeyError for an unknown name."""
        by_name = {slip.name: slip for slip in self}
        return [by_name[name] for name in names]


@dataclass
class Steps:
    """The steps of a reference in their order, the last one giving the result, and its slips."""

    steps: dict[str, Part] = field(default_factory=dict)
    slips: Slips = field(default_factory=Slips)

    def step(self, function: Callable) -> Callable:
        """Decorator: the next step, under the function's name."""
        self.steps[function.__name__] = Part.of(function)
        return function

    def slip(self, changes: str, explanation: str) -> Callable[[Callable], Callable]:
        """Decorator: the next slip; see `Slips.slip`."""
        return self.slips.slip(changes, explanation)

    def add(self, *slips: Slip) -> None:
        """Add slips that are declared elsewhere: several exercises have them, or they fill a file of their own."""
        self.slips.extend(slips)

    def result(self, arguments: dict, slips: Iterable[Slip] = ()):
        """The result of the last step for these arguments when the slips are made. Raises what the steps raise."""
        return _Evaluation(self, arguments, tuple(slips)).value(next(reversed(self.steps)))

    def combinations(self, most: int = 2) -> Iterator[tuple[Slip, ...]]:
        """Every slip alone, then every pair that can be made together, up to `most` at once."""
        for size in range(1, most + 1):
            yield from filter(self._combine, combinations(self.slips, size))

    def _combine(self, slips: tuple[Slip, ...]) -> bool:
        """True when no two of the slips stand in one place, and no step would have to wait for itself."""
        places = [slip.changes for slip in slips if slip.stands_in]
        return len(set(places)) == len(places) and not self._in_a_circle(slips)

    def _in_a_circle(self, slips: tuple[Slip, ...]) -> bool:
        """True when a step would read itself by way of others: two steps, each exchanged for the other."""
        reads = {name: set(part.reads) for name, part in self.steps.items()}
        reads |= {slip.changes: set(slip.part.reads) for slip in slips if slip.stands_in}
        for slip in slips:
            if not slip.stands_in:
                reads[slip.changes] = reads.get(slip.changes, set()) | set(slip.part.reads) - {slip.changes}
        try:
            TopologicalSorter(reads).prepare()
        except CycleError:
            return True
        return False


class _Evaluation:
    """The values of one evaluation, each worked out when it is first asked for."""

    def __init__(self, steps: Steps, arguments: dict, slips: tuple[Slip, ...]):
        self.steps = steps
        self.arguments = arguments
        self.slips = slips
        self.known = {}

    def value(self, name: str):
        if name not in self.known:
            self.known[name] = self._with_slips(name)
        return self.known[name]

    def _with_slips(self, name: str):
        slips = [slip for slip in self.slips if slip.changes == name]
        instead = next((slip.part for slip in slips if slip.stands_in), None)
        value = (
            self._call(instead or self.steps.steps[name])
            if instead or name in self.steps.steps
            else self.arguments[name]
        )
        for slip in slips:
            if not slip.stands_in:
                value = self._call(slip.part, {name: value})
        return value

    def _call(self, part: Part, given: dict | None = None):
        given = given or {}
        return part.function(*(given[name] if name in given else self.value(name) for name in part.reads))
