"""The format of countdown: `countdown_format_reward(prompts, completions) -> list of floats`.

1.0 for both blocks with an expression alone in the answer, 0.5 when it holds anything else, else 0.0.
"""

import ast
import re

from shared.exercises.arguments import Texts
from shared.exercises.catalogue.common.countdown_answers import drawn, expression_of, said
from shared.exercises.catalogue.common.every_reward import (
    FIRST_COMPLETION_FOR_ALL,
    RETURNED_TOO_EARLY,
    REWARD_SLIPS,
    SAME_FOR_ALL,
    as_score_calls,
    texts,
)
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Floats
from shared.exercises.steps import Steps
from shared.tasks.tags import parse

STEPS = Steps()
CHARACTERS = "You ask for characters of arithmetic. `3 * 8 -` has only those and is no expression: use `is_expression`."


STEPS.step(texts)


@STEPS.step
def blocks(texts):
    """(think, answer) of each completion that keeps the format, else None."""
    return [parse(text) for text in texts]


@STEPS.step
def read():
    """The number of the block that is read: the second, the answer."""
    return 1


@STEPS.step
def sound(blocks, read):
    """True where the block that is read holds an expression alone."""
    return [pair is not None and expression_of(pair[read]) is not None for pair in blocks]


@STEPS.step
def for_blocks():
    """The reward of the blocks alone."""
    return 0.5


@STEPS.step
def for_expression():
    """The reward of an expression in the blocks."""
    return 1.0


@STEPS.step
def earned(sound, for_blocks, for_expression):
    return [for_expression if fits else for_blocks for fits in sound]


@STEPS.step
def rewards(blocks, earned):
    return [0.0 if pair is None else reward for pair, reward in zip(blocks, earned)]


STEPS.add(*REWARD_SLIPS.named("prompt_read_as_well"), FIRST_COMPLETION_FOR_ALL)


@STEPS.slip("read", "You look for the expression in the think block. It belongs in the answer block, the second.")
def think_block_read():
    return 0


@STEPS.slip("blocks", "An answer without the blocks is accepted: where `parse` gives None the reward is 0.0.")
def blocks_not_asked_for(texts):
    return [parse(text) or ("", text) for text in texts]


@STEPS.slip("sound", "An empty or a chatty answer earns the full reward: only an expression alone does.")
def anything_is_sound(blocks):
    return [pair is not None for pair in blocks]


@STEPS.slip("sound", CHARACTERS)
def characters_only(blocks):
    return [pair is not None and set(pair[1]) <= set("0123456789+-*/() ") for pair in blocks]


@STEPS.slip("sound", "An equation passes: what stands before the `=` is not alone in the answer.")
def left_of_the_equation(blocks):
    return [pair is not None and expression_of(pair[1].partition("=")[0]) is not None for pair in blocks]


@STEPS.slip("for_blocks", "The half reward is missing: two blocks with something else in the answer earn 0.5.")
def nothing_for_blocks():
    return 0.0


@STEPS.slip("earned", "1.0 and 0.5 are exchanged: the expression alone is what earns more.")
def exchanged(sound, for_blocks, for_expression):
    return [for_blocks if fits else for_expression for fits in sound]


@STEPS.slip("for_expression", "The reward for an expression comes on top, and makes 1.5. It is 1.0 in all.")
def added():
    return 1.5


STEPS.add(RETURNED_TOO_EARLY, SAME_FOR_ALL)


@STEPS.slip(
    "blocks",
    "The blocks are found anywhere, by a pattern of your own: text around them, and tags within a line, break the format. "
    "`parse` looks at the whole.",
)
def blocks_found_anywhere(texts):
    found = [re.search(r"<think>(.*?)</think>\s*<answer>(.*?)</answer>", text, re.DOTALL) for text in texts]
    return [match and (match[1].strip(), match[2].strip()) for match in found]


@STEPS.slip(
    "blocks",
    "Only the answer block is looked for: an answer without thinking is paid, and so is text around it. `parse` looks at "
    "the whole.",
)
def answer_found_anywhere(texts):
    found = [re.search(r"<answer>(.*?)</answer>", text, re.DOTALL) for text in texts]
    return [match and ("", match[1].strip()) for match in found]


@STEPS.slip(
    "rewards",
    "Completions without the blocks are left out of the list, which is then too short. They earn 0.0 and keep their place.",
)
def without_blocks_left_out(blocks, earned):
    return [reward for pair, reward in zip(blocks, earned) if pair is not None]


@STEPS.slip(
    "for_expression",
    "An expression earns 0.5 like anything else: none is found. Ask `is_expression` of the answer, the second of the two "
    "blocks, and not of the whole completion or of both blocks.",
)
def no_expression_found(for_blocks):
    return for_blocks


@STEPS.slip("rewards", "Completions without the blocks earn 0.5. They earn 0.0.")
def half_without_blocks(blocks, earned):
    return [0.5 if pair is None else reward for pair, reward in zip(blocks, earned)]


@STEPS.slip("sound", "Only the last line of the answer block is read. The whole block is to be one expression.")
def last_line_read(blocks):
    return [pair is not None and expression_of(pair[1].strip().split("\n")[-1]) is not None for pair in blocks]


@STEPS.slip("sound", "Any line of the answer block may be an expression in yours. The whole block is to be one.")
def any_line_read(blocks):
    return [pair is not None and any(map(expression_of, pair[1].strip().split("\n"))) for pair in blocks]


@STEPS.slip(
    "sound",
    "Whatever Python can parse counts as an expression: a name, a call, a comparison. Of numbers, + - * / and brackets it "
    "is made: use `is_expression`.",
)
def whatever_python_parses(blocks):
    return [pair is not None and parses(pair[1].strip()) for pair in blocks]


def parses(text: str) -> bool:
    """True for what Python takes for an expression."""
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


@STEPS.slip("sound", CHARACTERS)
def characters_of_several_lines(blocks):
    return [pair is not None and bool(re.fullmatch(r"[\d\s+\-*/()]+", pair[1].strip())) for pair in blocks]


@STEPS.slip(
    "rewards", "Whatever is said without the blocks earns 0.5. Without them it earns 0.0, not the empty text alone."
)
def half_for_any_text(texts, blocks, earned):
    without = [0.5 if text.strip() else 0.0 for text in texts]
    return [other if pair is None else reward for pair, reward, other in zip(blocks, earned, without)]


@STEPS.slip("rewards", "An expression without the blocks earns 0.5. Without them nothing is earned, whatever is said.")
def half_for_a_bare_expression(texts, blocks, earned):
    without = [0.0 if expression_of(text) is None else 0.5 for text in texts]
    return [other if pair is None else reward for pair, reward, other in zip(blocks, earned, without)]


@STEPS.slip("sound", CHARACTERS)
def characters_and_line_ends(blocks):
    return [pair is not None and set(pair[1]) <= set("0123456789+-*/() \n") for pair in blocks]


def draw(draw: Draw) -> Case:
    B = draw.size(3)
    prompts = draw.some(["Use 3 8 2 once each to make 22.", "3 * 8", ""], B)
    return {"prompts": prompts, "completions": [drawn(draw) for _ in range(B)]}


def boundary() -> list[Case]:
    return [{"prompts": ["Use 3 8 2 once each to make 22."], "completions": [text]} for text in said()]


EXERCISE = Exercise(
    name="format reward",
    function="countdown_format_reward",
    contract="`f(prompts, completions, **columns) -> list of floats`: 1.0 for both blocks and an expression, 0.5 for the "
    "blocks alone.",
    steps=STEPS,
    arguments={"prompts": Texts("B", always_shown=False), "completions": Texts("B")},
    result=Floats(),
    draw=draw,
    boundary=boundary,
    draws=119,
    call=as_score_calls,
)
