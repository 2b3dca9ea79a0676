"""A game of "find the number" as plain data: for functions that are handed the games of a notebook."""

from dataclasses import dataclass, field


@dataclass
class Played:
    """A game as it stands: the range, the secret, the guesses so far, and whether it is over."""

    low: int
    high: int
    secret: int
    guesses: list[int] = field(default_factory=list)
    done: bool = False

    def __repr__(self) -> str:
        return f"<{self.low} to {self.high}, secret {self.secret}, guesses {self.guesses}>"

    def fresh(self) -> "Played":
        """The same game once more, for a function that changes it."""
        return Played(self.low, self.high, self.secret, list(self.guesses), self.done)
