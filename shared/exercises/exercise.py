"""What an exercise declares: its reference with its slips, its arguments and how they are drawn, its result."""

from collections.abc import Callable
from dataclasses import dataclass, field

from shared.exercises.arguments import Kind
from shared.exercises.drawing import Draw
from shared.exercises.results import Result
from shared.exercises.steps import Slip, Steps

Case = dict


def plain_call(function: Callable, case: Case):
    """Call a function with the arguments of a case, by place."""
    return function(*case.values())


@dataclass(frozen=True)
class Exercise:
    """One exercise. `shared/exercises/catalogue/` has a file for each; CONTRIBUTING.md tells how to add one.

    name: how people call it, "GRPO loss".
    function: what the notebooks call it, `grpo_loss`. A check of another exercise finds it by this name.
    steps: the reference and its slips; the steps read the arguments by their names.
    arguments: the kind of each argument, in the order in which the function takes them.
    result: what comes back.
    draw: a case from chance, drawn again until it is valid.        boundary: cases that chance would miss.
    gradient: the argument by which the gradient of the result is compared as well; None for none.
    relevant: the argument (a mask) that says where the result matters; None for everywhere.
    tolerance: how far off a number may be, relative to the largest one of the result (at least to 1).
    valid: whether a drawn or a smaller case is one that the function has to bear.
    smaller: further smaller cases of a case, for arguments that are no arrays and no lists.
    call: how the function is used in a case, and what is looked at: `result` is about what this returns.
    needs: exercises whose functions the student may call in this one, also through each other, the innermost first.
    draws: how many cases are drawn besides the boundary ones; fewer where a model runs.
    """

    name: str
    function: str
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

    def cases(self, seed: int = 0) -> list[Case]:
        """The boundary cases and the drawn ones, the same at every call."""
        chance = Draw(f"{self.function} {seed}")
        return [*self.boundary(), *(self._drawn(chance) for _ in range(self.draws))]

    def _drawn(self, chance: Draw) -> Case:
        """A drawn case that is valid: `draw` may leave to `valid` what is easier refused than avoided."""
        case = self.draw(chance)
        while not self.valid(case):
            case = self.draw(chance)
        return case

    def size(self, case: Case) -> int:
        """How much there is to read in a case: the numbers and characters of its arguments."""
        return sum(kind.amount(case[name]) for name, kind in self.arguments.items())

    def reference(self, slips: tuple[Slip, ...] = ()) -> Callable:
        """The reference as a function like the student's, with some slips made."""

        def function(*arguments, **named):
            return self.steps.result(dict(zip(self.arguments, arguments)) | named, slips)

        function.is_reference = True
        return function


def is_reference(function: Callable) -> bool:
    """Whether a function is a reference, which gets all that a notebook's function finds under names of its notebook."""
    return getattr(function, "is_reference", False)
