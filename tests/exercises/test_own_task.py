"""Checks of rows, cases, a reward and a task of one's own, of which no reference is known."""

import random

import pytest
import torch

from shared import check
from shared.exercises.own_task import graded
from shared.exercises.own_task.cases import verdict_on_cases
from shared.exercises.own_task.learnable import verdict_on_task
from shared.exercises.own_task.reward import verdict_on_reward
from shared.exercises.own_task.rows import LEAST_EVALUATION, verdict_on_rows
from shared.tasks import addition, analogies, countdown, dots, poker, sentences
from shared.tasks.split import split_of

pytestmark = pytest.mark.usefixtures("patient_judge")

ROW = {"prompt": "2 + 3 =", "answer": "5"}
OTHER = {"prompt": "4 + 4 =", "answer": "8"}
CASES = [(ROW, " 5", 1.0), (ROW, " 6", 0.0), (OTHER, " 8", 1.0), (OTHER, " 5", 0.0), (ROW, "", 0.0)]


def right(prompts, completions, answer, **columns):
    return [float(text.strip() == wanted) for text, wanted in zip(completions, answer)]


def reads_the_prompt(prompts, completions, answer, **columns):
    return [float((p + c).endswith(a)) for p, c, a in zip(prompts, completions, answer)]


def raises_on_the_empty_text(prompts, completions, answer, **columns):
    return [float(text.split()[0] == wanted) for text, wanted in zip(completions, answer)]


def integers(prompts, completions, answer, **columns):
    return [int(text.strip() == wanted) for text, wanted in zip(completions, answer)]


def not_a_number(prompts, completions, answer, **columns):
    return [float(text.strip() == wanted) if text else float("nan") for text, wanted in zip(completions, answer)]


def one_too_few(prompts, completions, answer, **columns):
    return right(prompts, completions, answer)[1:]


def changes_its_input(prompts, completions, answer, **columns):
    completions[:] = [text.strip() for text in completions]
    return right(prompts, completions, answer)


def relative_to_the_batch(prompts, completions, answer, **columns):
    found = right(prompts, completions, answer)
    return [reward if len(found) == 1 else reward / len(found) for reward in found]


def knows_the_order(prompts, completions, answer, **columns):
    return sorted(right(prompts, completions, answer), reverse=True)


def by_chance(prompts, completions, answer, **columns):
    return [float(text.strip() == wanted) + 0.1 * random.random() for text, wanted in zip(completions, answer)]


def first_answer_for_all(prompts, completions, answer, **columns):
    return right(prompts, completions, answer[:1] * len(completions))


def everything_is_right(prompts, completions, answer, **columns):
    return [1.0] * len(completions)


def grows_tired(prompts, completions, answer, **columns):
    grows_tired.calls += 1
    return [float(text.strip() == wanted and grows_tired.calls < 33) for text, wanted in zip(completions, answer)]


grows_tired.calls = 0


def sums_up(prompts, completions, answer, **columns):
    return sum(right(prompts, completions, answer))


def nothing_returned(prompts, completions, answer, **columns):
    right(prompts, completions, answer)


def without_columns(prompts, completions):
    return [1.0 for _ in completions]


def executes_it(prompts, completions, answer, **columns):
    return [float(str(eval(text)) == wanted) for text, wanted in zip(completions, answer)]


def a_generator(prompts, completions, answer, **columns):
    yield from right(prompts, completions, answer)


def not_filled_in(prompts, completions, answer, **columns):
    raise NotImplementedError


def ends_the_process(prompts, completions, answer, **columns):
    if completions[0] == "":
        raise SystemExit
    return right(prompts, completions, answer)


def endless(prompts, completions, answer, **columns):
    while True:
        pass


WRONG = {
    reads_the_prompt: "it reads the prompt",
    raises_on_the_empty_text: "it raised IndexError",
    integers: "integers where floats",
    not_a_number: "nan",
    one_too_few: "rewards",
    changes_its_input: "changes its arguments",
    relative_to_the_batch: "in a batch",
    by_chance: "it disagrees with you",
    first_answer_for_all: "in a batch",
    everything_is_right: "it disagrees with you",
    grows_tired: "in a batch",
    sums_up: "return a list",
    nothing_returned: "Is the `return` missing?",
    without_columns: "unexpected keyword argument",
    executes_it: "it raised SyntaxError",
    a_generator: "generator",
    not_filled_in: "it is not filled in yet.",
    ends_the_process: "it raised SystemExit",
}


def test_a_right_reward_passes(capsys):
    check.reward_function(right, CASES)
    assert capsys.readouterr().out.startswith("✓ reward function: right in your 5 cases")


@pytest.mark.parametrize("function", WRONG, ids=lambda function: function.__name__)
def test_each_wrong_reward_is_told(function):
    """Catches a reward that trains something else, and one that ends a training run at its first odd completion."""
    verdict = verdict_on_reward(function, CASES)
    assert not verdict.passed
    assert WRONG[function] in verdict.text


def test_a_reward_that_never_ends_is_interrupted(monkeypatch):
    monkeypatch.setattr("shared.exercises.process.CASE_LIMIT", 0.3)
    verdict = verdict_on_reward(endless, CASES)
    assert "does not return" in verdict.text and "completion ' 5'" in verdict.text


def test_what_a_reward_does_stays_in_the_child():
    """Catches a check after which the notebook's own variables are others."""
    seen = []

    def keeps_what_it_saw(prompts, completions, answer, **columns):
        seen.extend(completions)
        return right(prompts, completions, answer)

    assert verdict_on_reward(keeps_what_it_saw, CASES).passed
    assert seen == []


@pytest.mark.parametrize("cases", [[(ROW, " 5", 1.0)], [(ROW, " 5")], [({"answer": "5"}, " 5", 1.0)], []])
def test_cases_that_say_nothing_are_refused(cases):
    """Catches a tick for a reward that is only known to pay, and a raw traceback for cases of another form."""
    assert not verdict_on_reward(right, cases).passed


def contains(prompts, completions, answer, **columns):
    return [float(wanted in text) for text, wanted in zip(completions, answer)]


def counts(prompts, completions, answer, **columns):
    return [float(text.count(wanted)) for text, wanted in zip(completions, answer)]


def one_word_for_all(prompts, completions, answer, **columns):
    return [float("sum" in text) for text in completions]


WORDS = [(ROW, " a sum", 1.0), (OTHER, " the sum", 1.0), (ROW, " five", 0.0)]


@pytest.mark.parametrize(
    ("function", "cases", "warned"),
    [
        (right, CASES, ()),
        (contains, CASES, ("pays for all at once",)),
        (contains, [*CASES, (ROW, " 5 8", 1.0)], ("one for all",)),
        (counts, CASES, ("pays for all at once", "pays for repeating")),
        (one_word_for_all, WORDS, ("pays for all at once", "one for all")),
    ],
    ids=["nothing to game", "all answers at once", "thought of", "repeated", "one for all prompts"],
)
def test_how_a_reward_can_be_gamed_is_said_before_training(function, cases, warned):
    """Catches a reward that is right in every case its author thought of, and pays for saying everything."""
    verdict = verdict_on_reward(function, cases)
    assert verdict.passed
    assert verdict.slips == warned
    assert verdict.text.count("Beware") == len(warned)


def listing(*cases):
    return lambda: list(cases)


GOOD_AND_BAD = (*CASES, (OTHER, " five", 0.0))


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (listing(*CASES[:2]), "1 cases earn the most (1) and 1 earn less"),
        (listing(*[(ROW, *case[1:]) for case in GOOD_AND_BAD]), "about one prompt"),
        (listing(*[case for case in GOOD_AND_BAD if case[1]], (OTHER, " 9", 0.0)), "the empty completion"),
        (listing(*GOOD_AND_BAD, (ROW, " 6", 1.0)), "earns 0 in one case and 1 in another"),
        (listing(*GOOD_AND_BAD, (ROW, " 6")), "case 7 is not of the form"),
        (listing(*GOOD_AND_BAD, (ROW | {"hint": ""}, " 7", 0.0)), "other columns"),
        (lambda: None, "Is the `return` missing?"),
        (lambda: not_filled_in([], [], []), "not filled in yet"),
        (lambda: 1 / 0, "raised ZeroDivisionError"),
    ],
)
def test_cases_that_leave_something_open_are_told(function, told):
    """Catches a reward that is held against cases which no wrong one fails."""
    verdict = verdict_on_cases(function)
    assert not verdict.passed
    assert told in verdict.text


def test_good_and_bad_cases_pass(capsys):
    check.cases(listing(*GOOD_AND_BAD))
    assert capsys.readouterr().out == "✓ cases: 2 good and 4 bad ones, for 2 prompts.\n"


def sums(split, n, seed):
    chance = random.Random(f"{split} {seed}")
    pairs = [(a, b) for a in range(40) for b in range(40) if split_of(f"{a} {b}") == split]
    return [{"prompt": f"{a} + {b} =", "answer": str(a + b)} for a, b in chance.sample(pairs, n)]


def without_a_return(split, n, seed):
    sums(split, n, seed)


def too_few(split, n, seed):
    return sums(split, min(n, 20), seed)


def the_same_again(split, n, seed):
    return sums(split, 1, seed) * n


def from_common_chance(split, n, seed):
    return sums(split, n, random.randrange(10**9))


def the_seed_ignored(split, n, seed):
    return sums(split, n, 0)


def no_split(split, n, seed):
    return sums("train", n, seed + (split == "eval") * 100)


def split_by_the_seed(split, n, seed):
    rows = sums("train", 200, seed)
    return rows[:n] if split == "train" else rows[-n:]


def other_columns_held_out(split, n, seed):
    return [{"prompt": row["prompt"]} if split == "eval" else row for row in sums(split, n, seed)]


def a_set_in_a_column(split, n, seed):
    return [row | {"answer": {row["answer"]}} for row in sums(split, n, seed)]


def a_taken_name(split, n, seed):
    return [row | {"completions": ""} for row in sums(split, n, seed)]


def no_prompt(split, n, seed):
    return [{"question": row["prompt"]} for row in sums(split, n, seed)]


def refuses(split, n, seed):
    raise ValueError("only 20 rows exist")


WRONG_ROWS = {
    without_a_return: "Is the `return` missing?",
    too_few: "it gives 20 rows for split",
    the_same_again: "only 1 of 100 prompts are different",
    from_common_chance: "when it is called again",
    the_seed_ignored: "the seed changes nothing",
    no_split: "trained on and held out",
    split_by_the_seed: "trained on and held out",
    other_columns_held_out: "has the columns ['prompt'], and 'train' has",
    a_set_in_a_column: "a data set cannot keep it",
    a_taken_name: "which the reward gets already",
    no_prompt: "no text under 'prompt'",
    refuses: "it raised ValueError: only 20 rows exist for split",
}
TWO = ("train", "eval")


@pytest.mark.parametrize("function", WRONG_ROWS, ids=lambda function: function.__name__)
def test_rows_that_cannot_be_trusted_are_told(function):
    """Catches a held-out set that is trained on under another seed, and a run that cannot be repeated."""
    verdict = verdict_on_rows(function, TWO)
    assert not verdict.passed
    assert WRONG_ROWS[function] in verdict.text


@pytest.mark.parametrize("make", [sums, *(t.dataset for t in (addition, analogies, countdown, dots, poker, sentences))])
def test_rows_as_they_should_be_pass(make):
    """Catches a check that asks for more than the course's own tasks do."""
    verdict = verdict_on_rows(make, TWO)
    assert verdict.passed, verdict.text


def test_a_reward_that_depends_on_its_place_is_found_where_the_cases_stand_right_ones_first():
    """Catches cases that are tried in the order in which they were written, and in no other."""
    right_ones_first = sorted(CASES, key=lambda case: -case[2])
    verdict = verdict_on_reward(knows_the_order, right_ones_first)
    assert not verdict.passed and "in a batch" in verdict.text
    assert verdict_on_reward(right, right_ones_first).passed


def test_a_prompt_that_comes_twice_by_chance_is_warned_of():
    """Catches a check that refuses one double in a hundred rows, which nobody asked to avoid."""

    def with_a_double(split, n, seed):
        rows = sums(split, n, seed)
        return [*rows[:-1], rows[0]]

    verdict = verdict_on_rows(with_a_double, TWO)
    assert verdict.passed and verdict.slips == ("doubles",)
    assert verdict.text.endswith("6 prompts come twice, which is no more evidence.")


def test_a_split_that_is_not_there_is_told(capsys):
    check.rows(sums)
    assert 'for split "new", n 30, seed 0' in capsys.readouterr().out


def named_in(cases, function, name=graded.CASES[-1]):
    """The function as grading finds it: in a program beside the function that lists its cases."""
    variables = {graded.CASES[-1]: listing(*GOOD_AND_BAD), name: cases, "inner": function}
    exec("def reward(**given):\n    return inner(**given)", variables)
    return variables["reward"]


@pytest.mark.parametrize(
    ("check_name", "function", "said"),
    [
        ("cases", listing(*GOOD_AND_BAD), ""),
        ("cases", listing(*CASES[:2]), "List at least"),
        ("rows", sums, 'for split "new"'),
        ("reward_function", named_in(listing(*GOOD_AND_BAD), right), ""),
        ("reward_function", named_in(listing(*GOOD_AND_BAD), reads_the_prompt), "it reads the prompt"),
        ("reward_function", named_in(listing(*GOOD_AND_BAD, (ROW, " 5 8", 0.0)), contains, "all_cases"), "disagrees"),
        ("reward_function", right, "there is no function `good_and_bad_cases`"),
    ],
)
def test_grading_gets_the_same_as_a_sentence(check_name, function, said):
    """Catches points for what the notebook's own check refuses."""
    (case,) = graded.BY_CHECK[check_name].cases(seed=7)
    found = graded.BY_CHECK[check_name].call(function, case)
    assert (found == "") == (said == "") and said in found


TRAIN = [{"prompt": f"{n} + 1 =", "answer": str(n + 1)} for n in range(60)]
HELD_OUT = [{"prompt": f"{n} + 2 =", "answer": str(n + 2)} for n in range(LEAST_EVALUATION)]
MIXED = torch.tensor([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])


def test_a_task_that_can_be_learnt_passes(capsys):
    check.task(TRAIN, HELD_OUT, MIXED)
    assert capsys.readouterr().out.startswith("✓ task: 60 training and 30 held-out rows; base reward 0.500")


@pytest.mark.parametrize(
    ("train_rows", "eval_rows", "rewards", "told"),
    [
        (TRAIN, [*HELD_OUT, TRAIN[0]], MIXED, "trained on and held out"),
        (TRAIN, HELD_OUT[:5], MIXED, "only 5 different prompts"),
        (TRAIN, [*HELD_OUT[:5]] * 10, MIXED, "only 5 different prompts"),
        (TRAIN, [{"prompt": row["prompt"]} for row in HELD_OUT], MIXED, "have the columns"),
        ([*TRAIN, {"question": "?"}], HELD_OUT, MIXED, "row 60 has no text"),
        ([], HELD_OUT, MIXED, "missing"),
        (TRAIN, HELD_OUT, torch.zeros(20, 8), "never sampled"),
        (TRAIN, HELD_OUT, torch.tensor([[1.0] + [0.0] * 7] + [[0.0] * 8] * 199), "hardly a group holds"),
        (TRAIN, HELD_OUT, torch.zeros(0, 8), "are none"),
        (None, HELD_OUT, MIXED, "training rows are no list"),
        (TRAIN, HELD_OUT, torch.ones(20, 8), "nothing left to learn"),
        (TRAIN, HELD_OUT, torch.tensor([[1.0, 1.0], [0.0, 0.0]] * 10), "groups have a spread"),
        (TRAIN, HELD_OUT, torch.tensor([[1.0, torch.nan]]), "not finite"),
        (TRAIN, HELD_OUT, torch.zeros(8), "no tensor (N, G)"),
    ],
)
def test_why_a_task_will_not_learn_is_told_before_training(train_rows, eval_rows, rewards, told):
    """Catches hours of training on a task whose rewards never differ, or whose result is remembered."""
    verdict = verdict_on_task(train_rows, eval_rows, rewards)
    assert not verdict.passed
    assert told in verdict.text


@pytest.mark.parametrize("rows", [TRAIN[:5], HELD_OUT[:5]], ids=["trained on", "held out"])
def test_validation_rows_are_a_third_set(rows):
    """Catches a setting that is chosen on the rows it is then praised for."""
    verdict = verdict_on_task(TRAIN, HELD_OUT, MIXED, rows)
    assert not verdict.passed and "third set" in verdict.text
