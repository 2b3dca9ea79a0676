"""Slips of what is read: whose text, and which line of it."""

from shared.exercises.steps import Slips

SLIPS = Slips()


@SLIPS.slip(
    "texts",
    "Your reward reads the prompt as well: what the user wrote can earn it, whatever the model says. Look at the "
    "completion only.",
)
def prompt_read_as_well(prompts, completions):
    return [prompt + completion for prompt, completion in zip(prompts, completions)]


@SLIPS.slip(
    "texts", "Your reward reads the prompt instead of the completion: every completion to a prompt earns the same."
)
def prompt_read_instead(prompts):
    return prompts


@SLIPS.slip("texts", "Only the first completion is read. Go through all of them: one reward for each.")
def first_completion_for_all(completions):
    return [completions[0]] * len(completions)


@SLIPS.slip(
    "lines",
    'White space matters to your comparison: " 3" and "3\\n" are right answers, and sampled text nearly always starts '
    "with a space. Strip before comparing.",
)
def white_space_matters(texts):
    return [(text.splitlines() or [""])[0] for text in texts]


@SLIPS.slip(
    "lines",
    "The line itself is not stripped: a space behind the number, before the line ends, makes a right answer wrong.",
)
def line_not_stripped(texts):
    return [(text.strip().splitlines() or [""])[0] for text in texts]


@SLIPS.slip(
    "lines",
    'A completion that begins with an empty line earns nothing: "\\n3" is right. Strip the completion before you take its '
    "first line.",
)
def empty_first_line_read(texts):
    return [(text.splitlines() or [""])[0].strip() for text in texts]


@SLIPS.slip(
    "lines",
    "The whole completion has to be the answer, and a model that goes on after the line with the right number gets "
    "nothing. Compare the first line only.",
)
def whole_completion(texts):
    return [text.strip() for text in texts]


@SLIPS.slip("lines", "The last line is compared. Compare the first: what follows may be chatter.")
def last_line(texts):
    return [(text.strip().splitlines() or [""])[-1].strip() for text in texts]


@SLIPS.slip(
    "lines",
    "Any line may hold the answer: a completion that lists all numbers, one a line, is paid. Compare the first line.",
)
def any_line(texts, wanted):
    found = []
    for text, answer in zip(texts, wanted):
        stripped = [line.strip() for line in text.strip().splitlines()] or [""]
        found.append(answer if answer in stripped else stripped[0])
    return found


@SLIPS.slip(
    "lines",
    'Only the first word is compared: "3 or 4" and "3 dots" pass. The whole first line has to be the answer.',
)
def first_word_only(texts):
    return [(text.split() or [""])[0] for text in texts]


@SLIPS.slip("lines", 'Full stops are taken off: "3." is not the answer and nothing else. Strip white space only.')
def punctuation_stripped(lines):
    return [line.strip(".,;:!?") for line in lines]


@SLIPS.slip(
    "lines", "An empty completion raises IndexError: its list of lines is empty. Look whether there is a first line."
)
def empty_completion_raises(texts):
    return [text.strip().splitlines()[0].strip() for text in texts]
