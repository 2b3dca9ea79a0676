"""A task's text for the tokenizer at hand: its prompts, its answers and the room for an answer.

A task writes for a model that continues text, like the embedded one. A chat model continues a conversation instead: a
system message that says what to answer, the question, and the opening of its own turn. `rows_for` turns a task's rows
into one or the other; rewards take the completions of both, for they ignore white space around an answer.
"""

import math
import reprlib
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Protocol

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from shared.model_classes import class_of, examples_for
from shared.rows import is_conversation
from shared.tokens import Turn, keep_in_texts, markers_of, piece_ids, rendered, turn_of, without_beginning

# A right completion may be worded a little longer than ours: a fifth more tokens than the longest.
SLACK = 1.2
# The columns beside the prompt that may be conversations in TRL's rows.
COMPLETIONS = ("completion", "chosen", "rejected")


class Task(Protocol):
    """A task, as far as its text goes: a module of `shared/tasks/`, or anything with these three.

    CHAT_SYSTEM_PROMPT: tells a chat model what to answer and in which format.
    LONGEST_ANSWERS: right completions, just as they follow a plain prompt; the longest in any tokenizer is one of them.
    MAX_NEW_TOKENS: the least room for a completion, whatever the tokenizer.

    A task may have CHAT_EXAMPLES, questions and right answers as they follow a plain prompt, for `rows_for`: best such as
    no row has.
    """

    @property
    def CHAT_SYSTEM_PROMPT(self) -> str: ...

    @property
    def LONGEST_ANSWERS(self) -> Sequence[str]: ...

    @property
    def MAX_NEW_TOKENS(self) -> int: ...


def rows_for(
    tokenizer: PreTrainedTokenizerBase, rows: Sequence[dict], task: Task | None = None, *, examples: int | None = None
) -> list[dict]:
    """The rows with prompts as the model of this tokenizer wants them; all other columns stay.

    Without a chat template the texts stay as they are. With one, the question is the row's column `question` where it
    has one, else its prompt. A prompt that is a conversation, as TRL's rows may have, becomes a text here: that is
    what the model reads, what rewards are given, and what is compared where prompts are. Where the conversation's last
    message is the assistant's, the model goes on with it. `completion`, `chosen`, `rejected` and `teacher_prompt`
    become texts likewise, and a preference that has no prompt gets the beginning that both answers share.

    Special tokens that the task's answers are written with, or by which the template encloses a part of an answer, such as
    `<think>`, are ordinary ones from here on, or they would be taken out of a completion before its reward sees it
    (`shared.tokens.keep_in_texts`).

    A row's `chat_template_kwargs` are options of the template. A prompt that is in the template already stays: these
    rows, given again, come back the same.

    task: what says the answer's format to a chat model; None for rows that say it themselves.
    examples: how many of the task's worked examples stand before each question, as turns in a template and as text
        without one; none that has the words of the row's own question, in whatever order. By default as many as
        `shared/model_classes.py` has for the task and this class of model: none for the embedded one.

    Raises ValueError for a row without a prompt, and for a conversation where there is no chat template.
    """
    system_prompt = "" if task is None else task.CHAT_SYSTEM_PROMPT
    written = "" if task is None else " ".join([system_prompt, *task.LONGEST_ANSWERS])
    of_task = [str(token) for token in tokenizer.added_tokens_decoder.values() if str(token) in written]
    keep_in_texts(tokenizer, [*of_task, *markers_of(tokenizer)])
    turn = turn_of(tokenizer)
    if examples is None:
        examples = examples_for(_name(task), class_of(tokenizer, "all"))
    shown = getattr(task, "CHAT_EXAMPLES", ()) if examples else ()
    rows = [_with_examples(tokenizer, with_prompt(row), shown, examples) for row in rows]
    return [_in_texts(tokenizer, turn, row, system_prompt) for row in rows]


def _name(task: Task | None) -> str:
    """The name that the tables know a task by; that of no entry for rows of no task, or of one that is no module."""
    return getattr(task, "__name__", "").rpartition(".")[2]


def _with_examples(
    tokenizer: PreTrainedTokenizerBase, row: dict, shown: Sequence[tuple[str, str]], examples: int
) -> dict:
    """The row with worked examples, questions and right answers, before its question."""
    prompt = row["prompt"]
    if not shown or is_conversation(prompt):
        return row
    question = row.get("question", prompt).strip()
    before = [(asked, right) for asked, right in shown if _words(asked) != _words(question)][:examples]
    if not tokenizer.chat_template:
        between = prompt[len(prompt.rstrip()) :]
        return row | {"prompt": "".join(f"{asked}{between}{right.rstrip()}\n\n" for asked, right in before) + prompt}
    messages = [(("user", asked), ("assistant", right.strip())) for asked, right in before]
    turns = [{"role": role, "content": text} for pair in messages for role, text in pair]
    return row | {"prompt": [*turns, {"role": "user", "content": question}]}


def _words(question: str) -> list[str]:
    """The words in one order: a hand is the same hand, and a sum the same sum, whichever card or number comes first."""
    return sorted(question.replace(",", " ").split())


def with_prompt(row: dict) -> dict:
    """A row with its `prompt`: TRL's preferences may leave it to be what `chosen` and `rejected` begin with.

    Raises ValueError where there is none.
    """
    if "prompt" in row:
        return row
    chosen, rejected = row.get("chosen"), row.get("rejected")
    if chosen is None or rejected is None:
        present = ", ".join(map(repr, row)) or "nothing"
        raise ValueError(f"A row has no 'prompt', only {present}. Rename a column, or add one.")
    shared = len(list(takewhile(lambda both: both[0] == both[1], zip(chosen, rejected))))
    if isinstance(chosen, str):
        shared = _last_boundary(chosen, shared) or shared
    return row | {"prompt": chosen[:shared], "chosen": chosen[shared:], "rejected": rejected[shared:]}


def _last_boundary(text: str, place: int) -> int:
    """The last place, up to this one, where a word or a line begins; the space in front of a word belongs to it."""
    while place > 0 and text[place : place + 1] != " " and text[place - 1] != "\n":
        place -= 1
    return place


def _in_texts(tokenizer: PreTrainedTokenizerBase, turn: Turn, row: dict, system_prompt: str) -> dict:
    """A row whose prompt and completions are texts."""
    if not tokenizer.chat_template and isinstance(row["prompt"], str) or turn.is_open_in(row["prompt"]):
        return row
    conversation = row["prompt"]
    if not is_conversation(conversation):
        conversation = [{"role": "user", "content": row.get("question", conversation).strip()}]
    options = {name: value for name, value in (row.get("chat_template_kwargs") or {}).items() if value is not None}
    prompt = conversation_in_chat_template(tokenizer, conversation, system_prompt, **options)
    texts = {"prompt": prompt}
    if is_conversation(row.get("teacher_prompt")):
        texts["teacher_prompt"] = conversation_in_chat_template(tokenizer, row["teacher_prompt"], **options)
    for column in COMPLETIONS:
        if is_conversation(row.get(column)):
            answered = [*conversation, *row[column]]
            if len(row[column]) > 1 or answered[-1]["role"] != "assistant":
                raise ValueError(
                    f"A row has {reprlib.repr(row[column])} as its {column!r}; give one message of the assistant's."
                )
            whole = conversation_in_chat_template(tokenizer, answered, system_prompt, **options)
            in_line = whole.startswith(prompt)
            texts[column] = whole.removeprefix(prompt) if in_line else turn.lead + answered[-1]["content"]
    return row | texts


def prompt_for(tokenizer: PreTrainedTokenizerBase, row: dict, system_prompt: str) -> str:
    """The prompt of one row: plain, or in the chat template up to where the model's turn begins."""
    return _in_texts(tokenizer, turn_of(tokenizer), row, system_prompt)["prompt"]


def in_chat_template(tokenizer: PreTrainedTokenizerBase, question: str, system_prompt: str = "") -> str:
    """A conversation of one question, up to where the model's turn begins."""
    return conversation_in_chat_template(tokenizer, [{"role": "user", "content": question}], system_prompt)


def conversation_in_chat_template(
    tokenizer: PreTrainedTokenizerBase,
    conversation: Sequence[Mapping[str, str]],
    system_prompt: str = "",
    **options,
) -> str:
    """A conversation as a text, up to where the model goes on: its turn has begun, or its last message has.

    A beginning that the tokenizer adds to every text is left out here, or there would be two.

    system_prompt: goes in front where the conversation has no system message of its own.
    options: of the template, by name.

    Raises ValueError without a chat template.
    """
    if not tokenizer.chat_template:
        raise ValueError(
            "A prompt is a conversation, and this model has no chat template to make a text of it: give prompts that are "
            "texts, or a model that was trained for chat."
        )
    first, *others = conversation
    if system_prompt and first["role"] != "system":
        first, others = {"role": "system", "content": system_prompt}, [first, *others]
    try:
        text = rendered(tokenizer, [first, *others], **options)
    except TemplateError:  # some templates (Gemma's) refuse a system message: then the question says it all
        if first["role"] != "system" or not others:
            raise
        question = {"role": "user", "content": f"{first['content']}\n\n{others[0]['content']}"}
        text = rendered(tokenizer, [question, *others[1:]], **options)
    return without_beginning(tokenizer, text)


def answers_for(tokenizer: PreTrainedTokenizerBase, answers: Sequence[str]) -> list[str]:
    """Answers such as "one pair" as they follow the prompt: after a space, or as they begin a chat model's turn."""
    lead = turn_of(tokenizer).lead if tokenizer.chat_template else " "
    return [lead + answer.strip() for answer in answers]


def max_new_tokens_for(tokenizer: PreTrainedTokenizerBase, task: Task) -> int:
    """Room for a right completion: the longest one in this tokenizer, its EOS, and a fifth more (`SLACK`).

    At least the task's MAX_NEW_TOKENS, which leaves the embedded model room for its careless answers.
    """
    longest = max(len(piece_ids(tokenizer, answer)) for answer in task.LONGEST_ANSWERS)
    return max(task.MAX_NEW_TOKENS, math.ceil(SLACK * (longest + 1)))
