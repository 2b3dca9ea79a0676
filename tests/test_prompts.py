"""Real chat templates and tokenizers come from the hub, which the tests do not reach: the templates here are written after
those of Qwen 2.5 (ChatML), Llama 2 (a BOS, which its tokenizer adds as well) and Gemma (no system message)."""

import hashlib
import json
import random
import subprocess
import sys
from types import SimpleNamespace

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from shared.constrain import answer_trie
from shared.models import COURSE_MODEL
from shared.prompts import answers_for, in_chat_template, max_new_tokens_for, prompt_for, rows_for
from shared.tasks import addition, analogies, countdown, dots, poker, sentences
from shared.tasks.tags import tagged

TASKS = (dots, poker, analogies, addition, countdown, sentences)
CHAT_ML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WITH_BOS = "{{ bos_token }}" + CHAT_ML
NO_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + CHAT_ML
)


@pytest.fixture(scope="module")
def embedded():
    return AutoTokenizer.from_pretrained(COURSE_MODEL)


def byte_tokenizer(adds_bos: bool = False, **options) -> PreTrainedTokenizerFast:
    """Every byte one token, so that answers are long."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate(["<s>", "</s>", *alphabet])}
    core = Tokenizer(models.BPE(vocabulary, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.add_special_tokens(["<s>", "</s>"])
    if adds_bos:
        core.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", **options)


# The first 50 training prompts of each task, as the notebooks' saved results were measured with them.
PROMPTS_OF_THE_EMBEDDED_MODEL = {  # the beginning of their SHA-256
    "dots": "7ebafcd264feed22",
    "poker": "fe66b01b3bb4b164",
    "analogies": "6d575504882b63fd",
    "addition": "b8da092f0e345da6",
    "countdown": "8c176bf33a21ebf0",
    "sentences": "677e8ef405ac8d7b",
}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_the_embedded_model_is_prompted_as_ever(task, embedded):
    """Catches any change of a prompt, down to a space: the saved figures would no longer be those of the code."""
    rows = rows_for(embedded, task.dataset("train", 50, seed=0), task)
    assert rows == task.dataset("train", 50, seed=0)
    digest = hashlib.sha256(json.dumps([row["prompt"] for row in rows]).encode()).hexdigest()
    assert digest.startswith(PROMPTS_OF_THE_EMBEDDED_MODEL[task.__name__.split(".")[-1]])


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_chat_model_is_told_what_to_answer_and_its_turn_is_opened(task):
    """Without `add_generation_prompt` a chat model first writes the header of its own turn, and no format fits."""
    (row,) = task.dataset("train", 1)
    (asked,) = rows_for(byte_tokenizer(chat_template=CHAT_ML), [row], task)
    question = row.get("question", row["prompt"]).strip()
    assert asked["prompt"] == (
        f"<|im_start|>system\n{task.CHAT_SYSTEM_PROMPT}<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    )
    assert {**asked, "prompt": None} == {**row, "prompt": None}


def test_a_template_without_a_system_message_gets_it_with_the_question():
    text = in_chat_template(byte_tokenizer(chat_template=NO_SYSTEM), "How many?", "Answer with a number.")
    assert text == "<|im_start|>user\nAnswer with a number.\n\nHow many?<|im_end|>\n<|im_start|>assistant\n"


def test_without_a_system_prompt_there_is_no_system_message():
    """Catches an empty system message, which models were not trained on, and templates' own that is then missing."""
    text = in_chat_template(byte_tokenizer(chat_template=CHAT_ML), "How many?")
    assert text == "<|im_start|>user\nHow many?<|im_end|>\n<|im_start|>assistant\n"


def test_a_model_that_thinks_is_asked_not_to():
    """Catches a hidden chain of thought, at whose beginning every completion would be cut."""
    thinks = CHAT_ML + "{% if enable_thinking is not defined or enable_thinking %}<think>{% endif %}"
    assert not in_chat_template(byte_tokenizer(chat_template=thinks), "How many?").endswith("<think>")


def test_room_is_for_the_longest_answer_its_end_and_a_fifth_more():
    """Catches an EOS for which there is no room: a right answer would count as cut."""
    task = SimpleNamespace(LONGEST_ANSWERS=["abcdefghi", "ab"], MAX_NEW_TOKENS=1)
    assert max_new_tokens_for(byte_tokenizer(), task) == 12  # 1.2 x (9 + 1)
    assert max_new_tokens_for(byte_tokenizer(), SimpleNamespace(LONGEST_ANSWERS=["ab"], MAX_NEW_TOKENS=5)) == 5


def test_a_template_that_is_wrong_itself_is_not_hidden():
    with pytest.raises(Exception, match="broken"):
        in_chat_template(byte_tokenizer(chat_template="{{ raise_exception('broken') }}"), "How many?", "Answer.")


@pytest.mark.parametrize("adds_bos", [False, True])
def test_an_encoded_chat_prompt_has_one_bos(adds_bos):
    """A template that writes the BOS and a tokenizer that adds one make two: no model was trained on that."""
    tokenizer = byte_tokenizer(adds_bos, chat_template=WITH_BOS)
    ids = tokenizer(prompt_for(tokenizer, addition.row_of("What?"), addition.CHAT_SYSTEM_PROMPT))["input_ids"]
    assert ids[0] == tokenizer.bos_token_id and ids.count(tokenizer.bos_token_id) == 1


@pytest.mark.parametrize("task", (addition, countdown))
def test_the_layout_that_chat_models_are_shown_is_in_the_format(task):
    layout = task.CHAT_SYSTEM_PROMPT.partition("The layout:\n")[2]
    assert task.format_reward([""], [layout])[0] > 0


def test_a_chat_model_answers_without_the_leading_space(embedded):
    """Catches a trie whose every answer begins with a space: a chat model would be forced to say what it never does."""
    chat = byte_tokenizer(chat_template=CHAT_ML)
    assert answers_for(embedded, ["one pair", " flush "]) == [" one pair", " flush"]
    assert answers_for(chat, ["one pair", " flush "]) == ["one pair", "flush"]
    trie = answer_trie(chat, answers_for(chat, poker.LABELS))
    first = {chat.decode(token) for token in trie.token_ids[0][trie.allowed[0]]}
    assert first == {label[0] for label in poker.LABELS}


@pytest.mark.parametrize(("task", "tokens"), zip(TASKS, (6, 6, 6, 40, 64, 32)), ids=str)
def test_the_embedded_model_has_the_room_it_always_had(task, tokens, embedded):
    assert max_new_tokens_for(embedded, task) == tokens == task.MAX_NEW_TOKENS


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_tokenizer_of_bytes_has_room_for_every_right_answer(task):
    """Catches a limit that was counted in the embedded model's tokens: "three of a kind" is 4 there and 16 bytes."""
    tokenizer = byte_tokenizer()
    room = max_new_tokens_for(tokenizer, task)
    assert all(len(ids) < room for ids in tokenizer(right_answers(task))["input_ids"])


def right_answers(task) -> list[str]:
    """Right completions of 400 rows of a task."""
    rows = task.dataset("train", 400, seed=3)
    if task is sentences:
        return [" slept. he slept. it slept."]
    if task is addition:
        return [tagged(addition.working(a, b, a + b), str(a + b)) for a in range(10, 100) for b in range(10, 100)]
    if task is countdown:
        problems = [countdown.draw_problem(random.Random(seed), "train") for seed in range(2000)]
        return [tagged(problem.solution.working, problem.solution.expression) for problem in problems]
    if task is analogies:
        return [f" {answer}" for row in rows for answer in row["answers"][:1]]
    return [f" {row['answer']}" for row in rows]


@pytest.mark.parametrize("task", (dots, poker, analogies, addition))
def test_the_longest_answers_are_right_completions(task):
    """Catches a length that is counted on text in another format than the one rewarded."""
    rewarded = {"answer": "198"} if task is addition else {}
    for text in task.LONGEST_ANSWERS:
        columns = rewarded or {"answer": text.strip(), "answers": [text.strip()]}
        assert task.reward([""], [text], **{name: [value] for name, value in columns.items()}) == [1.0]


def test_the_longest_countdown_solution_solves_its_problem():
    assert countdown.reward([""], countdown.LONGEST_ANSWERS, numbers=[[10, 10, 10, 10]], target=[11]) == [1.0]


def test_tasks_need_neither_torch_nor_transformers():
    """Catches an import that makes a data set wait ten seconds, and the checker need what it does not install."""
    names = ", ".join(task.__name__ for task in TASKS)
    code = f"import sys, {names}\nassert not {{'torch', 'transformers', 'tokenizers'}} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_conversation_becomes_a_text_once():
    """Catches rewards and splits that are given a list of messages, and a task's system prompt beside a row's own."""
    tokenizer = byte_tokenizer(chat_template=CHAT_ML)
    asked = [{"role": "user", "content": "1 + 1?"}, {"role": "assistant", "content": "2"}]
    asked.append({"role": "user", "content": "2 + 2?"})
    told = [{"role": "system", "content": "Answer in words."}, *asked]
    rows = [{"prompt": asked, "answer": "4"}, {"prompt": told, "answer": "four"}]
    turns = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in asked) + "<|im_start|>assistant\n"
    own = "<|im_start|>system\nAnswer in words.<|im_end|>\n"
    tasks = f"<|im_start|>system\n{dots.CHAT_SYSTEM_PROMPT}<|im_end|>\n"
    plain = rows_for(tokenizer, rows)
    assert [row["prompt"] for row in plain] == [turns, own + turns]
    assert [row["prompt"] for row in rows_for(tokenizer, rows, dots)] == [tasks + turns, own + turns]
    assert [row["answer"] for row in plain] == ["4", "four"]
    merged = rows_for(byte_tokenizer(chat_template=NO_SYSTEM), rows)[1]["prompt"]
    assert merged == turns.replace("1 + 1?", "Answer in words.\n\n1 + 1?")


def test_a_conversation_for_a_model_without_a_template_is_a_sentence(embedded):
    with pytest.raises(ValueError, match="this model has no chat template"):
        rows_for(embedded, [{"prompt": [{"role": "user", "content": "1 + 1?"}]}])
