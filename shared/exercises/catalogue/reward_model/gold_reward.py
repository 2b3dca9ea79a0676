"""A reward to hide: `gold_reward(prompts, completions, **columns) -> list of floats`, minus |words per sentence - 6|."""

import re

from shared.exercises.arguments import Texts
from shared.exercises.catalogue.common.every_reward import (
    FIRST_LINE_ALONE,
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

STEPS = Steps()
EACH_SENTENCE = (
    "The distance is taken for each sentence and averaged. Take it once, of the mean number of words by sentence."
)


STEPS.step(texts)


@STEPS.step
def sentences(texts):
    """Full stops; a text without one is a sentence that goes on."""
    return [max(1, text.count(".")) for text in texts]


@STEPS.step
def words(texts):
    return [len(text.replace(".", " ").split()) for text in texts]


@STEPS.step
def per_sentence(words, sentences):
    return [many / few for many, few in zip(words, sentences)]


@STEPS.step
def distances(per_sentence):
    return [abs(length - 6) for length in per_sentence]


@STEPS.step
def rewards(distances):
    return [float(-distance) for distance in distances]


STEPS.add(*REWARD_SLIPS.named("prompt_read_as_well", "prompt_read_instead"), FIRST_LINE_ALONE)


@STEPS.slip("sentences", "You count the pieces between full stops, which are one more than the full stops.")
def pieces_counted(texts):
    return [len(text.split(".")) for text in texts]


@STEPS.slip("sentences", "The number of sentences does not count in yours: divide the words by it.")
def one_sentence(texts):
    return [1] * len(texts)


@STEPS.slip("words", "You count letters. Asked for are words.")
def letters_counted(texts):
    return [len(text) for text in texts]


@STEPS.slip("words", "Full stops glue words together in yours, or count as words: make them blanks before `split`.")
def full_stops_kept(texts):
    return [len(text.split()) for text in texts]


@STEPS.slip("per_sentence", "You divide sentences by words. Asked for are words by sentence.")
def upside_down(words, sentences):
    return [few / max(1, many) for many, few in zip(words, sentences)]


@STEPS.slip("per_sentence", "You round down: `//` in place of `/`.")
def rounded_down(words, sentences):
    return [many // few for many, few in zip(words, sentences)]


@STEPS.slip("distances", "The absolute value is missing: sentences that are too long would be paid without bound.")
def absolute_value_missing(per_sentence):
    return [6 - length for length in per_sentence]


@STEPS.slip("distances", "You square the distance. Asked for is the distance itself.")
def squared(per_sentence):
    return [(length - 6) ** 2 for length in per_sentence]


@STEPS.slip("distances", "The six is missing: you pay for the shortest sentences.")
def six_missing(per_sentence):
    return [abs(length) for length in per_sentence]


@STEPS.slip("rewards", "The sign is missing: the further from six, the lower the reward.")
def sign_missing(distances):
    return [float(distance) for distance in distances]


STEPS.add(SAME_FOR_ALL, RETURNED_TOO_EARLY)


SAID = (
    " was tired and walked to the harbour.",
    " slept. he sang to the old dog. it was late.",
    " walked",
    "",
    "." * 20,
    " went to the church, but it",
    " slept.he sang",
    " slept.he sang.",
    " slept. . he sang",
    " opened a box because the wind was strong and the night was long.",
    " slept.\nhe sang to the old dog.",
)


@STEPS.slip("words", 'Full stops are deleted: "slept.she" is then one word. Make them blanks before `split`.')
def full_stops_deleted(texts):
    return [len(text.replace(".", "").split()) for text in texts]


@STEPS.slip(
    "sentences",
    "You count the pieces with words in them: an unfinished end is a sentence then, and a bare full stop is none. Count "
    "the full stops.",
)
def pieces_with_words(texts):
    return [max(1, sum(bool(piece.strip()) for piece in text.split("."))) for text in texts]


@STEPS.slip(
    "words", "You split at each single blank, and empty texts count as words: `split()` without an argument drops them."
)
def empty_words_counted(texts):
    return [len(text.replace(".", " ").split(" ")) for text in texts]


@STEPS.slip(
    "sentences", "A completion without a full stop divides by 0: there is at least one sentence, `max(1, ...)`."
)
def no_sentence(texts):
    return [text.count(".") for text in texts]


@STEPS.slip("distances", EACH_SENTENCE)
def each_sentence_by_itself(texts):
    found = []
    for text in texts:
        lengths = [len(piece.split()) for piece in text.split(".") if piece.strip()] or [0]
        found.append(sum(abs(length - 6) for length in lengths) / len(lengths))
    return found


@STEPS.slip("distances", EACH_SENTENCE)
def each_piece_by_itself(texts):
    found = []
    for text in texts:
        lengths = [len(piece.split()) for piece in text.split(".")]
        if len(lengths) > 1 and lengths[-1] == 0:
            lengths.pop()
        found.append(sum(abs(length - 6) for length in lengths) / len(lengths))
    return found


@STEPS.slip("distances", EACH_SENTENCE)
def each_piece_before_the_last_stop(texts):
    found = []
    for text in texts:
        lengths = [len(piece.split()) for piece in text.removesuffix(".").split(".")]
        found.append(sum(abs(length - 6) for length in lengths) / len(lengths))
    return found


@STEPS.slip(
    "words",
    'Runs of letters count as words: "don\'t" is two of them then, and 12 is none. A word is what `split` leaves between '
    "blanks.",
)
def runs_of_letters(texts):
    return [len(re.findall(r"[A-Za-z]+", text)) for text in texts]


@STEPS.slip("rewards", "An empty completion earns 0 in yours, the most there is. It has no words: -6.")
def nothing_for_the_empty(distances, texts):
    return [float(-distance) if text.strip() else 0.0 for distance, text in zip(distances, texts)]


@STEPS.slip(
    "words", "The text is stripped and split at each single blank: two in a row make an empty word. Use `split()`."
)
def stripped_and_split_at_blanks(texts):
    return [len(text.strip().replace(".", " ").split(" ")) for text in texts]


@STEPS.slip("rewards", "The reward is 6 less the distance. Minus the distance is asked for, at most 0.")
def six_less_the_distance(distances):
    return [6.0 - distance for distance in distances]


@STEPS.slip("rewards", "The distance is divided by six. Asked for is the distance itself.")
def relative(distances):
    return [-distance / 6 for distance in distances]


@STEPS.slip("rewards", "A completion without words earns 0 in yours, the most there is. It is six words away: -6.")
def nothing_without_words(distances, words):
    return [float(-distance) if many else 0.0 for distance, many in zip(distances, words)]


@STEPS.slip("distances", EACH_SENTENCE)
def the_end_with_the_last_piece(texts):
    found = []
    for text in texts:
        *pieces, rest = text.split(".")
        pieces = [*pieces[:-1], f"{pieces[-1]} {rest}"] if pieces else [rest]
        found.append(sum(abs(len(piece.split()) - 6) for piece in pieces) / len(pieces))
    return found


@STEPS.slip("rewards", "The absolute value is missing: the shorter a sentence is, the more is paid, six words or none.")
def shorter_is_better(per_sentence):
    return [6 - length for length in per_sentence]


@STEPS.slip("distances", EACH_SENTENCE)
def each_ended_sentence_by_itself(texts):
    found = []
    for text in texts:
        lengths = [len(piece.split()) for piece in text.split(".")[:-1] or [text]]
        found.append(sum(abs(length - 6) for length in lengths) / len(lengths))
    return found


@STEPS.slip(
    "rewards",
    "You go through the prompts as well: where a later cell hands over none, nothing comes back. Go through the "
    "completions alone.",
)
def as_many_as_prompts(distances, prompts):
    return [float(-distance) for distance, _ in zip(distances, prompts)]


def draw(draw: Draw) -> Case:
    B = draw.size()
    said = [draw.choice(HOSTILE) if draw.random() < 0.1 else _text(draw) for _ in range(B)]
    said = said[:1] * B if draw.random() < 0.1 else said
    return {"prompts": draw.some(["the old sailor", "the cat. it", "she"], B), "completions": said}


def _text(draw: Draw) -> str:
    return "".join(
        draw.some([".", " he", " word", " boat", ", and", " was late.", " the", "\n"], draw.choice([1, 4, 9, 16]))
    )


def boundary() -> list[Case]:
    """Each text; then one without a prompt, as a later cell of the notebook asks."""
    cases = [{"prompts": ["the old sailor"], "completions": [text]} for text in (*SAID, *HOSTILE, "it was late. " * 12)]
    return [*cases, {"prompts": [], "completions": [SAID[0]]}]


EXERCISE = Exercise(
    name="reward for sentences of six words",
    function="gold_reward",
    contract="`f(prompts, completions, **columns) -> list of floats`, minus the distance of words per sentence from six.",
    steps=STEPS,
    arguments={"prompts": Texts("B", always_shown=False), "completions": Texts("B")},
    result=Floats(),
    draw=draw,
    boundary=boundary,
    call=as_score_calls,
)
