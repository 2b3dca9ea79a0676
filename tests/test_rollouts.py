"""The completions of a run: what is told of each, in which file they are kept, and how a few are shown."""

import json
import math
from dataclasses import replace

import pytest
import torch

from shared import experience, rollouts, training
from shared.engine.processes import ALONE
from shared.experience import completion_records
from shared.rollouts import few_of_step, groups_of, plain, read_rollouts, rollout_log, show_rollouts
from tests.algorithms import SAMPLING, start
from tests.grpo import CONFIG, first_letter, longer_is_better, run
from tests.several import in_processes
from tests.watched import KINDS, ROWS, SAMPLED, algorithm_of

# A field of a record, and the metric that is its mean.
NAMES = {"reward": "reward", "length": "completions/mean_length", "truncated": "completions/clipped_ratio"}


def record(step=1, place=0, prompt="1 + 1 =", completion=" 2", **others):
    return {
        "step": step,
        "place": place,
        "prompt": prompt,
        "completion": completion,
        "rewards": {"right": 1.0},
        "reward": 1.0,
        "advantage": 0.5,
        "length": 2,
        "truncated": False,
        "columns": {"answer": "2"},
    } | others


def step_of(step, completion=" 2"):
    return [record(step, place, f"prompt {place}", f"{completion}{i}") for place in range(3) for i in range(2)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folders" / "that are not there" / "run.jsonl"


# --- what a training tells


@pytest.mark.parametrize("name", SAMPLING)
def test_every_algorithm_that_samples_tells_its_completions(name, tokenizer):
    """Catches an algorithm without records, steps that are counted from 0, and columns of another row."""
    kept, history = [], []
    _, train = start(name)
    train(tokenizer, settings={"steps": 2}, on_rollout=kept.extend, on_step=history.append)
    assert [one["step"] for one in kept] == [1] * 12 + [2] * 12
    assert [one["place"] for one in kept] == [place for _ in (1, 2) for place in range(3) for _ in range(4)]
    answers = {"abc": "de", "d": "b", "efg": "hhh", "hi": "j"}
    for one in kept:
        assert one["columns"] == {"completion": answers[one["prompt"]]}
        assert one["rewards"] == {"longer_is_better": len(one["completion"])} and one["reward"] == len(
            one["completion"]
        )
        assert math.isfinite(one["advantage"])
    for step in history:
        told = [one for one in kept if one["step"] == step["step"]]
        for name, metric in NAMES.items():
            assert sum(one[name] for one in told) / len(told) == pytest.approx(step[metric])


@pytest.mark.parametrize("name", ["supervised", "DPO"])
def test_an_algorithm_that_does_not_sample_says_so(name, tokenizer):
    """Catches a file of completions that stays empty, in silence."""
    _, train = start(name)
    with pytest.raises(ValueError, match="samples no completions: leave on_rollout out"):
        train(tokenizer, settings={"steps": 1}, on_rollout=print)


def test_nothing_is_gathered_where_nobody_reads(tokenizer, model, monkeypatch):
    """Catches records that are made, and sent between processes, at every step of every run."""
    monkeypatch.setattr(experience, "completion_records", lambda *arguments: pytest.fail("records were made"))
    run(model, tokenizer)


def test_completions_are_told_before_the_update_on_them(tokenizer, model):
    """Catches a run that breaks in its update and takes with it the completions that show why."""

    def breaks(records):
        raise RuntimeError("read first")

    before = [parameter.clone() for parameter in model.parameters()]
    with pytest.raises(RuntimeError, match="read first"):
        run(model, tokenizer, on_rollout=breaks)
    assert all((old == new).all() for old, new in zip(before, model.parameters()))


def test_rewards_that_are_none_and_advantages_of_tokens(tokenizer, model):
    """Catches nan in a file of JSON, and a mean advantage that counts the padding."""
    algorithm = algorithm_of("grpo", CONFIG, torch.float32)
    rows = [{"prompt": "abc", "answer": "a"}, {"prompt": "d", "answer": "b"}]
    made = algorithm.collect(rows, 0)
    mask = made.rollout.loss_mask
    made = replace(
        made,
        rewards_per_func=torch.full((len(made.rollout), 1), math.nan),
        advantages=torch.where(mask == 1, 2.0, 99.0),
    )
    groups = completion_records(made, rows, ["right"])
    assert [len(group) for group in groups] == [CONFIG.num_generations] * 2
    assert {one["rewards"]["right"] for group in groups for one in group} == {None}
    assert {one["advantage"] for group in groups for one in group} == {2.0}


def test_processes_tell_what_one_tells():
    """Three prompts on two processes: catches a share that is missing, told twice or in another order."""
    config = KINDS["grpo"][1](**SAMPLED | {"prompts_per_step": 3, "steps": 2})

    def train_here(processes):
        kept = []
        readers = [kept.extend] if processes.first else []  # as on the command line
        algorithm = algorithm_of("grpo", config, torch.float64)
        training.train(algorithm, ROWS, config, progress=False, processes=processes, on_rollout=readers)
        return kept

    first, second = in_processes(2, train_here)
    alone = train_here(ALONE)
    told = [(one["step"], one["place"], one["prompt"], one["completion"]) for one in first]
    assert told == [(one["step"], one["place"], one["prompt"], one["completion"]) for one in alone]
    assert second == [] and len(told) == 2 * 3 * config.num_generations


# --- the file


def test_what_was_told_is_read_back(path):
    """Catches a number, a line break or half a surrogate that does not come back, or breaks its line."""
    hostile = "</script>\n\u2028\x85\r\x00 \ud800 ü 𝄞"
    told = [record(completion=hostile, columns={"n": [1, 2]}), record(place=1)]
    rollout_log(path)(told)
    assert read_rollouts(path) == told
    assert path.read_bytes().count(b"\n") == 2 and "ü 𝄞" in path.read_text(encoding="utf-8")


def test_values_that_json_has_no_word_for():
    """Catches NaN, which no browser reads, and a column of a type that ends the training."""
    numpy = pytest.importorskip("numpy")
    value = {1: (numpy.float32(0.5), numpy.int64(2), math.nan, {3}, True, None)}
    assert json.dumps(plain(value), allow_nan=False) == '{"1": [0.5, 2, null, "{3}", true, null]}'


def test_lines_are_there_when_the_step_is_over(path):
    """Catches lines that wait in a buffer until training ends."""
    log = rollout_log(path)
    for step in (1, 2):
        log(step_of(step))
        assert len(read_rollouts(path)) == 6 * step


def test_every_nth_step_and_at_most_so_many(path):
    """Catches steps counted from the first one of a run that goes on, and groups that are cut although one fits."""
    log = rollout_log(path, every=2, most=5)
    for step in range(1, 6):
        log(step_of(step))
    kept = read_rollouts(path)
    assert [one["step"] for one in kept] == [2] * 4 + [4] * 4
    assert [len(group) for group in groups_of(kept)] == [2] * 4
    # The same prompts each time, so that one can be followed.
    assert [one["prompt"] for one in kept[:4]] == [one["prompt"] for one in kept[4:]]
    assert len(few_of_step(step_of(1), 1)) == 1  # not even a group fits


def test_the_same_prompts_are_kept_at_another_place():
    """Catches the first places of each step, at which other prompts stand each time."""
    prompts = [f"prompt {i}" for i in range(8)]
    forwards = [record(1, place, prompt) for place, prompt in enumerate(prompts)]
    backwards = [record(2, place, prompt) for place, prompt in enumerate(reversed(prompts))]
    assert few_of_step([record(prompt="\ud800")], 1)  # half a surrogate has a hash as well
    kept = [{one["prompt"] for one in few_of_step(records, 3)} for records in (forwards, backwards)]
    assert kept[0] == kept[1] and len(kept[0]) == 3


@pytest.mark.parametrize("same", [False, True])
def test_a_run_that_goes_on_doubles_no_step(same, path):
    """Killed after step 5, its checkpoint is of step 3: catches steps 4 and 5 of both runs in one file."""
    log = rollout_log(path)
    for step in range(1, 6):
        log(step_of(step, "old "))
    log = log if same else rollout_log(path)
    for step in (4, 5, 6):
        log(step_of(step, "new "))
    steps = [(one["step"], one["completion"][:3]) for one in read_rollouts(path)]
    assert list(dict.fromkeys(steps)) == [(1, "old"), (2, "old"), (3, "old"), (4, "new"), (5, "new"), (6, "new")]
    assert len(steps) == 36 and [file.name for file in path.parent.iterdir()] == ["run.jsonl"]


def test_a_run_that_starts_over_leaves_nothing_of_the_old_one(path):
    """Catches old completions that stay until the first step that is kept, or for ever."""
    log = rollout_log(path)
    for step in range(1, 6):
        log(step_of(step))
    rollout_log(path, every=3)(step_of(1))
    assert path.read_bytes() == b""


@pytest.mark.parametrize("left", [b"", b'{"step": 3, "pro'])
def test_a_run_that_goes_on_writes_the_file_anew_once(left, path, monkeypatch):
    """Catches a log that never notices that old steps, or half a line, are gone: each step would copy the whole file."""
    rollout_log(path)(step_of(2))
    with path.open("ab") as file:
        file.write(left)
    written = []
    beside = rollouts.written_beside
    monkeypatch.setattr(rollouts, "written_beside", lambda file: written.append(file) or beside(file))
    log = rollout_log(path, every=2)
    for step in range(1, 7):
        log([record(step)])
    assert written == [path] and [one["step"] for one in read_rollouts(path)] == [2, 4, 6]


def test_groups_are_of_one_prompt_at_one_place_of_one_step():
    """Catches neighbours with one prompt that are taken for one group, and two prompts of one place."""
    groups = [[record()] * 2, [record(place=1)] * 2, [record(2, 1)], [record(2, 1, "d")]]
    assert groups_of(sum(groups, [])) == groups


def test_half_a_line_of_a_killed_writer_is_dropped(path):
    """Catches a line that is appended to it, and a reader that stops at it."""
    rollout_log(path)(step_of(1))
    with path.open("ab") as file:
        file.write(b'{"step": 2, "pro')
    assert len(read_rollouts(path)) == 6
    rollout_log(path)(step_of(3))
    assert [one["step"] for one in read_rollouts(path)] == [1] * 6 + [3] * 6


@pytest.mark.parametrize("text", ["step,reward\n1,0.5\n", '{"step": 1}\n', "[1]\n"])
def test_another_file_is_refused_and_stays(text, path):
    """Catches a table of the same run that is written over."""
    path.parent.mkdir(parents=True)
    path.write_text(text)
    for act in (rollout_log, read_rollouts, show_rollouts):
        with pytest.raises(ValueError, match=r"Line \d of .*run\.jsonl is no completion of a run"):
            act(path)
    assert path.read_text() == text


def test_a_line_in_the_middle_that_is_none_is_named_where_a_run_starts_over(path):
    rollout_log(path)([record()])
    path.write_text(path.read_text() + "stray\n" + path.read_text())
    with pytest.raises(ValueError, match="Line 2 of .*run.jsonl is no completion"):
        rollout_log(path)([record()])


def test_no_file_and_an_empty_one_are_sentences(path):
    with pytest.raises(ValueError, match="There is no file .* --log rollouts:"):
        read_rollouts(path)
    path.parent.mkdir(parents=True)
    path.touch()
    with pytest.raises(ValueError, match="holds no completion yet"):
        read_rollouts(path)


@pytest.mark.parametrize("numbers", [{"every": 0}, {"most": 0}])
def test_numbers_below_one_are_refused(numbers, path):
    with pytest.raises(ValueError, match="both must be at least 1"):
        rollout_log(path, **numbers)


# --- a few of them in a notebook


@pytest.fixture
def shown(monkeypatch):
    """The rows of the tables that were shown."""
    tables = []
    monkeypatch.setattr(rollouts, "show", lambda rows, form: tables.append(rows))
    return tables


def test_a_few_groups_of_the_last_step_are_shown(shown, path):
    """Catches groups of the first step, a prompt in every row, and a column that is empty from top to bottom."""
    rollout_log(path)(step_of(1))
    rollout_log(path)(step_of(2, "later "))
    show_rollouts(str(path), groups=2)
    show_rollouts(read_rollouts(path), step=1, groups=1)
    assert [row["prompt"] for row in shown[0]] == ["prompt 0", "", "prompt 1", ""]
    assert [row["completion"] for row in shown[0]] == ["later 0", "later 1"] * 2
    assert [row["completion"] for row in shown[1]] == [" 20", " 21"]
    assert list(shown[0][0]) == ["prompt", "completion", "reward", "advantage", "tokens"]


def test_each_reward_and_what_was_cut_off_is_shown(shown):
    show_rollouts([record(rewards={"right": 1.0, "short": None}, truncated=True), record()])
    assert shown[0][0] | {"right": 1.0, "short": None, "cut off": "yes"} == shown[0][0] and shown[0][1]["cut off"] == ""


def test_a_step_that_was_not_kept_is_a_sentence(shown):
    with pytest.raises(ValueError, match="no completions of step 7: kept are 3 steps from 1 to 4"):
        show_rollouts(step_of(1) + step_of(2) + step_of(4), step=7)
    with pytest.raises(ValueError, match="none are kept at all"):
        show_rollouts([])


def test_a_shown_completion_is_text(capsys):
    """Catches a completion that becomes markup of the notebook."""
    from shared.tables import Table, pd

    rows = [rollouts._row(record(completion="<img src=x onerror=alert(1)>"), first=True)]
    assert "<img" not in Table(pd.DataFrame(rows))._repr_html_()


def test_a_real_training_is_kept_and_read(tokenizer, model, path, capsys):
    """Catches a log that the training cannot call, or whose file the reader refuses."""
    run(model, tokenizer, reward=[first_letter, longer_is_better], on_rollout=rollout_log(path, every=3, most=8))
    kept = read_rollouts(path)
    assert [one["step"] for one in kept] == [3] * 8
    show_rollouts(path)
    assert kept[0]["prompt"] in capsys.readouterr().out
