"""Honest ways in which a function leans on what stands at the top level of its notebook.

Each is the cells above the function, and the body of a function of x that gives its square, as long as what it leans on
is there.
"""

MODEL = "from shared.models import load_policy\npolicy, tokenizer = load_policy()"
STYLES = {
    "words split": ['WORDS = "a b".split()', "return x ** len(WORDS)"],
    "a partial function": ["import functools\nsquared = functools.partial(pow, exp=2)", "return squared(x)"],
    "a computed constant": ["import math\nE = math.exp(1)", "return x ** int(E)"],
    "the tokenizer's padding": [MODEL, "PAD = tokenizer.pad_token_id", "return x * x if PAD is not None else 0"],
    "an import that is tried": [
        "try:\n    import regex_of_the_student as patterns\nexcept ImportError:\n    import re as patterns",
        'return x * x if patterns.match("a", "ab") else 0',
    ],
    "an import behind a condition": ["if True:\n    import math as m", "return int(m.pow(x, 2))"],
    "a constant behind a condition": [
        "import sys\nif sys.version_info >= (3, 9):\n    NEW = 2\nelse:\n    NEW = 2.0",
        "return x**NEW",
    ],
    "a number that is counted up": ["COUNT = 0\nCOUNT += 1\nCOUNT += 1", "return x**COUNT"],
    "a dict that a loop fills": ["TABLE = {}\nfor n in range(200):\n    TABLE[n] = n * n", "return TABLE[x]"],
    "a list that a loop fills": ["LIST = []\nfor n in range(200):\n    LIST.append(n * n)", "return LIST[x]"],
    "a loop in another cell": ["ROWS = []", "for n in range(200):\n    ROWS.append(n * n)", "return ROWS[x]"],
    "a dict that is updated": ["OPTIONS = dict(power=1)", "OPTIONS.update(power=2)", "return x ** OPTIONS['power']"],
    "a place that is deleted": ["D = {'a': 1, 'b': 2, 'c': 3}\ndel D['a']", "return x ** len(D)"],
    "attributes that are set": [
        "class Config:\n    pass",
        "config = Config()\nconfig.power = 2",
        "return x**config.power",
    ],
    "a dataclass": [
        "from dataclasses import dataclass, field\n\n@dataclass\nclass Setting:\n    power: 'int' = 2\n    names: list = field(default_factory=list)",
        "SETTING = Setting()",
        "return x**SETTING.power",
    ],
    "a named tuple": [
        "from typing import NamedTuple\nclass Pair(NamedTuple):\n    power: int",
        "P = Pair(2)",
        "return x**P.power",
    ],
    "an enumeration": ["from enum import Enum\nclass Mode(Enum):\n    SQUARE = 2", "return x**Mode.SQUARE.value"],
    "a named lambda": ["sq = lambda n: n * n", "return sq(x)"],
    "functions in a list": ["STEPS = [lambda n: n, lambda n: n * n]", "return STEPS[-1](x)"],
    "a comprehension": ["SQUARES = [n * n for n in range(200)]", "return SQUARES[x]"],
    "several names at once": ["ONE, (TWO, *MORE) = 1, (2, 3, 4)", "return x ** (TWO * ONE * len(MORE) // 2)"],
    "a name made in a condition": ["if (LIMIT := 2) > 1:\n    pass", "return x**LIMIT"],
    "a block of `with`": [
        "import contextlib\nwith contextlib.suppress(ValueError):\n    INSIDE = int('2')\n    int('x')",
        "return x**INSIDE",
    ],
    "a cached helper": [
        "from functools import cache\n\n@cache\ndef remembered(n):\n    return n * n",
        "return remembered(x)",
    ],
    "a constant made by a function of its own": ["def make():\n    return 2\nMADE = make()", "return x**MADE"],
    "a default that is a constant": [
        "DEFAULT = 2\ndef to_the(n, power=DEFAULT):\n    return n**power",
        "return to_the(x)",
    ],
    "everything of a module": ["from math import *", "return 2 * comb(x + 1, 2) - x"],
    "an annotated constant": ["ANNOTATED: int = 2", "return x**ANNOTATED"],
    "a pattern with flags": [
        "import re\nPATTERN = re.compile(r'^\\d+$', re.MULTILINE | re.DOTALL)",
        "return x * x if PATTERN.match(str(x)) else 0",
    ],
    "a Counter": ["from collections import Counter\nOFTEN = Counter('aab')", "return x ** OFTEN['a']"],
    "what only a program does": ["if __name__ == '__main__':\n    MAIN = 2", "return x**MAIN"],
    "chance with a seed": [
        "import random\nRNG = random.Random(0)\nORDER = RNG.sample(range(2), 2)",
        "return x ** len(ORDER)",
    ],
    "a match": ["match (1, 2):\n    case (_, MATCHED):\n        pass", "return x**MATCHED"],
    "cells in another order": ["LATER = EARLIER + 1", "EARLIER = 1", "return x**LATER"],
    "a check between": [
        "BETWEEN = [1]",
        "if check.square({name}):\n    print('right')",
        "BETWEEN.append(2)",
        "return x ** len(BETWEEN)",
    ],
    "a variable of the system": [
        "import os\nDEBUG = bool(os.environ.get('DEBUG_OF_MINE'))",
        "return 0 if DEBUG else x * x",
    ],
    "text put together": ["JOINED = '-'.join(str(n) for n in (1, 2)).partition('-')[2]", "return x ** int(JOINED)"],
    "an object that is called": [
        "class Squarer:\n    def __call__(self, n):\n        return n * n",
        "SQUARER = Squarer()",
        "return SQUARER(x)",
    ],
    "a class that inherits": [
        "class Base:\n    power = 1",
        "class Child(Base):\n    power = Base.power + 1",
        "return x**Child.power",
    ],
    "a generator": ["def powers():\n    yield 1\n    yield 2\nFIRST, SECOND = powers()", "return x**SECOND"],
    "a decorator of one's own": [
        "import functools\ndef squared(function):\n    @functools.wraps(function)\n    def inner(n):\n        return function(n) ** 2\n    return inner",
        "@squared\ndef itself(n):\n    return n",
        "return itself(x)",
    ],
    "a loop until": ["N = 0\nwhile N < 2:\n    N += 1", "return x**N"],
    "a set": ["SEEN = set()\nSEEN.add(1)\nSEEN.add(2)", "return x ** len(SEEN)"],
    "a dict of lists": [
        "from collections import defaultdict\nLISTS = defaultdict(list)\nfor n in range(200):\n    LISTS[n].append(n * n)",
        "return LISTS[x][0]",
    ],
    "a list sorted in place": ["ORDERED = [2, 1]", "ORDERED.sort()", "return x ** ORDERED[-1]"],
    "a slice that is set": ["VALUES = [0, 0]\nVALUES[:] = [1, 2]", "return x ** VALUES[1]"],
    "two names at once": ["A = B = 2", "return x**B"],
    "names that are exchanged": ["P, Q = 1, 2\nP, Q = Q, P", "return x**P"],
    "a text with a number": ["NAME = f'{1}{6}'", "return x ** (int(NAME) // 8)"],
    "numpy": ["import numpy as np\nTABLE = np.arange(200) ** 2", "return int(TABLE[x])"],
    "settings as text": ["import json\nSETTINGS = json.loads('{\"power\": 2}')", "return x ** SETTINGS['power']"],
    "a name that the function counts": ["CALLS = 0", "global CALLS; CALLS += 1; return x * x"],
    "a name that only the function makes": ["global SEEN; SEEN = []; SEEN.append(x); return x * x * len(SEEN)"],
    "a name that only a helper makes": [
        "def begin():\n    global BEGUN\n    BEGUN = []",
        "begin(); BEGUN.append(x); return x * x * len(BEGUN)",
    ],
    "a helper that calls itself": [
        "def added(n, times):\n    return n + added(n, times - 1) if times else 0",
        "return added(x, x)",
    ],
    "helpers that call each other": [
        "def even(n):\n    return n == 0 or odd(n - 1)",
        "def odd(n):\n    return n > 0 and even(n - 1)",
        "return x * x if even(x) or odd(x) else 0",
    ],
    "several imports in a line": [
        "import collections.abc as abc, math",
        "return math.prod([x, x]) if isinstance([], abc.Sequence) else 0",
    ],
    "an import in the function": ["import math; return int(math.pow(x, 2))"],
    "sums that are accumulated": [
        "from itertools import accumulate\nSUMS = [0, *accumulate(range(1, 400, 2))]",
        "return SUMS[x]",
    ],
    "a hint that is defined later": [
        "def hinted(n: Later) -> Later:\n    return n * n",
        "class Later:\n    pass",
        "return hinted(x)",
    ],
    "a magic line": ["%matplotlib inline\nPOWER = 2", "return x**POWER"],
    "a try with an end": [
        "try:\n    TRIED = int('x')\nexcept ValueError:\n    TRIED = 2\nfinally:\n    DONE = True",
        "return x**TRIED",
    ],
    "a cell that shows its last line": ["SHOWN = [1, 2]\nSHOWN", "return x ** SHOWN[1]"],
    "a dict of pairs": ["PAIRS = dict(zip('ab', (1, 2), strict=True))", "return x ** PAIRS['b']"],
}
# Kinds that the styles above do not have. Those of the first half are right in their second try alone: only there is taken
# along what may change a name.
FURTHER = {
    "a list that a helper fills": [
        "ROWS = []\ndef add(row):\n    ROWS.append(row)",
        "for n in range(200):\n    add(n * n)",
        "return ROWS[x]",
    ],
    "a register that a decorator fills": [
        "KNOWN = {}\ndef known(function):\n    KNOWN[function.__name__] = function\n    return function",
        "@known\ndef squared(n):\n    return n * n",
        'return KNOWN["squared"](x)',
    ],
    "a register of subclasses": [
        "class Power:\n    known = {}\n    def __init_subclass__(cls):\n        Power.known[cls.__name__] = cls",
        "class Two(Power):\n    value = 2",
        'return x ** Power.known["Two"].value',
    ],
    "a function with an implementation for each type": [
        "from functools import singledispatch\n@singledispatch\ndef squared(n):\n    return None",
        "@squared.register\ndef _(n: int):\n    return n * n",
        "return squared(x)",
    ],
    "a heap": ["import heapq\nHEAP = []", "heapq.heappush(HEAP, 2)", "return x ** HEAP[0]"],
    "a list that chance shuffles": ["import random\nORDER = [2, 2]", "random.shuffle(ORDER)", "return x ** ORDER[0]"],
    "an attribute that setattr makes": [
        "class Config:\n    pass",
        "setattr(Config, 'power', 2)",
        "return x**Config.power",
    ],
    "an array that is an output": [
        "import numpy as np\nTABLE = np.arange(200)",
        "np.multiply(TABLE, TABLE, out=TABLE)",
        "return int(TABLE[x])",
    ],
    "a dict with defaults that are set": [
        "TABLE = {}\nfor n in range(200):\n    TABLE.setdefault(n, []).append(n * n)",
        "return TABLE[x][0]",
    ],
    "a dict that is joined to another": [
        "OPTIONS = {'power': 1}",
        "OPTIONS |= {'power': 2}",
        "return x ** OPTIONS['power']",
    ],
    "a counter that is asked for a number": [
        "import itertools\nNUMBERS = itertools.count(1)",
        "next(NUMBERS)",
        "POWER = next(NUMBERS)",
        "return x**POWER",
    ],
    "a closure": [
        "def to_the(n):\n    def inner(base):\n        return base**n\n    return inner",
        "squared = to_the(2)",
        "return squared(x)",
    ],
    "a value that is waited for": ["async def two():\n    return 2", "POWER = await two()", "return x**POWER"],
    "a loop of waiting": [
        "import asyncio\nasync def squared(n):\n    await asyncio.sleep(0)\n    return n * n",
        "return asyncio.run(squared(x))",
    ],
    "a cell that is timed": ["%%time\nPOWER = 2", "return x**POWER"],
    "a line that is timed": ["%time POWER = 2", "return x**POWER"],
    "a question to the notebook": ["POWER = 2\nPOWER?", "return x**POWER"],
    "a line of the system's": ["FILES = !ls\nPOWER = 2", "return x**POWER"],
    "lines that end as on Windows": ["def helper(n):\r\n    return n * n\r\n", "return helper(x)"],
    "statements in one line": ["A = 1; B = A + 1; C = B", "return x**C"],
    "Greek names": ["σ = 2", "return x**σ"],
    "a name in other letters": ["ﬁrst = 2", "return x**first"],
    "an import for hints alone": [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from nowhere import Number",
        "def hinted(n: 'Number') -> 'Number':\n    return n * n",
        "return hinted(x)",
    ],
    "a property and a class method": [
        "class Power:\n    def __init__(self, n):\n        self.n = n\n    @classmethod\n    def two(cls):\n        return cls(2)\n    @property\n    def value(self):\n        return self.n",
        "return x ** Power.two().value",
    ],
    "a name that is deleted and made again": ["POWER = 1\ndel POWER", "POWER = 2", "return x**POWER"],
    "a block of one's own": [
        "import contextlib\n@contextlib.contextmanager\ndef two():\n    yield 2",
        "with two() as POWER:\n    pass",
        "return x**POWER",
    ],
    "a loop with an end": [
        "for POWER in range(9):\n    if POWER == 2:\n        break\nelse:\n    POWER = 0",
        "return x**POWER",
    ],
    "a future": [
        "from __future__ import annotations\ndef later(n: Unknown) -> Unknown:\n    return n * n",
        "return later(x)",
    ],
    "a file that one cell writes": [
        'from pathlib import Path\nPath("power.txt").write_text("2")',
        'POWER = int(Path("power.txt").read_text())',
        "return x**POWER",
    ],
    "a file that the function reads": [
        'import json\nwith open("powers.json", "w") as file:\n    json.dump([2], file)',
        'return x ** json.load(open("powers.json"))[0]',
    ],
    "a name put among the globals": ['globals()["POWER_1"] = 2', "return x**POWER_1"],
    "names put among the globals": ["globals().update(POWER_2=2)", "return x**POWER_2"],
    "a default put among the globals": ['vars().setdefault("POWER_3", 2)', "return x**POWER_3"],
    "a list sorted by its type": ["ORDERED = [2, 1]", "list.sort(ORDERED)", "return x ** ORDERED[-1]"],
}
# What an honest function does not need of the course: a name that its notebook replaced, a line that only shows something.
LEFTOVERS = {
    "an import that a function replaces": [
        "from shared.rloo import rloo",
        "def rloo(n):\n    return n * n",
        "return rloo(x)",
    ],
    "an import that a class replaces": [
        "from shared import rloo",
        "class rloo:\n    power = 2",
        "return x**rloo.power",
    ],
    "an import that a list replaces": [
        "from shared.recorded import recorded",
        "recorded = [n * n for n in range(200)]",
        "return recorded[x]",
    ],
    "an import that a list replaces which is filled later": [
        "from shared.rloo import rloo as squares",
        "squares = []",
        "squares.extend(n * n for n in range(200))",
        "return squares[x]",
    ],
    "an import that a lambda replaces": [
        "from shared.tasks import poker",
        "poker = lambda n: n * n",
        "return poker(x)",
    ],
    "an import that another import replaces": [
        "from shared.advantages import group_advantages as power",
        "from math import pow as power",
        "return int(power(x, 2))",
    ],
    "an import that is replaced among several names": [
        "from shared import kl, rloo",
        "kl, (rloo, *rest) = 1, (2, 3, 4)",
        "return x**rloo * kl",
    ],
    "a table that is shown": ["from shared.tables import show", "show(x.bit_length()); return x * x"],
    "a table that is shown on demand": [
        "from shared.tables import show\nDEBUG = False",
        "if DEBUG:\n        show(x)\n    return x * x",
    ],
    "a table that a helper shows": [
        "from shared.tables import show",
        "def helper(n):\n    for _ in range(2):\n        show(n)\n    return n * n",
        "return helper(x)",
    ],
    "a figure of the course": [
        "from shared.plots import panels",
        "figure, axes = panels(2)\n    axes[0].plot([x])\n    figure.show()\n    return x * x",
    ],
    "recorded rows that are printed": [
        "from shared.recorded import recorded",
        "for row in recorded('dots'):\n        print(row)\n    else:\n        print('all')\n    return x * x",
    ],
    "a comparison with the course's own": [
        "from shared.rloo import rloo",
        "assert rloo(x) == x * x, 'not yet'\n    return x * x",
    ],
    "an import that only shows": ["from shared.tables import mean_row, show; show(mean_row(x)); return x * x"],
    "what a notebook displays by itself": ["display(x); get_ipython().run_line_magic('time', ''); return x * x"],
    "a log of the training": [f"{MODEL}\nhistory = policy.train()", "history.append(x); return x * x"],
    "a line that shows beside one that is shown by print": [
        "from shared.tables import show",
        "try:\n        print(show(x), 'so far')\n    finally:\n        y = x * x\n    return y",
    ],
}
WITH_TORCH = {
    "a device": ["import torch", 'DEVICE = torch.device("cpu")', 'return x * x if DEVICE.type == "cpu" else 0'],
    "a device that is chosen": [
        "import torch\ndevice = 'cuda' if torch.cuda.is_available() and False else 'cpu'",
        "return int(torch.tensor(x, device=device) ** 2)",
    ],
    "a table": ["import torch\nSQ = torch.arange(200).float().pow(2)\nSQ[0] = 0.0", "return int(SQ[x])"],
}


def cells_of(style: list[str], name: str, exercise: str) -> list[str]:
    """The cells of a style, with its function under a name, and its check. exercise: the function as a pattern."""
    *above, body = style
    return [
        *(cell.replace("{name}", name) for cell in above),
        exercise.replace("square", name).format(body),
        f"check.square({name})",
    ]
