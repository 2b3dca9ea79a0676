"""Evaluation on what was trained on: the names of data, the ways of making it, and what only looks like it."""

import pytest

from checker.rules.method import splits
from checker.rules.method.splits import _is_held_out, _is_training
from tests.checker.rules.looking import codes, found


@pytest.mark.parametrize(
    "name",
    [
        *("train_rows", "training_set", "x_train", "TRAIN_DATA", "train_ds", "train_prompts", "train_examples"),
        *(
            "train_problems",
            "train_questions",
            "train_pairs",
            "train_samples",
            "train_items",
            "train_tasks",
            "train_hands",
        ),
        *("train", "Training", "train_xs", "train_set_1"),
    ],
)
def test_names_of_training_data(name):
    assert _is_training(name) and not _is_held_out(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "eval_rows",
            "evaluation_set",
            "test_data",
            "testing_items",
            "val_ds",
            "valid_set",
            "validation_prompts",
            "x_test",
        ),
        *("held_out_rows", "heldout_pairs", "dev_set", "EVAL_ROWS"),
        *("test", "eval", "valid", "val", "heldout", "held_out", "dev", "Test"),
    ],
)
def test_names_of_held_out_data(name):
    assert _is_held_out(name) and not _is_training(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "train_eval_rows",
            "rows",
            "trained_rows",
            "contest_rows",
            "train_size",
            "eval_reward",
            "train_step",
            "devices",
        ),
        *(
            "eval_system_prompt",
            "TRAIN_PROMPT_TEMPLATE",
            "evaluate_data",
            "constrain_set",
            "training_loss",
            "test_seed",
        ),
    ],
)
def test_names_of_something_else(name):
    """Catches a size, a figure or a text that every row gets taken for data."""
    assert not _is_training(name) and not _is_held_out(name)


TAKEN = [
    *(
        "list(train_rows)",
        "copy.copy(train_rows)",
    ),
    *("copy.deepcopy(train_rows)", "deepcopy(train_rows)", "train_rows.copy()", "shuffled(train_rows)"),
    *(
        "random.sample(train_rows, 5)",
        "rng.sample(train_rows, 5)",
        "random.choices(train_rows, k=5)",
        "rng.choice(train_rows)",
    ),
    *("train_rows.select(range(3))", "train_rows.shuffle(seed=3)", "np.random.choice(train_rows, 3)"),
]


@pytest.mark.parametrize("taken", TAKEN)
def test_rows_that_were_taken_from_the_training_rows_are_asked_about(taken):
    """Catches one way to take rows that is not known."""
    (finding,) = found(splits, "x = 1", f"train_rows = load()\neval_rows = {taken}")
    assert (finding.code, finding.cell) == ("M014", 1)
    assert (
        finding.found == "line 2: is eval_rows made of the same items as train_rows?" and "by heart" in finding.advice
    )


@pytest.mark.parametrize(
    "lines",
    [
        "train_rows = load()\neval_rows = train_rows[5]",
        "train_rows = load()\neval_rows = train_rows[:50]\ntrain_rows = train_rows[50:]",
        "train_rows = load()\neval_rows = train_rows.select(range(3))\ntrain_rows = train_rows.filter(f)",
        "def f():\n    train_rows = load()\n    return train_rows\neval_rows = train_rows",
        "for train_rows in parts:\n    f(train_rows)\neval_rows = train_rows",
    ],
)
def test_rows_of_ones_own_are_right(lines):
    """Catches a question about a training set that was cut down, so that what was taken is no part of it."""
    assert codes(splits, lines) == []


@pytest.mark.parametrize(
    "method", ["map(f)", "shuffle()", "rename_column(a, b)", "rename_columns(a)", "remove_columns(a)"]
)
def test_a_training_set_that_was_only_changed_has_the_same_items(method):
    lines = f"train_rows = load()\ntrain_rows = train_rows.{method}\neval_rows = train_rows[:9]"
    assert codes(splits, lines) == ["M014"]
    lines = (
        f"train_rows = load()\ntrain_rows = train_rows.with_format(a).cast_column(b).{method}\n"
        "eval_rows = train_rows[:9]"
    )
    assert codes(splits, lines) == ["M014"]
    assert codes(splits, "train_rows = load()\ntrain_rows = list(train_rows)\neval_rows = train_rows[:9]") == ["M014"]


def test_each_held_out_set_is_asked_about_once():
    lines = "train_rows = load()\ntrain_set = load()\neval_rows = train_rows\ntest_rows = train_set\ndev_rows = other()"
    assert [finding.found[:7] for finding in found(splits, lines)] == ["line 3:", "line 4:"]


ALIKE = [
    "train_rows = rows\neval_rows = rows",
    "train_rows = rows[:80]\neval_rows = rows[:20]",
    "train_rows = rows[:]\neval_rows = rows[:20]",
    "train_rows = make(100, random_state=0)\neval_rows = make(20, random_state=0)",
    "train_rows = make(n_train, seed=0)\neval_rows = make(config.eval_size, seed=0)",
    "train_rows = make(num_train, seed=0)\neval_rows = make(N_EVAL, seed=0)",
    "train_rows = make(train_count, seed=0)\neval_rows = make(eval_n, seed=0)",
    "train_rows = make(n, seed=0)\neval_rows = make(50, seed=0)",
    "train_rows = make(random.Random(1), 100)\neval_rows = make(random.Random(1), 20)",
    "train_rows = make(np.random.default_rng(1))\neval_rows = make(np.random.default_rng(1))",
    "train_rows = make(rng=np.random.RandomState(1))\neval_rows = make(rng=np.random.RandomState(1))",
    "train_rows = make(g=torch.manual_seed(1))\neval_rows = make(g=torch.manual_seed(1))",
    "train_rows = make(jax.random.PRNGKey(1))\neval_rows = make(jax.random.PRNGKey(1))",
    "random.seed(0)\ntrain_rows = make(9)\nrandom.seed(0)\neval_rows = make(5)",
    "torch.manual_seed(0)\ntrain_rows = make(9)\nset_seed(0)\neval_rows = make(5)",
    "def make(n):\n    rng = default_rng(0)\n    return rng.draw(n)\ntrain_rows = make(9)\neval_rows = make(5)",
    "def make(n, seed):\n    random.seed(0)\n    return draw(n)\n"
    "train_rows = make(9, seed=a)\neval_rows = make(5, seed=b)",
    "def make(random_state):\n    random.seed(0)\ntrain_rows = make(random_state=a)\neval_rows = make(random_state=b)",
    *(
        f"def make(repeats):\n    return {call}\ntrain_rows = make(repeats=9)\neval_rows = make(repeats=5)"
        for call in (
            "f.append(3)",
            "f.extend(a)",
            "range(3)",
            "len(a)",
            "dict(a)",
            "enumerate(a)",
            "a.items()",
            "'{}'.format(a)",
        )
    ),
    "def make(repeats):\n    random.shuffle(words)\n    return words\n"
    "train_rows = make(repeats=9)\neval_rows = make(repeats=5)",
    "def make(repeats):\n    return list(words)\ntrain_rows = make(repeats=9)\neval_rows = make(repeats=5)",
    "def make(copies):\n    return [w for w in zip(words)]\ntrain_rows = make(copies=9)\neval_rows = make(copies=5)",
    "def make(times):\n    return ' '.join(words)\ntrain_rows = make(times=9)\neval_rows = make(times=5)",
]


@pytest.mark.parametrize("lines", ALIKE)
def test_two_sets_that_are_made_alike_are_asked_about(lines):
    """Catches one way to seed, or to say a size, that is not known."""
    assert codes(splits, lines) == ["M014"]


@pytest.mark.parametrize(
    "lines",
    [
        "train_rows = rows\neval_rows = others",
        "train_rows = rows[:80]\neval_rows = rows[80:]",
        "train_rows = rows[:80]\neval_rows = others[:20]",
        "train_rows = rows[:20]\neval_rows = rows[:-20]",
        "train_rows = rows[::2]\neval_rows = rows[:20]",
        "train_rows = rows[:n]\neval_rows = rows[:n]",
        "train_rows = rows['train']\neval_rows = rows['train_too']",
        "train_rows = make(100, seed=0)\neval_rows = make(20, seed=1)",
        "train_rows = make(100, seed=0)\neval_rows = build(20, seed=0)",
        "train_rows = make('a', seed=0)\neval_rows = make('b', seed=0)",
        "train_rows = make(split='a', seed=0)\neval_rows = make(split='b', seed=0)",
        "train_rows = make(random.Random(1), 100)\neval_rows = make(random.Random(2), 100)",
        "train_rows = make(random.Random(), 100)\neval_rows = make(random.Random(), 100)",
        "random.seed(0)\ntrain_rows = make(9)\nrandom.seed(1)\neval_rows = make(5)",
        "train_rows = make(9)\nrandom.seed(0)\neval_rows = make(5)",
        "random.seed()\ntrain_rows = make(9)\nrandom.seed()\neval_rows = make(5)",
        "def make(n, seed=0):\n    random.seed(seed)\n    return draw(n)\ntrain_rows = make(9)\neval_rows = make(5)",
        "def make(n):\n    random.seed()\n    return draw(n)\ntrain_rows = make(9)\neval_rows = make(5)",
        "def make(repeats):\n    return draw(words)\ntrain_rows = make(repeats=9)\neval_rows = make(repeats=5)",
        "def make(size):\n    return list(words)\ntrain_rows = make(size=9)\neval_rows = make(size=5)",
        "def make(a, repeats):\n    return list(words)\n"
        "train_rows = make(3, repeats=9)\neval_rows = make(3, repeats=5)",
        "def make(repeats, b):\n    return list(a)\n"
        "train_rows = make(repeats=9, b=1)\neval_rows = make(repeats=5, b=1)",
        "train_rows = make(repeats=9)\neval_rows = make(repeats=5)",
        "train_rows = rows[0]\neval_rows = rows",
    ],
)
def test_two_sets_that_are_made_differently_are_right(lines):
    """Catches a question where seed, split or place in a list keeps the two apart."""
    assert codes(splits, lines) == []


TOGETHER = [
    "Trainer(eval_data=rows, train_data=rows.map(f))",
    "Trainer(train_dataset=rows.shuffle(3).with_format(f), test_dataset=rows.rename_column(a, b))",
    "Trainer(train_dataset=rows.rename_columns(a), val_dataset=rows.remove_columns(b).cast_column(c))",
    "Trainer(train_dataset=rows, eval_dataset=rows.filter(f))",
    "Trainer(train_dataset=rows, eval_dataset=rows.take(5))",
    "Trainer(train_dataset=rows, eval_dataset=rows.sample(5))",
    "Trainer(train_dataset=rows, eval_dataset=rows[:5])",
    "some = rows.map(f)\nTrainer(train_dataset=some, eval_dataset=rows[:5])",
]


@pytest.mark.parametrize("lines", TOGETHER)
def test_one_data_set_that_is_handed_over_twice_is_asked_about(lines):
    """Catches rows that were only renamed or shuffled in between, and those that an evaluation takes a part of."""
    (finding,) = found(splits, "x = 1", f"rows = load()\n{lines}")
    assert (finding.code, finding.cell) == ("M014", 1) and "train and evaluate on the same rows" in finding.found
    assert "by heart" in finding.advice


@pytest.mark.parametrize(
    "lines",
    [
        "Trainer(train_dataset=rows, eval_dataset=others)",
        "Trainer(train_dataset=rows[5:], eval_dataset=rows[:5])",
        "Trainer(train_dataset=rows, eval_dataset=rows[5])",
        "Trainer(train_size=rows, eval_dataset=rows)",
        "Trainer(train_dataset=unseen, eval_dataset=unseen)",
        "train(rows, eval_dataset=rows, **more)",
    ],
)
def test_two_data_sets_that_are_handed_over_are_right(lines):
    assert codes(splits, f"rows = load()\nothers = load()\n{lines}") == []


@pytest.mark.parametrize(("steps", "asked"), [(7, ["M014"]), (8, [])])
def test_rows_are_followed_back_a_few_steps(steps, asked):
    """Catches a search that gives up at once, and one that has no end."""
    assert codes(splits, f"rows = load()\nTrainer(train_dataset=rows{'.map(f)' * steps}, eval_dataset=rows)") == asked


def test_a_name_that_was_bound_again_is_other_data():
    """Catches rows taken for those that had their name before."""
    lines = "rows = load(3)\nold = rows\nrows = load(4)\nTrainer(train_dataset=old, eval_dataset=rows)"
    assert codes(splits, lines) == []


TRAINED = "for seed in range(200):\n    prompts.append(ask(env.reset(seed=seed)))\n"
PLAYED = "for seed in range(8):\n    scores.append(evaluate(model, seed=seed))\n"


@pytest.mark.parametrize(
    "trained",
    [
        TRAINED,
        TRAINED.replace("prompts.append", "train_rows.extend"),
        TRAINED.replace("prompts.append", "dataset.append"),
        TRAINED.replace("for seed in range(200)", "for s in range(200)").replace("seed=seed", "seed=s"),
    ],
)
@pytest.mark.parametrize("word", ["evaluate", "baseline", "trained_reward", "test_score", "run_test"])
def test_seeds_that_begin_anew_are_asked_about(trained, word):
    """Catches one word for an evaluation, or for what is trained on, that is not known."""
    (finding,) = found(splits, trained, "x = 1\n" + PLAYED.replace("evaluate", word))
    assert (finding.code, finding.cell) == ("M014", 1) and finding.found.startswith("line 2: did the training begin")
    assert "range(10_000, 10_010)" in finding.advice


@pytest.mark.parametrize(
    "lines",
    [
        TRAINED + PLAYED.replace("range(8)", "range(200, 208)"),
        TRAINED.replace("range(200)", "range(10, 210)") + PLAYED,
        TRAINED + PLAYED.replace("evaluate", "play"),
        TRAINED.replace("prompts", "seen") + PLAYED,
        TRAINED.replace("append", "check") + PLAYED,
        TRAINED.replace("seed=seed", "seed=3") + PLAYED,
        TRAINED.replace("range(200)", "numbers(200)") + PLAYED,
        TRAINED + PLAYED.replace("seed=seed", "number=seed"),
        TRAINED + TRAINED,
        PLAYED,
        TRAINED + PLAYED.replace("for seed in", "for _, seed in"),
        TRAINED.replace("for seed in range(200)", "for a.b in range(200)").replace("seed=seed", "seed=a.b") + PLAYED,
    ],
)
def test_other_seeds_are_right(lines):
    assert codes(splits, lines) == []


ROWS = "train_rows = load()\neval_rows = read()\n"


@pytest.mark.parametrize(
    "call", ["evaluate(model, train_rows)", "compare(rows=train_rows)", "accuracy(train_rows)", "run_tests(train_rows)"]
)
def test_an_evaluation_of_training_rows_alone_is_asked_about(call):
    """Catches a comparison in Cell 7 that is made on what was trained on."""
    (finding,) = found(splits, ROWS, f"# Cell 7: Evaluation\nprint({call})")
    assert (
        finding.cell == 1
        and finding.found == "line 2: is this evaluation, of train_rows, to be on what was trained on?"
    )
    assert "by heart" in finding.advice


def test_it_is_asked_once_and_names_the_rows():
    cell = "# Cell 7: Evaluation\nshow(train_rows)\nevaluate(model, train_set, train_rows)\nevaluate(train_set)"
    (finding,) = found(splits, f"{ROWS}train_set = load()", cell)
    assert finding.found.startswith("line 3: is this evaluation, of train_rows,")


@pytest.mark.parametrize(
    "cell",
    [
        "# Cell 7: Evaluation\nevaluate(model, train_rows)\nevaluate(model, eval_rows)",
        "# Cell 7: Evaluation\nevaluate(model, rows)",
        "# Cell 7: Evaluation\nevaluate(model, train_size)",
        "# Cell 7: Evaluation\nshow(train_rows)",
        "# Cell 6: Training\nevaluate(model, train_rows)",
        "evaluate(model, train_rows)",
    ],
)
def test_another_evaluation_is_right(cell):
    assert codes(splits, f"{ROWS}rows = load()\ntrain_size = 3", cell) == []


def test_what_was_never_bound_to_data_is_none():
    assert codes(splits, "train_rows = []", "# Cell 7: Evaluation\nevaluate(model, train_rows)") == []
