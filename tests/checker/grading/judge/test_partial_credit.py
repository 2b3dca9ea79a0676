"""Points for a function that is right in some hidden cases: in proportion, and nothing for what anybody would get."""

import pytest

from checker.grading.box.inside import exchange
from checker.grading.judge.oracle.partial_credit import by_one_answer, counted, plain, share


def test_all_right_is_all_and_what_one_answer_gets_is_nothing():
    """Catches points for `return 0.0`, which of some exercises is right in three cases of four."""
    assert (share(8, 8, 0), share(5, 8, 0), share(0, 8, 0)) == (1.0, 5 / 8, 0.0)
    assert (share(173, 173, 136), share(136, 173, 136), share(20, 173, 136)) == (1.0, 0.0, 0.0)
    assert share(8, 8, 8) == 0.0


def test_the_answer_that_is_right_most_often_is_found():
    """Catches zeros of two shapes taken for two answers, and one case each taken for a common answer."""
    torch = pytest.importorskip("torch")
    zeros = [torch.zeros(2, 3), torch.zeros(4), torch.tensor(-0.0)]
    assert by_one_answer([*zeros, torch.ones(2), torch.arange(3.0)]) == 3
    assert by_one_answer([torch.arange(2.0), torch.arange(3.0), torch.tensor(5.0)]) == 1
    assert by_one_answer(["straight", "flush", "straight", ""]) == 2
    assert by_one_answer([torch.tensor([1.0, 2.0]), torch.tensor([[1.0], [2.0]])]) == 1
    assert by_one_answer([]) == 0


def test_what_failed_is_said_by_kind():
    """Catches "wrong" without a word on how often and how."""
    ways = ["value", "raised", "value"]
    assert counted(ways, 8, 0) == "Right in 5 of 8 hidden cases; an error in 1, another value in 2."
    assert counted(ways, 8, 3).endswith(
        "\nA function that always gives the same would be right in 3, so as many earn nothing: 2 of 5 earn points."
    )
    assert "the same" not in counted(["value"] * 8, 8, 3)


def test_each_way_to_fail_has_its_words():
    """Catches a kind of failure that is counted and not told, or told under another's name."""
    ways = ["raised", "result", "shape", "value", "gradient", "harm", "type", "no answer"]
    assert counted(ways, 9, 0) == (
        "Right in 1 of 9 hidden cases; an error in 1, nothing that can be compared in 1, another shape in 1, another value"
        " in 1, another gradient in 1, changed arguments in 1, another type in 1, no answer in 1."
    )


def test_a_result_is_compared_by_its_numbers_to_four_digits():
    """Catches 0.12341 and 0.12342 taken for two answers, -0.0 that is another number than 0, and numbers made whole."""
    torch = pytest.importorskip("torch")
    assert plain(torch.tensor([0.12341, 0.12342])) == 0.1234 != plain(torch.tensor(0.1235))
    assert plain(torch.tensor([0.00001, 2.0])) == ((2,), (0.0, 2.0))
    assert str(plain(torch.tensor(-0.0))) == "0.0" and plain(torch.zeros(0)) == ((0,), ())
    assert plain("a") == "a" and plain(None) is None


@pytest.fixture(scope="module")
def key():
    pytest.importorskip("torch")
    pytest.importorskip("cloudpickle")
    from checker.grading.judge.oracle import key

    return key


@pytest.fixture
def judged(key):
    """The verdict on a function in the hidden cases of a check."""

    def judge(check, function, seed=7):
        exercise = key.exercise(check)
        outcomes = [exchange.outcome_of(function, case, vars(exercise)) for case in key.asked_cases(check, seed)]
        return key.judge(check, outcomes, seed)

    return judge


def one_group(rewards, num_generations):
    """Right where there is one group."""
    return (rewards - rewards.mean()) / (rewards.std(unbiased=False) + 1e-4)


def test_a_function_that_is_right_in_some_cases_earns_a_part(judged):
    """Catches all or nothing: a formula that forgets the groups is right wherever there is one."""
    found = judged("group_advantages", one_group)
    assert not found["passed"] and 0 < found["share"] < 1
    right, total = found["right"], found["cases"]
    assert f"Right in {right} of {total} hidden cases; another value in" in found["text"]
    assert found["share"] < right / total  # equal rewards, whose advantages are 0, count for nobody


def test_a_function_without_a_thought_earns_nothing(judged, key):
    """Catches points for a constant, for what is not filled in, and for what gave no answer; all for the reference."""

    def unfilled(rewards, num_generations):
        raise NotImplementedError

    for function in (lambda rewards, num_generations: rewards * 0, unfilled):
        found = judged("group_advantages", function)
        assert (found["passed"], found["share"]) == (False, 0.0)
    assert key.judge("group_advantages", [], 7)["share"] == 0.0
    found = judged("group_advantages", key.exercise("group_advantages").reference())
    assert (found["passed"], found["share"]) == (True, 1.0)


@pytest.mark.parametrize(
    ("check", "guess"),
    [
        ("vote", lambda answers: answers[0]),
        ("vote", lambda answers: answers[-1]),
        ("vote", lambda answers: answers[0][0]),
        ("best_of_n", lambda first, *others: first[0]),
    ],
)
def test_an_argument_or_a_part_of_it_earns_nothing(check, guess, judged):
    """Catches half of the points for `return answers[0]`, which is right wherever a vote is clear."""
    found = judged(check, guess)
    assert found["right"] > 0 and found["share"] == 0.0


def test_who_made_a_known_mistake_keeps_what_a_guess_would_be_right_in(judged, key):
    """Catches points that are taken from a function that thought, since a guess is right in the same cases."""
    exercise = key.exercise("vote")
    (last_of_a_tie,) = (slip for slip in exercise.steps.slips if slip.name == "last_of_a_tie")
    found = judged("vote", exercise.reference((last_of_a_tie,)))
    assert found["share"] == share(found["right"], found["cases"], key.free_cases("vote", 7)) > 0
    other = judged("vote", lambda answers: next(filter(None, answers), "") if len(answers) < 4 else "7")
    guess = max(one.right for one in key.guessed("vote", 7))
    assert other["share"] == share(other["right"], other["cases"], guess)
    left = f"{max(0, other['right'] - guess)} of {other['cases'] - guess} earn points"
    assert (
        f"hands back an argument, or a part of one, would be right in {guess}, so as many earn nothing: {left}."
        in other["text"]
    )


def test_a_guess_that_is_a_solution_takes_nothing_off(judged, key, monkeypatch):
    """Catches an exercise whose answer is an argument, in which nobody could earn a part."""
    exercise = key.exercise("vote")
    cases = [case for case, *_ in key.hidden("vote", 7)]
    from checker.grading.judge.oracle.guesses import guesses
    from shared.exercises.calling import Outcome

    def first(number):
        return Outcome(value=cases[number]["answers"][0])

    assert all(guess.right < len(cases) for guess in guesses(exercise, cases, first))


def test_cases_without_an_answer_cost_their_part(judged, key):
    """Catches a program that ended in the middle and earns as much as one that came to its end, or nothing."""
    exercise = key.exercise("group_advantages")

    outcomes = [
        exchange.outcome_of(exercise.reference(), case, vars(exercise))
        for case in key.asked_cases("group_advantages", 7)
    ]
    found = key.judge("group_advantages", outcomes[: len(outcomes) // 2], 7)
    assert not found["passed"] and 0.3 < found["share"] < 0.6
    assert found["text"].startswith(f"it gave {found['right']} of {found['cases']} answers.")


@pytest.mark.parametrize("check", ["group_advantages", "pull", "own_loss", "format_reward", "weighted_reward"])
def test_a_constant_earns_nothing_in_any_exercise(key, check):
    """Catches a hundredth of a point for `return 1.0`, where one case of many has that answer."""
    expected = [key.expected_outcome(check, 7, number, 0).value for number in range(len(key.hidden(check, 7)))]
    right = max(sum(plain(value) == constant for value in expected) for constant in (0.0, 1.0, "high card", "pair"))
    assert share(right, len(expected), key.free_cases(check, 7)) == 0


def test_a_right_value_with_a_wrong_gradient_is_wrong(judged, key):
    """Catches points for a `.detach()` too many, with which nothing is learned."""
    right = key.exercise("per_token_kl").reference()
    found = judged("per_token_kl", lambda logps, ref_logps: right(logps, ref_logps).detach())
    assert not found["passed"] and found["share"] < 0.5
    assert "another gradient in" in found["text"]
