"""The rules on the exercises' checks: what failed, what was written over, what ignores its arguments."""

import pytest

from checker.rules.checks import OF_ANY_TASK, SUPPLIED

CALL = "\ncheck.grpo_loss(grpo_loss)"


def with_code(good, source: str, printed: str = "") -> None:
    good["cells"][5]["source"] += f"\n{source}"
    good["cells"][5]["outputs"][0]["text"] += printed


def test_each_check_that_failed_is_told_in_its_words(good, told):
    """Catches a check that passed, or one of an exercise that is still blank, told as failed."""
    lines = (
        "✗ GRPO loss: it returned None.\n○ k3: it is not filled in yet.\n✓ reward: right.\n✗ k1: is the sign right?\n"
    )
    with_code(good, "check.k1(k1)", f"{lines}✗ k2: it is no X.\n")
    first, second, third = told("C001")
    assert first.cell == 5 and first.found == "✗ GRPO loss: it returned None"
    assert second.found == "✗ k1: is the sign right?" and third.found == "✗ k2: it is no X"
    assert "Mend the function" in first.advice


REDEFINED = [
    "check.grpo_loss = lambda function: print('✓')",
    "check = SimpleNamespace(loss=print)",
    "check: object = 3",
    "check.loss: object = 3",
    "x = check = 3",
    "x, check = 3, 4",
    "[check.loss, x] = 3, 4",
    "for check in checks:\n    x = 1",
    "for x, check in checks:\n    y = 1",
    "with f() as check:\n    x = 1",
    "with f(), g() as check.loss:\n    x = 1",
    "del check.loss",
    "del x, check",
    "def check():\n    x = 1",
    "class check:\n    x = 1",
    "import tricks as check",
    "import check",
    "from tricks import check",
    "from tricks import a, b as check",
    "setattr(check, 'loss', print)",
    "mock.patch(check, 'loss')",
    "def f():\n    check.grpo_loss = print",
    "def f():\n    setattr(check, 'loss', print)",
    "import shared.check\nshared.check.loss = 3",
]


@pytest.mark.parametrize("source", REDEFINED)
def test_checks_that_were_written_over_are_told(good, told, source):
    """Catches one statement that puts something else in the place of the checks and is not known."""
    with_code(good, source + CALL)
    (finding,) = told("C002")
    name = "shared.check" if "shared" in source else "check"
    lines = source.splitlines()
    line = 3 + next(n for n, text in enumerate(lines) if name in text and not text.startswith("import shared"))
    assert finding.cell == 5 and finding.found == f"line {line} redefines `{name}`"
    assert "the course's own checks" in finding.advice


@pytest.mark.parametrize(
    "source",
    [
        "from shared import check",
        "from shared import check, evaluate",
        "import shared.check as check",
        "c = check",
        "passed = check.loss(loss)",
        "checked = 3\nmy.check = 4",
        "x, y = 3, 4",
        "for x in check.all:\n    y = 1",
        "with check.quiet():\n    x = 1",
        "with f() as x:\n    y = 1",
        "def f(check):\n    check = 3\n    x = check",
        "def f():\n    def check():\n        return 1",
        "def g():\n    x = 1",
        "setattr(x, 'check', 1)",
        "setattr()",
        "x.loss = check",
    ],
)
def test_the_courses_own_checks_are_right(good, told, source):
    """Catches a claim about an import of the checks, about their answer, or about a name inside of a function."""
    with_code(good, source + CALL)
    assert told("C002") == []


def test_where_no_check_is_called_the_name_is_free(good, told):
    with_code(good, "check = 3")
    assert told("C002") == []


FUNCTION = "def f(a, b):\n    {}\ncheck.loss(f)"


@pytest.mark.parametrize("body", ["return 3", "return c", "a = 3", "return torch.zeros(2)", "x = lambda c: c"])
def test_a_function_that_ignores_its_arguments_is_told(good, told, body):
    """Catches an argument that is written and never read, taken for one that is used."""
    with_code(good, FUNCTION.format(body))
    (finding,) = told("C003")
    assert finding.cell == 5 and finding.found == "line 3: f uses none of its arguments"
    assert finding.advice == "Work out the result from the arguments."


@pytest.mark.parametrize(
    "body",
    [
        *(
            "return a",
            "return b[0]",
            "x = [a for c in d]",
            "raise NotImplementedError",
            "raise NotImplementedError('TODO')",
        ),
        *("return k3(**locals())", "return vars()['a']"),
    ],
)
def test_a_function_that_reads_one_or_is_blank_is_right(good, told, body):
    with_code(good, FUNCTION.format(body))
    assert told("C003") == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("check.loss(lambda a: 3)", "line 3: the function uses none of its arguments"),
        ("def f(*rest, **more):\n    return 3\ncheck.loss(f)", "line 3: f uses none of its arguments"),
        ("class A:\n    def f(self, a):\n        return self\ncheck.loss(f)", "line 4: f uses none of its arguments"),
        ("x = 1\ndef f(a):\n    return 3\ncheck.loss(f)\ncheck.other(f)", "line 4: f uses none of its arguments"),
    ],
)
def test_each_kind_of_function_is_looked_at_and_told_once(good, told, source, found):
    with_code(good, source)
    assert [finding.found for finding in told("C003")] == [found]


@pytest.mark.parametrize(
    "source",
    [
        "check.loss(lambda a: a)",
        "def f():\n    return 3\ncheck.loss(f)",
        "class A:\n    def f(self):\n        return 3\ncheck.loss(f)",
        "def f(a):\n    return 3\ncheck.loss(f, 3)",
        "def f(a):\n    return 3\ncheck.loss()",
        "def f(a):\n    return 3\ncheck.loss(f(1))",
        "def f(a):\n    return 3\nother.loss(f)",
        "check.loss(unknown)",
        "check.loss(3)",
    ],
)
def test_another_call_says_nothing_of_a_function(good, told, source):
    """Catches a claim about a function that no check was given, or that takes no arguments."""
    with_code(good, source)
    assert told("C003") == []


def test_functions_are_told_in_their_own_cells(good, told):
    """Catches the cell of the call told, and a search that ends at the first function that is right."""
    good["cells"][2]["source"] += "\ndef f(a):\n    return 3\ndef g(a):\n    return a\ndef h(a):\n    return 4"
    with_code(good, "check.loss(g)\ncheck.loss(f)\ncheck.loss(f)\ncheck.loss(h)")
    assert [(finding.cell, finding.found[:9]) for finding in told("C003")] == [(2, "line 3: f"), (2, "line 7: h")]


EXERCISE = (
    "def doubled(x):\n    # student code here\n    # TODO: twice (1 point, 2 minutes)\n    {}\n    # end student code\n"
)
ROWS = "from shared.tasks import dots\ntrain_rows = dots.dataset('train', 4, seed=0)\nmodel = load_policy()\n"


@pytest.mark.parametrize(
    ("above", "body", "told_of"),
    [
        ("XX = len(train_rows)", "return 2 * x[:XX]", ""),
        ("vocab = model.config.vocab_size", "return 2 * x[:vocab]", ""),
        ("first = train_rows[0]", "return 2 * x[:first]", "`first` is made in Cell 5 with `train_rows`"),
        ("mine = dots.dataset('train', 4)\nXX = len(mine)", "return 2 * x[:XX]", "`XX` is made in Cell 5 with `mine`"),
        ("dev = next(model.parameters()).device", "return 2 * x.to(dev)", "`dev` is made in Cell 5 with `model`"),
        (
            "dev = next(model.parameters()).device\ndef helper(x):\n    return x.to(dev)",
            "return helper(2 * x)",
            "`dev`",
        ),
        ("XX = 64", "return 2 * x[:XX]", ""),
        (f"XX = train_rows[0]\n{EXERCISE.replace('doubled', 'experiment').format('return XX')}", "return 2 * x", ""),
        ("XX = train_rows[0]", "print(XX); return 2 * x", ""),
        ("", "return 2 * x + G - tokenizer.pad_token_id", ""),
    ],
)
def test_what_grading_does_not_have_is_told_before_it_is_handed_in(above, body, told_of, good, told):
    """Catches a function that is right in its notebook, and of which grading alone says that a name is not defined."""
    load = "from shared.models import load_policy\n"
    good["cells"][3]["source"] += f"\n{load}{ROWS}"
    with_code(good, f"{above}\n{EXERCISE.format(body)}check.doubled(doubled)")
    found = told("C004")
    assert len(found) == bool(told_of) and all(told_of in finding.found and finding.cell == 5 for finding in found)


def test_a_task_of_ones_own_may_use_what_its_notebook_makes(good, told):
    """Catches a warning in the one notebook whose functions are graded with all of the course."""
    made = f"from shared.models import load_policy\n{ROWS}XX = train_rows[0]\n"
    with_code(good, f"{made}{EXERCISE.format('return XX')}check.rows(doubled)")
    assert told("C004") == []


def test_the_names_that_grading_has_are_those_of_the_exercises():
    """Catches a name that an exercise supplies from now on, and that a student is told to do without."""
    pytest.importorskip("torch")
    from shared.check import EXERCISES
    from shared.exercises.own_task.graded import BY_CHECK

    supplied = {name for exercise in EXERCISES.values() for name in exercise.supplies}
    assert SUPPLIED == supplied | {"tokenizer"} and set(OF_ANY_TASK) == set(BY_CHECK)
