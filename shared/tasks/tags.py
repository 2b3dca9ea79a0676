"""The <think> and <answer> blocks, each tag on a line of its own, that addition and countdown ask for."""

import re

FORMAT = re.compile(r"<think>\n(?P<think>.+?)\n</think>\n<answer>\n(?P<answer>.+?)\n</answer>", re.DOTALL)
TAGS = ("<think>", "</think>", "<answer>", "</answer>")


def tagged(think: str, answer: str) -> str:
    """A completion in the format asked for."""
    return f"<think>\n{think}\n</think>\n<answer>\n{answer}\n</answer>"


def parse(completion: str) -> tuple[str, str] | None:
    """The contents (think, answer) of a completion that is in the format from its first to its last character, else None.

    White space around the whole is ignored. Each tag must occur exactly once.
    """
    match = FORMAT.fullmatch(completion.strip())
    if match is None or any(completion.count(tag) != 1 for tag in TAGS):
        return None
    return match["think"].strip(), match["answer"].strip()
