"""The format of a think and an answer block: `format_reward(prompts, completions) -> list of floats`.

1.0 where the whole completion, stripped, is the two blocks with each tag on a line of its own and neither block empty.
"""

import re

from shared.exercises.arguments import Texts
from shared.exercises.catalogue.common.every_reward import (
    FIRST_COMPLETION_FOR_ALL,
    RETURNED_TOO_EARLY,
    REWARD_SLIPS,
    SAME_FOR_ALL,
    as_score_calls,
    texts,
)
from shared.exercises.drawing import HOSTILE, Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Floats
from shared.exercises.steps import Steps
from shared.tasks.tags import TAGS, tagged

STEPS = Steps()


STEPS.step(texts)


@STEPS.step
def stripped(texts):
    return [text.strip() for text in texts]


@STEPS.step
def inside():
    """The pattern of what may stand in a block."""
    return ".+?"


@STEPS.step
def pattern(inside):
    return rf"<think>\n{inside}\n</think>\n<answer>\n{inside}\n</answer>"


@STEPS.step
def flags():
    return re.DOTALL


@STEPS.step
def matches(stripped, pattern, flags):
    return [re.fullmatch(pattern, text, flags) is not None for text in stripped]


@STEPS.step
def once(texts):
    """True where each tag stands there once."""
    return [all(text.count(tag) == 1 for tag in TAGS) for text in texts]


@STEPS.step
def kept(matches, once):
    return [fits and alone for fits, alone in zip(matches, once)]


@STEPS.step
def rewards(kept):
    return [float(fits) for fits in kept]


STEPS.add(*REWARD_SLIPS.named("prompt_read_as_well"), FIRST_COMPLETION_FOR_ALL)


@STEPS.slip("stripped", "White space around the whole is harmless: strip the completion before you match it.")
def not_stripped(texts):
    return texts


@STEPS.slip(
    "matches",
    "Text before or after the blocks is accepted: `re.search` finds the pattern anywhere. The whole has to be the two "
    "blocks: `fullmatch`.",
)
def found_anywhere(stripped, pattern, flags):
    return [re.search(pattern, text, flags) is not None for text in stripped]


@STEPS.slip("matches", "Text after the blocks is accepted: `re.match` looks at the beginning only. Use `fullmatch`.")
def beginning_only(stripped, pattern, flags):
    return [re.match(pattern, text, flags) is not None for text in stripped]


@STEPS.slip(
    "matches",
    "You ask whether the four tags occur, in any order and with anything around. Match the whole against one pattern.",
)
def tags_present(stripped):
    return [all(tag in text for tag in TAGS) for text in stripped]


@STEPS.slip("matches", "Only the answer block is asked for in yours. Both blocks make the format.")
def answer_block_only(stripped, flags):
    return [re.search(r"<answer>\n.+?\n</answer>", text, flags) is not None for text in stripped]


@STEPS.slip(
    "once", "A tag may occur twice in yours: everything written twice passes, for `.+` swallows the tags in the middle."
)
def tags_repeated(texts):
    return [True] * len(texts)


@STEPS.slip("inside", "An empty block passes: `.*` matches nothing at all. Use `.+`.")
def empty_block():
    return ".*?"


@STEPS.slip("pattern", "The tags need no lines of their own in yours: the line ends `\\n` belong to the pattern.")
def tags_within_a_line(inside):
    return rf"<think>\s*{inside}\s*</think>\s*<answer>\s*{inside}\s*</answer>"


@STEPS.slip("pattern", "The answer block comes first in yours. First the thinking, then the answer.")
def blocks_exchanged(inside):
    return rf"<answer>\n{inside}\n</answer>\n<think>\n{inside}\n</think>"


@STEPS.slip("pattern", "An answer of several lines is refused. What stands in a block is free, line ends too.")
def answer_of_one_line(inside):
    return rf"<think>\n{inside}\n</think>\n<answer>\n[^\n]+\n</answer>"


@STEPS.slip("pattern", "The answer has to be a number in yours. The format does not ask what is in the blocks.")
def number_asked_for(inside):
    return rf"<think>\n{inside}\n</think>\n<answer>\n\d+\n</answer>"


@STEPS.slip("flags", "A block of several lines is refused: without `re.DOTALL` a dot stops at the end of a line.")
def one_line_blocks():
    return 0


@STEPS.slip("kept", "Right and wrong are exchanged.")
def exchanged(kept):
    return [not fits for fits in kept]


STEPS.add(RETURNED_TOO_EARLY, SAME_FOR_ALL)


@STEPS.slip("once", "Only the opening tags are counted: a closing tag may occur twice. Count all four.")
def opening_tags_counted(texts):
    return [text.count("<think>") == text.count("<answer>") == 1 for text in texts]


@STEPS.slip(
    "once", "Only the opening tag of the think block is counted: an answer tag may occur twice. Count all four."
)
def one_tag_counted(texts):
    return [text.count("<think>") == 1 for text in texts]


GOOD = tagged("7 + 5 = 12\n17 + 25 = 42", "42")
SHORT = tagged("so", "42")
SAID = (
    GOOD,
    SHORT,
    tagged("who knows", "a lot\nof it"),
    f"\t\n{SHORT}\n\t",
    f" {GOOD} ",
    "well, the result is 42.",
    SHORT.replace("\n", " "),
    SHORT.replace("\n", ""),
    "<answer>\n42\n</answer>",
    "<think>\nso\n</think>",
    SHORT.removesuffix("\n</answer>"),
    SHORT[:-1],
    f"{SHORT}\nHope this helps!",
    f"Sure! {SHORT}",
    SHORT.upper(),
    SHORT + SHORT,
    tagged("", "42"),
    tagged("so", ""),
    "<think>\n</think>\n<answer>\n42\n</answer>",
    "<think>\nso\n</think>\n<answer>\n</answer>",
    "<think>\nso\n</think>\n\n<answer>\n42\n</answer>",
    "<answer>\n42\n</answer>\n<think>\nso\n</think>",
    tagged("so <answer>", "42"),
    tagged("so <think>", "42"),
    tagged("so </think>", "42"),
    tagged("so\n</think>\nmore", "42"),
    tagged("a", "4"),
    f"<{SHORT}",
    tagged("3 < 5", "42"),
    tagged("so", "7 > 5"),
    tagged("so", "42\n</answer>\n43"),
    tagged("so", "42\n</answer>\n<answer>\n43"),
    "</answer>\n42\n<answer>\n</think>\nso\n<think>",
    f"Sure!\n{SHORT}\nBye.",
)
PROMPTS = ("If you add 17 and 25, what is the result?", f"Write like this:\n{SHORT}\nNow 17 + 25?", "")


@STEPS.slip("once", "Only the tags of the answer are counted: one of thinking may occur twice. Count all four.")
def answer_tags_counted(texts):
    return [text.count("<answer>") == text.count("</answer>") == 1 for text in texts]


@STEPS.slip("once", "Only the closing tags are counted: an opening tag may occur twice. Count all four.")
def closing_tags_counted(texts):
    return [text.count("</think>") == text.count("</answer>") == 1 for text in texts]


@STEPS.slip("kept", "Half of the reward is paid for one block. Both make the format: 1.0 or 0.0.")
def half_for_one_block(kept, texts):
    return [1.0 if fits else 0.5 * ("</think>" in text or "</answer>" in text) for fits, text in zip(kept, texts)]


@STEPS.slip("inside", "A block of one character is refused. It is not empty: `.+` is enough.")
def two_characters():
    return "..+?"


@STEPS.slip(
    "pattern",
    "Lines may stand between the two blocks in yours. The answer block follows at once: `</think>`, a line end, `<answer>`.",
)
def lines_between(inside):
    return rf"<think>\n{inside}\n</think>\n(?:.*\n)?<answer>\n{inside}\n</answer>"


@STEPS.slip(
    "inside",
    "A block that holds `<` is refused, such as one about 3 < 5. What stands in a block is free, as long as no tag "
    "occurs twice.",
)
def no_less_than_sign():
    return "[^<]+?"


@STEPS.slip(
    "inside",
    "A block that holds `<` or `>` is refused, such as one about 3 < 5. What stands in a block is free, as long as no tag "
    "occurs twice.",
)
def no_angle_brackets():
    return "[^<>]+?"


@STEPS.slip("pattern", "The tags need no lines of their own in yours: the line ends `\\n` belong to the pattern.")
def any_white_space_around_tags():
    block = r"\s*\S.*?\s*"
    return f"<think>{block}</think>\\s*<answer>{block}</answer>"


@STEPS.slip(
    "once",
    'The words are counted, not the tags: a block that says "I think" or "the answer" earns nothing. Count the four tags.',
)
def words_counted(texts):
    return [text.count("think") <= 2 and text.count("answer") <= 2 for text in texts]


def draw(draw: Draw) -> Case:
    B = draw.size(3)
    said = [draw.choice(HOSTILE) if draw.random() < 0.1 else draw.choice(SAID) for _ in range(B)]
    return {"prompts": draw.some(PROMPTS, B), "completions": said}


def boundary() -> list[Case]:
    spoken_of = (tagged("I think it is 42", "42"), tagged("so", "the answer is 42"))
    return [{"prompts": [PROMPTS[0]], "completions": [text]} for text in (*SAID, *spoken_of, *HOSTILE)]


EXERCISE = Exercise(
    name="format reward",
    function="format_reward",
    contract="`f(prompts, completions, **columns) -> list of floats`: 1.0 for a think and an answer block and nothing "
    "else.",
    steps=STEPS,
    arguments={"prompts": Texts("B", always_shown=False), "completions": Texts("B")},
    result=Floats(),
    draw=draw,
    boundary=boundary,
    draws=119,
    call=as_score_calls,
)
