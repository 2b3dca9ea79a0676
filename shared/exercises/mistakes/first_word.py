"""Wrong exact-match rewards: `f(prompts, responses, answers) -> list of floats`, answers a list of words for each row.

Right is 1.0 where the first word of the response, without punctuation and capitals, is one of the accepted words.
"""

from shared.exercises.mistakes import Mistakes

MISTAKES = Mistakes()
PUNCTUATION = ".,;:!?\"'()"


def _first(text: str) -> str:
    return (text.split() or [""])[0].strip(PUNCTUATION).casefold()


@MISTAKES.known(
    "A response passes when an accepted word occurs anywhere in it, even inside another word. The model then learns to "
    "list words. Compare the first word only."
)
def found_anywhere(prompts, responses, answers):
    return [float(any(a in r.casefold() for a in accepted)) for r, accepted in zip(responses, answers)]


@MISTAKES.known(
    "Any word of the response may be the right one: a list of guesses is paid. Compare the first word only."
)
def any_word(prompts, responses, answers):
    return [
        float(any(w.strip(PUNCTUATION).casefold() in accepted for w in r.split()))
        for r, accepted in zip(responses, answers)
    ]


@MISTAKES.known(
    "Your reward reads the prompt as well: a word that the user wrote can earn it. Look at the response only."
)
def prompt_read_as_well(prompts, responses, answers):
    return [
        float(any(w in accepted for w in (p + r).casefold().split()))
        for p, r, accepted in zip(prompts, responses, answers)
    ]


@MISTAKES.known(
    'Capitals matter to your comparison: "Puppy" is a right answer at the start of a line. Compare `casefold()`ed words.'
)
def capitals_matter(prompts, responses, answers):
    return [float((r.split() or [""])[0].strip(PUNCTUATION) in accepted) for r, accepted in zip(responses, answers)]


@MISTAKES.known('Punctuation stays on the word: "puppy." is not found among the answers. Strip it from both ends.')
def punctuation_stays(prompts, responses, answers):
    return [float((r.casefold().split() or [""])[0] in accepted) for r, accepted in zip(responses, answers)]


@MISTAKES.known(
    'The whole response has to be the word: a right answer that goes on ("puppy, of course") gets nothing. The task '
    "asks for the first word."
)
def whole_response(prompts, responses, answers):
    return [float(r.strip().strip(PUNCTUATION).casefold() in accepted) for r, accepted in zip(responses, answers)]


@MISTAKES.known("Only the first accepted word counts. Each row has a list of answers, and every one of them is right.")
def first_answer_only(prompts, responses, answers):
    return [float(_first(r) == accepted[0]) for r, accepted in zip(responses, answers)]


@MISTAKES.known(
    "The beginning of a word is enough: your test is `startswith`, or `in` on a string instead of on the list of "
    'answers. "pup" and "puppyish" are not "puppy".'
)
def beginning_is_enough(prompts, responses, answers):
    return [
        float(any(_first(r).startswith(a) or (_first(r) and a.startswith(_first(r))) for a in accepted))
        for r, accepted in zip(responses, answers)
    ]


@MISTAKES.known("You compare the last word of the response. The task asks for the first: what follows may be chatter.")
def last_word(prompts, responses, answers):
    return [
        float((r.split() or [""])[-1].strip(PUNCTUATION).casefold() in accepted)
        for r, accepted in zip(responses, answers)
    ]
