"""Drawing arguments: the same for everybody, from sizes of 1 up, with nothing useful in the padding."""

import random
from collections.abc import Sequence

import torch
from torch import Tensor

# What a model may say that a reward has to bear: nothing, blanks, other scripts, control characters, a lot of it.
HOSTILE = (
    "",
    " ",
    "\n",
    "\n\n \n",
    "\t",
    "\r\n",
    "\x00",
    "\u2028",
    "\ud800",
    "٣",
    "３",
    "²",
    "½",
    "∞",
    "nan",
    "inf",
    "1e999",
    "-0",
    "None",
    "é́",
    "🂡",
    "<think>",
    "</answer>",
    "[](){}\\^$.*+?|",
    "%s %d {0}",
    "x" * 3000,
    "(" * 500,
)


WIDE = 16  # how much larger the sizes of a wide case are: they have two digits


class Draw(random.Random):
    """Chance that is the same on every machine."""

    is_wide = False  # true while the one case is drawn that is larger than what a function may have written down
    asked = 0  # sizes that were drawn since the case began
    longer = (0, 0)  # while a long case is drawn: which of its sizes is longer, counted from 1, and by how much

    def size(self, most: int = 4, least: int = 1) -> int:
        return self.randint(least, most) + self.more()

    def more(self) -> int:
        """The surplus of the next size of this case over a usual one."""
        self.asked += 1
        place, longer = self.longer
        return WIDE * self.is_wide + longer * (place == self.asked)

    def sample(self, population: Sequence, k: int) -> list:
        """Different items, so many or as many as there are."""
        return super().sample(population, min(k, len(population)))

    def number(self, least: float, most: float) -> float:
        """A number with three decimals, so that it can be shown; a tie is then rare."""
        return round(self.uniform(least, most), 3)

    def numbers(self, *shape: int, least: float = -2.0, most: float = 2.0) -> Tensor:
        """Numbers that differ; in one tensor of ten all are equal, as the advantages of a batch without signal are."""
        total = torch.Size(shape).numel()
        if total > 1 and self.random() < 0.1:
            drawn = self.number(least, most)
            quarters = round(drawn * 4) / 4  # whose mean is exact: equal rewards have no advantages
            alike = quarters if least <= quarters <= most else drawn
            return torch.full(shape, 0.0 if least <= 0 <= most and self.random() < 0.5 else alike)
        return torch.tensor([self.number(least, most) for _ in range(total)], dtype=torch.float32).view(shape)

    def mask(self, B: int, C: int, least: int = 1) -> Tensor:
        """(B, C), of a random number of tokens in each row; one token, and a full row, are frequent."""
        rows = [self.choice([least, C, self.randint(min(least, C), C)]) for _ in range(B)]
        return (torch.arange(C) < torch.tensor(rows)[:, None]).long()

    def garbage(self, values: Tensor, mask: Tensor, size: float = 4.0) -> Tensor:
        """The values with something else where the mask is 0."""
        return torch.where(mask == 1, values, self.numbers(*values.shape, least=-size, most=size))

    def some(self, items: Sequence, count: int) -> list:
        """So many of the items, repeats allowed."""
        return [self.choice(items) for _ in range(count)]
