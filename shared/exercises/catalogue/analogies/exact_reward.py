"""The reward of analogies: `exact_reward(prompts, completions, answers) -> list of floats`, answers a list for each row.

1.0 where the first word of the completion, without punctuation and capitals, is one of the row's answers.
"""

import re
from itertools import groupby

from shared.exercises.arguments import Texts, Things
from shared.exercises.catalogue.common.every_reward import FIRST_COMPLETION_FOR_ALL, RETURNED_TOO_EARLY
from shared.exercises.drawing import HOSTILE, Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Floats
from shared.exercises.steps import Steps

STEPS = Steps()
PUNCTUATION = ".,;:!?\"'()"


@STEPS.step
def texts(completions):
    return completions


@STEPS.step
def words(texts):
    """The word of each completion that is compared, as it stands there."""
    return [(text.split() or [""])[0] for text in texts]


@STEPS.step
def bare(words):
    return [word.strip(PUNCTUATION) for word in words]


@STEPS.step
def folded(bare):
    return [word.casefold() for word in bare]


@STEPS.step
def accepted(answers):
    return answers


@STEPS.step
def matches(folded, accepted):
    return [word in of_row for word, of_row in zip(folded, accepted)]


@STEPS.step
def rewards(matches):
    return [float(match) for match in matches]


@STEPS.slip(
    "texts",
    "Your reward reads the prompt as well: a word that the user wrote can earn it. Look at the completion only.",
)
def prompt_read_as_well(prompts, completions):
    return [prompt + completion for prompt, completion in zip(prompts, completions)]


STEPS.add(FIRST_COMPLETION_FOR_ALL)


@STEPS.slip(
    "words", "You compare the last word of the completion. The task asks for the first: what follows may be chatter."
)
def last_word(texts):
    return [(text.split() or [""])[-1] for text in texts]


@STEPS.slip(
    "words",
    'The whole completion, or its whole first line, has to be the word: a right answer that goes on ("puppy, of course") gets nothing. The task '
    "asks for the first word.",
)
def whole_completion(texts):
    return [text.strip() for text in texts]


@STEPS.slip(
    "words",
    'You split at single spaces, so that the first "word" of " puppy" is empty. `split()` without an argument splits at '
    "any white space and drops what is empty.",
)
def split_at_single_spaces(texts):
    return [text.split(" ")[0] for text in texts]


@STEPS.slip(
    "words", "An empty completion raises IndexError: its list of words is empty. Look whether there is a first."
)
def empty_completion_raises(texts):
    return [text.split()[0] for text in texts]


@STEPS.slip("bare", 'Punctuation stays on the word: "puppy." is not found among the answers. Strip it from both ends.')
def punctuation_stays(words):
    return words


@STEPS.slip(
    "bare", 'Punctuation is taken off behind the word only: "(puppy)" and "\'puppy" are right too. Use `strip`.'
)
def punctuation_before_stays(words):
    return [word.rstrip(PUNCTUATION) for word in words]


@STEPS.slip(
    "bare", 'Only full stops and commas are taken off: "puppy!" and "(puppy)" are right too. Strip .,;:!?"\'() .'
)
def some_punctuation_stays(words):
    return [word.strip(".,") for word in words]


@STEPS.slip(
    "bare",
    'Punctuation is taken out of the middle of a word as well: "pup.py" becomes an answer. Strip it from both ends.',
)
def punctuation_removed_inside(words):
    return ["".join(letter for letter in word if letter not in PUNCTUATION) for word in words]


@STEPS.slip(
    "folded",
    'Capitals matter to your comparison: "Puppy" is a right answer at the start of a line. Compare `casefold()`ed words.',
)
def capitals_matter(bare):
    return bare


@STEPS.slip(
    "matches",
    "A completion passes when an accepted word occurs anywhere in it, even inside another word. The model then learns to "
    "list words. Compare the first word only.",
)
def found_anywhere(texts, accepted):
    return [any(answer in text.casefold() for answer in of_row) for text, of_row in zip(texts, accepted)]


@STEPS.slip(
    "matches",
    "Any word of the completion may be the right one: a list of guesses is paid. Compare the first word only.",
)
def any_word(texts, accepted):
    return [
        any(word.strip(PUNCTUATION).casefold() in of_row for word in text.split())
        for text, of_row in zip(texts, accepted)
    ]


@STEPS.slip(
    "matches",
    'The beginning of the completion is enough: your test is `startswith`. "puppyish" is not "puppy".',
)
def beginning_is_enough(folded, accepted):
    return [any(word.startswith(answer) for answer in of_row) for word, of_row in zip(folded, accepted)]


PART_OF_AN_ANSWER = 'The test is `in` on a text instead of on the list of answers: "pup" is in "puppy".'


@STEPS.slip("matches", PART_OF_AN_ANSWER)
def part_of_an_answer(folded, accepted):
    return [any(word in answer for answer in of_row) for word, of_row in zip(folded, accepted)]


@STEPS.slip("matches", PART_OF_AN_ANSWER)
def part_of_an_answer_if_it_has_words(texts, folded, accepted):
    rows = zip(texts, folded, accepted)
    return [bool(text.split()) and any(word in answer for answer in of_row) for text, word, of_row in rows]


@STEPS.slip(
    "matches", 'An accepted word inside the first word is enough: "unhappy" passes for "happy". They have to be equal.'
)
def part_of_the_word(folded, accepted):
    return [any(answer in word for answer in of_row) for word, of_row in zip(folded, accepted)]


@STEPS.slip("accepted", "Only the first accepted word counts. Each row has a list of answers, and every one is right.")
def first_answer_only(answers):
    return [of_row[:1] for of_row in answers]


@STEPS.slip(
    "accepted",
    "Every completion is compared with the first row's answers. Each has its own: go through both with `zip`.",
)
def first_row_for_all(answers):
    return [answers[0]] * len(answers)


@STEPS.slip("matches", "Right and wrong are exchanged: right completions get 0 and wrong ones 1.")
def exchanged(matches):
    return [not match for match in matches]


@STEPS.slip("rewards", "All completions share one average reward. Return one number for each: GRPO compares them.")
def same_for_all(rewards):
    return [sum(rewards) / len(rewards)] * len(rewards)


STEPS.add(RETURNED_TOO_EARLY)


@STEPS.slip("rewards", "The reward counts how many answers match. It is 1.0 or 0.0, however many words are accepted.")
def divided_by_the_answers(rewards, accepted):
    return [reward / len(of_row) for reward, of_row in zip(rewards, accepted)]


@STEPS.slip(
    "bare",
    'Punctuation is taken off the whole text before it is split: the comma of "puppy, of course" stays. Take the first '
    "word, then its punctuation.",
)
def whole_text_stripped(texts):
    return [(text.strip().strip(PUNCTUATION).split() or [""])[0] for text in texts]


FRAMES = (
    "{a}",
    " {a}",
    "{a}.",
    " {a}, of course",
    " {a} and so on",
    "\n {a}",
    "({a})",
    "'{a}'",
    '"{a}!"',
    "({a}",
    "{a}!",
    "..{a}",
    "{a})",
    " {A}",
    " {U}",
    "{a}ish",
    "un{a}",
    "{half}",
    " {b}",
    " {b} or {a}",
    " not {a}",
    " the {a}",
    "{half}.{rest}",
    "well, let me think.",
    "{b}\n{a}",
    " {once}",
)
JOINED = ("{a}-like", "- {a}", "{a}2")  # a word with signs that are not taken off its ends
WORDS = (("puppy",), ("sad", "unhappy"), ("big", "large", "huge"), ("walked",), ("unhappy", "sad"))


@STEPS.slip(
    "bare",
    'Spaces and punctuation are taken off the whole text before it is split at spaces: the comma of "puppy, of course" '
    "stays, and so does a line break in front. Take the first word, then its punctuation.",
)
def spaces_and_punctuation_first(texts):
    return [text.strip(" " + PUNCTUATION).split(" ")[0] for text in texts]


@STEPS.slip("matches", "The text before the first comma or full stop is compared. Asked for is the first word.")
def first_clause(texts, accepted):
    clauses = [re.split(r"[.,;:!?]", text)[0].strip().strip(PUNCTUATION).casefold() for text in texts]
    return [clause in of_row for clause, of_row in zip(clauses, accepted)]


@STEPS.slip(
    "words",
    'The second word is compared where the text begins with a space: `split(" ")` gives "" for what stands before it, and '
    "you skip one piece. Asked for is the first word.",
)
def second_piece(texts):
    return [(text.split(" ") + ["", ""])[1] for text in texts]


@STEPS.slip(
    "words",
    'You compare the first run of letters: "puppy-like" passes for "puppy", and a sign that stands by itself is passed '
    "over. The first word is what stands before the first space.",
)
def first_run_of_letters(texts):
    return [(re.findall("[a-z]+", text.casefold()) or [""])[0] for text in texts]


def draw(draw: Draw) -> Case:
    rows = [_row(draw) for _ in range(draw.size(4))]
    prompts, completions, answers = map(list, zip(*rows))
    if draw.random() < 0.3:
        completions[0] = f" {answers[-1][0]}"  # right for another row, as a rule
    return {"prompts": prompts, "completions": completions, "answers": answers}


def _row(draw: Draw) -> tuple[str, str, list[str]]:
    accepted = list(draw.choice(WORDS))
    text = draw.choice(HOSTILE) if draw.random() < 0.1 else filled(draw.choice(FRAMES), draw.choice(accepted))
    prompt = draw.choice(
        ["cat is to kitten as dog is to", f"{accepted[0]} , a sad one : cat is to kitten as dog is to"]
    )
    return prompt, text, accepted


def once(word: str) -> str:
    """The word without its doubled letters: another one, or the same."""
    return "".join(letter for letter, _ in groupby(word))


def filled(frame: str, word: str) -> str:
    half = len(word) // 2 + 1
    return frame.format(
        a=word, b="kitten", A=word.capitalize(), U=word.upper(), half=word[:half], rest=word[half:], once=once(word)
    )


def boundary() -> list[Case]:
    cases = []
    for accepted in (["puppy"], ["sad", "unhappy"]):
        for text in [*(filled(frame, accepted[-1]) for frame in (*FRAMES, *JOINED)), *HOSTILE]:
            cases.append({"prompts": ["dog is to"], "completions": [text], "answers": [accepted]})
    prompts, answers = ["dog is to", "glad is to"], [["puppy"], ["sad"]]
    exchanged = {"prompts": prompts, "completions": [" sad", " puppy"], "answers": answers}
    return [*cases, exchanged]


def has_one_first_word(text: str) -> bool:
    """True where a space, of which the page speaks, ends the first word, and not another blank."""
    return text.split()[:1] == text.strip().split(" ")[:1] or not text.strip()


EXERCISE = Exercise(
    name="first-word reward",
    function="exact_reward",
    contract="`f(prompts, completions, answers) -> list of floats`: 1.0 where the first word is one of the row's "
    "answers.",
    steps=STEPS,
    arguments={"prompts": Texts("B", always_shown=False), "completions": Texts("B"), "answers": Things("B")},
    result=Floats(),
    draw=draw,
    boundary=boundary,
    valid=lambda case: all(map(has_one_first_word, case["completions"])),
)
