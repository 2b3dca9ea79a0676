"""The declaration of an exercise: its reference with its slips, its arguments, how cases are drawn, its result.

*Case*: see CONTRIBUTING: house words.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite

import torch

from shared.exercises.arguments import Kind, Numbers, Scalar, Texts
from shared.exercises.drawing import Draw
from shared.exercises.results import Result
from shared.exercises.steps import Slip, Steps

Case = dict
LONG = 300  # how much longer one size of a long case is: more rows than a notebook hands over, or than a byte counts
MOST_LONG = 3  # long cases: one for each of the first sizes that are drawn, and a fourth of all at the most
# Times the numbers of a case. Ratios and counts, which have no sign, get much larger, or next to nothing.
LOUD = 8
LOUDER = 30
QUIET = 0.0003


def plain_call(function: Callable, case: Case):
    """Call a function with the arguments of a case, by place."""
    return function(*case.values())


@dataclass(frozen=True)
class Exercise:
    """One exercise. `shared/exercises/catalogue/` has a file for each; CONTRIBUTING.md tells how to add one.

    name: how people call it, "GRPO loss".
    function: its name in the notebooks, `grpo_loss`. A check of another exercise finds it by this name.
    contract: what the function takes and gives, as the help of the check says it: "`f(completion) -> text`: ...".
    steps: the reference and its slips; the steps read the arguments by their names.
    arguments: the kind of each argument, in the order in which the function takes them.
    result: what comes back.
    draw: a case from chance, drawn again until it is valid.        boundary: cases that chance would miss.
    gradient: the argument by which the gradient of the result is compared as well, "chosen rejected" for two of them;
        None for none.
    relevant: the argument (a mask) that is 1 where the result matters; None when all of it does.
    tolerance: the largest error of a number, relative to the largest number of the result, or to 1 if that is larger.
    valid: true of a case, drawn or shrunk, that a right function must handle.
    smaller: further smaller cases of a case, for arguments that are no arrays and no lists.
    call: calls the function in a case and returns what is compared, of the kind `result`.
    needs: exercises whose functions the student may call in this one, also through each other, the innermost first.
    draws: the number of cases besides the boundary ones; fewer where a model runs.
    ranks: other numbers of axes in which the notebook hands over its tensors, for a function that goes by place alone.
    doubles: whether it hands them over in float64 as well.
    long: how much longer one size of a long case is; less where a world or a model of that size takes too long.
    supplies: names of the notebook that `call` puts others in the place of. Grading does not look for them there.
    shows: modules that grading shows beside the function, because a case, the call or the result needs them. None holds a
        reference. Of the catalogue's own functions those that are needed travel as their code.
    """

    name: str
    function: str
    contract: str
    steps: Steps
    arguments: dict[str, Kind]
    result: Result
    draw: Callable[[Draw], Case]
    boundary: Callable[[], list[Case]] = list
    gradient: str | None = None
    relevant: str | None = None
    tolerance: float = 1e-4
    valid: Callable[[Case], bool] = lambda case: True
    smaller: Callable[[Case], list[Case]] = lambda case: []
    call: Callable[[Callable, Case], object] = plain_call
    needs: tuple["Exercise", ...] = field(default=())
    draws: int = 120
    ranks: tuple[int, ...] = ()
    doubles: bool = False
    long: int = LONG
    supplies: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()

    def cases(self, seed: int = 0) -> list[Case]:
        """The boundary cases and the drawn ones, the same at every call.

        The first of those that are drawn is wide, and some of the others are changed: into the axes of other calls of the
        notebook, its other type, numbers that are much larger or smaller, in all arguments or in one, 0 in some rows, or
        equal to each other, completions that begin with their prompt, and one size much longer.
        """
        chance = Draw(f"{self.function} {seed}")
        drawn = [self._drawn(chance) for _ in range(self.draws)]
        sizes = min(chance.asked, MOST_LONG, self.draws // 4)
        drawn[1 : 1 + len(self.ranks)] = [self._of_rank(case, rank) for case, rank in zip(drawn[1:], self.ranks)]
        changes = (
            self._in_doubles,
            self._loud,
            self._quiet,
            self._tied,
            self._alike,
            self._one_loud,
            self._others_loud,
            self._far_settings,
            self._silent,
            self._echoed,
        )
        for place in range(1, len(changes) * (1 + self.draws // 30) + 1):
            if place < len(drawn) - len(self.ranks):
                drawn[-place] = self._changed(drawn[-place], changes[place % len(changes)])
        if drawn:
            chance.is_wide = True
            drawn[0] = self._drawn(chance)
            chance.is_wide = False
        for place in range(1, min(sizes, len(drawn) - 1 - len(self.ranks)) + 1):
            chance.longer = (place, self.long)
            drawn[len(self.ranks) + place] = self._drawn(chance)
        return [*self.boundary(), *drawn]

    def _changed(self, case: Case, change: Callable[[str, Kind, Case], object]) -> Case:
        """The case with its arguments changed, if it is still a valid one."""
        changed = {name: change(name, kind, case) for name, kind in self.arguments.items()}
        return changed if self.valid(changed) else case

    def _in_doubles(self, name: str, kind: Kind, case: Case):
        return case[name].double() if self.doubles and isinstance(case[name], torch.Tensor) else case[name]

    def _loud(self, name: str, kind: Kind, case: Case):
        factor = LOUDER if getattr(kind, "least", -1) >= 0 else LOUD
        return case[name] * factor if _is_boundless(kind) else case[name]

    def _quiet(self, name: str, kind: Kind, case: Case):
        """Ratios and counts that are next to nothing, and one of the settings 0, where it may be."""
        settings = [one for one, other in self.arguments.items() if isinstance(other, Scalar) and 0.0 in other.simple]
        if name in settings and isinstance(case[name], float):
            return 0.0 if name == self._chance(case).choice(settings) else case[name]
        return case[name] * QUIET if _is_boundless(kind) and kind.least >= 0 else case[name]

    def _one_loud(self, name: str, kind: Kind, case: Case):
        """One of several arguments of a kind far from the others, as a policy is from the one that it began as."""
        return case[name] * LOUD if self._is_one_of_several(name, kind, case) else case[name]

    def _others_loud(self, name: str, kind: Kind, case: Case):
        """The same, and the one is where it was."""
        return case[name] if self._is_one_of_several(name, kind, case) else self._loud(name, kind, case)

    def _is_one_of_several(self, name: str, kind: Kind, case: Case) -> bool:
        """True for one of the arguments of each kind, in each case for another one."""
        alike = self._of_kind(kind)
        return _is_boundless(kind) and len(alike) > 1 and name == alike[self.size(case) % len(alike)]

    def _far_settings(self, name: str, kind: Kind, case: Case):
        """Settings beyond those of the notebook, but for shares and counts; in every second case its numbers as well."""
        if isinstance(kind, Scalar) and isinstance(case[name], float) and case[name] * LOUD <= kind.most:
            return case[name] * LOUD
        return self._loud(name, kind, case) if self.size(case) % 2 else case[name]

    def _of_kind(self, kind: Kind) -> list[str]:
        """The arguments of a kind in their order."""
        return [name for name, other in self.arguments.items() if other == kind]

    def _tied(self, name: str, kind: Kind, case: Case):
        """At every second place what the first argument of this kind has there."""
        first = case[self._of_kind(kind)[0]]
        if not isinstance(kind, Numbers) or getattr(first, "shape", ()) != getattr(case[name], "shape", ()):
            return case[name]
        changed = case[name].reshape(-1) * 1
        changed[::2] = first.reshape(-1)[::2]
        return changed.reshape(case[name].shape)

    def _silent(self, name: str, kind: Kind, case: Case):
        """0 in some rows, in each argument in others, as the advantages of groups without signal are."""
        signed = [one for one, other in self.arguments.items() if _is_boundless(other) and other.least < 0]
        if name not in signed or not case[name].ndim:
            return case[name]
        every = len(signed) + 1  # and in some rows none is
        first = (signed.index(name) + self._chance(case).randrange(every)) % every
        changed = case[name] * 1
        changed[first::every] = 0
        return changed

    def _chance(self, case: Case) -> Draw:
        """Chance that is the same for equal numbers and settings."""
        return Draw(str([case[name] for name, kind in self.arguments.items() if isinstance(kind, Numbers | Scalar)]))

    def _echoed(self, name: str, kind: Kind, case: Case):
        """Completions that begin with their prompt, as some models do: it is theirs all the same."""
        if name != "completions" or len(case.get("prompts", ())) != len(case[name]):
            return case[name]
        return [prompt + text for prompt, text in zip(case["prompts"], case[name])]

    def _alike(self, name: str, kind: Kind, case: Case):
        """One text in all rows."""
        return case[name][:1] * len(case[name]) if isinstance(kind, Texts) else case[name]

    def _drawn(self, chance: Draw) -> Case:
        """A drawn case that is valid. `draw` may draw what is not: some cases are easier refused than avoided."""
        chance.asked = 0
        case = self.draw(chance)
        while not self.valid(case):
            chance.asked = 0
            case = self.draw(chance)
        return case

    def _of_rank(self, case: Case, rank: int) -> Case:
        """The case with all arguments that have axes in one row of numbers, which stands in so many axes."""
        shape = (*[1] * (rank - 1), -1)
        return {name: value.reshape(shape) if self.arguments[name].axes else value for name, value in case.items()}

    def size(self, case: Case) -> int:
        """The length of a case for a reader: the numbers and characters of its arguments."""
        return sum(kind.amount(case[name]) for name, kind in self.arguments.items())

    def reference(self, slips: tuple[Slip, ...] = ()) -> Callable:
        """The reference as a function like the student's, with some slips made."""

        def function(*arguments, **named):
            return self.steps.result(dict(zip(self.arguments, arguments)) | named, slips)

        function.is_reference = True
        return function


def _is_boundless(kind: Kind) -> bool:
    """True for numbers that may be of any size: a probability lies between two bounds."""
    return isinstance(kind, Numbers) and not (isfinite(kind.least) and isfinite(kind.most))


def is_reference(function: Callable) -> bool:
    """True for a reference. It gets as arguments what a student's function finds among the variables of its notebook."""
    return getattr(function, "is_reference", False)
