"""A reward is held against its author's cases, hostile texts, a batch and other prompts."""

import pytest

from shared.exercises.drawing import HOSTILE
from shared.exercises.own_task.reward import in_words, judge_reward, verdict_on_reward

ROW = {"prompt": "2 + 3 =", "answer": "5"}
OTHER = {"prompt": "4 + 4 =", "answer": "8"}
CASES = [(ROW, " 6", 0.0), (OTHER, " 8", 1.0), (ROW, " 5", 0.75)]
SCORES = {("8", "8"): 1.0, ("5", "5"): 0.75}


def right(prompts, completions, answer):
    return [SCORES.get((wanted, text.strip()), 0.0) for text, wanted in zip(completions, answer)]


def asked_of(judge, function, cases=CASES) -> tuple:
    """The sentence about a reward, and the numbers under which it was asked."""
    numbers = []
    return judge(judge_reward, function, cases, numbers.append), numbers


def test_a_right_reward_is_asked_everything(flaw):
    """Catches a question that is left out, and an input that nobody finds again by its number."""
    said, numbers = asked_of(flaw, right)
    last = len(CASES) + len(HOSTILE)
    assert said == "" and numbers == [*range(last), last, last]
    text, names = judge_reward(right, lambda: CASES, lambda number: None)
    assert names == [] and text.startswith("right in your 3 cases") and f" {len(HOSTILE)} hostile texts" in text


def test_a_warning_stands_below_the_text_and_is_named():
    text, names = judge_reward(lambda prompts, completions, answer: [float("8" in c) for c in completions],
                               [(ROW, " 6", 0.0), (OTHER, " 8", 1.0)], lambda number: None)  # fmt: skip
    assert names == ["one for all"] and text.startswith("right in your 2 cases")
    assert text.split("\n")[1].startswith("Beware: '8' earns")


def test_the_case_that_a_reward_disagrees_in_is_shown(flaw):
    """Catches the numbers of another case, and which of the two is whose."""
    said, numbers = asked_of(flaw, lambda prompts, completions, answer: [0.25] * len(completions))
    assert numbers == [0] and "prompt '2 + 3 ='" in said and "completion ' 6'" in said
    assert "it gives 0.25, and you expect 0" in said


def test_a_difference_within_rounding_is_none(flaw):
    """Catches a right reward refused for the last digit of a float, and a wrong one that is near."""

    def off_by(little):
        return lambda prompts, completions, answer: [little + r for r in right(prompts, completions, answer)]

    assert asked_of(flaw, off_by(1e-8))[0] == "" and "it disagrees" in asked_of(flaw, off_by(1e-4))[0]


def test_a_hostile_text_that_a_reward_does_not_bear_is_told(flaw):
    def reads_a_number(prompts, completions, answer):
        return right(prompts, [str(int(text)) for text in completions], answer)

    said, numbers = asked_of(flaw, reads_a_number)
    assert said.startswith("it raised ValueError") and numbers == [0, 1, 2, 3]


@pytest.mark.parametrize("cases", [CASES, CASES[::-1]], ids=["as listed", "the other way round"])
def test_a_reward_that_looks_at_its_neighbours_is_told(flaw, cases):
    """Catches a batch tried in one order alone, and an answer that goes with the place."""

    def sorts(prompts, completions, answer):
        return sorted(right(prompts, completions, answer))

    said, numbers = asked_of(flaw, sorts, cases)
    assert said.startswith("completion ' ") and "in a batch" in said and numbers[-1] == len(cases) + len(HOSTILE)


def test_what_a_completion_earns_in_a_batch_is_told_beside_what_it_earns_alone(flaw):
    def halves(prompts, completions, answer):
        return [reward / min(2, len(completions)) for reward in right(prompts, completions, answer)]

    assert asked_of(flaw, halves)[0].startswith("completion ' 8' earns 1 alone and 0.5 in a batch.")


def test_a_prompt_that_is_paid_for_is_told(flaw):
    """Catches a reward that the user's own text earns."""

    def reads_the_prompt(prompts, completions, answer):
        return [max(r, float(" 8" in p)) for r, p in zip(right(prompts, completions, answer), prompts)]

    said, numbers = asked_of(flaw, reads_the_prompt)
    assert said.startswith("it reads the prompt: completion ' 6' earns 0, and 1 after prompt ' 8'.")
    assert numbers[-1] == len(CASES) + len(HOSTILE)

    def knows_its_prompts(prompts, completions, answer):
        return [r * (" + " in p or p == " 8") for r, p in zip(right(prompts, completions, answer), prompts)]

    assert "earns 1, and 0 after prompt 'another prompt'" in asked_of(flaw, knows_its_prompts)[0]


def test_an_input_is_found_by_its_number():
    """Catches an endless reward of which another input is shown, or an error of the check's own at the last one."""
    said = [in_words(CASES, number) for number in range(len(CASES) + len(HOSTILE) + 1)]
    assert said[:3] == ["completion ' 6'", "completion ' 8'", "completion ' 5'"]
    assert all(words.startswith("completion ") for words in said[:-1]) and "<think>" in "".join(said)
    assert said[-1].startswith("your cases") and in_words(lambda: CASES, 0) == said[0]


def test_the_verdict_is_on_the_reward_and_says_what_was_going_on(judgements):
    verdict = verdict_on_reward(right, lambda: CASES)
    assert verdict.passed and verdict.line.startswith("✓ reward function: right in your 3 cases")
    assert verdict.cases == len(CASES) + len(HOSTILE) + 2
    ((judgement, progress),) = judgements
    assert judgement.in_words(progress.case).startswith("your cases")


def test_cases_that_say_nothing_are_refused(flaw):
    assert "all alike" in asked_of(flaw, right, CASES[:1])[0]
