"""The page of a run's completions: one file, whatever the completions say."""

import json
import re

from typer.testing import CliRunner

from checker.pages import templates
from shared.rollouts import rollout_log
from shared.run.rollouts.__main__ import app
from shared.run.rollouts.data import data_of, sample_of
from shared.run.rollouts.page import HERE, as_data, page
from tests.test_rollouts import record

HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\"><style>*{display:none}</style>",
    "<!--<script>",
    "@@DATA@@ @@SCRIPT@@ @@",
    "\u202e\u2066 turned \u2028 \x00 \ud800",
    "&lt;b&gt; ${1} $& \\u003c",
    "",
]


def group(step, place, prompt, completions, **others):
    return [
        record(
            step, place, prompt, text, reward=float(i), advantage=i - 0.5, rewards={"a": float(i), "b": None}, **others
        )
        for i, text in enumerate(completions)
    ]


def a_run(steps=3):
    """Two prompts of which the completions change, and in each step a group of hostile ones."""
    records = []
    for step in range(1, steps + 1):
        records += group(
            step, 0, "The numbers: 1 and 1", [f"I say {step}", "I say 2", "I say 2"], columns={"answer": [2]}
        )
        records += group(step, 1, "The numbers: 2 and 2", ["perhaps 3", "4 " * 400], truncated=True)
        records += group(step, 2, HOSTILE[step % 2], HOSTILE, columns={HOSTILE[0]: HOSTILE[1]})
    return records


def data_in(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


# --- the file


def test_the_data_is_what_the_run_told():
    """Catches a reward in another function's column, and a prompt that is written for each of its groups."""
    records = a_run()
    data = data_in(page(records, "run.jsonl"))
    assert data["completions"] == len(records) and data["groups"] == 9 and data["steps"] == 3
    assert data["rewards"] == ["a", "b"] and len(data["prompts"]) == 4
    first = data["shown"][0]
    assert first["completions"][1] == ["I say 2", [1.0, None], 1.0, 0.5, 2, False] and first["columns"] == {
        "answer": [2]
    }


def test_no_text_ends_the_data_or_fills_a_mark():
    """Catches a completion that becomes a script, and one that is taken for a place of the template."""
    text = page(a_run(), "</title><script>run.jsonl")
    assert (
        text.count("<script") == text.count("</script>") == 2 and text.count("<title>") == text.count("</title>") == 1
    )
    assert "<" not in as_data(HOSTILE) and json.loads(as_data(HOSTILE)) == HOSTILE
    assert [one[0] for one in data_in(text)["shown"][2]["completions"]] == HOSTILE


def test_of_too_many_a_sample_of_whole_groups_is_shown():
    """Catches the first steps alone, groups that are cut, and a total that is the sample's."""
    records = [one for step in range(1, 101) for one in group(step, 0, f"prompt {step}", "abcd")]
    data = data_of(records, "run.jsonl", most=40)
    assert [len(one["completions"]) for one in data["shown"]] == [4] * 10 and data["completions"] == 400
    steps = [one["step"] for one in data["shown"]]
    assert steps == sorted(steps) and steps[-1] > 50
    assert len(sample_of([[1] * 8], most=3)) == 1  # one group is larger than the page
    assert len(data_of(records, "run.jsonl", most=400)["shown"]) == 100


def test_the_colours_are_those_of_the_other_pages():
    """Catches a change of the course's colours that this page does not follow: `shared` imports nothing of `checker`."""
    names = [*templates.COLOURS.values(), "good", "bad", "warn"]

    def colours(css: str) -> list[dict]:
        """Those of the light page and of the dark one; where a name is given twice, the browser takes the later one."""
        in_the_dark = re.findall(r"@media screen and \(prefers-color-scheme: dark\) \{.*?\n\}", css, re.DOTALL)
        light = css
        for block in in_the_dark:
            light = light.replace(block, "")
        return [dict(re.findall(r"--(\w+): (#\w+);", part)) for part in (light, "\n".join(in_the_dark))]

    own = colours((HERE / "page.css").read_text(encoding="utf-8"))
    pairs = re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\);", templates.css())
    theirs = [{name: both[number] for name, *both in pairs} for number in range(2)]
    for ours, others in zip(own, theirs, strict=True):
        assert {name: ours[name] for name in names} == {name: others[name] for name in names}


# --- the command


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_makes_a_page_and_says_where(tmp_path):
    file = tmp_path / "run.jsonl"
    log = rollout_log(file)
    for step in (1, 2, 3):
        log([one for one in a_run() if one["step"] == step])
    ran = call(file)
    assert ran.exit_code == 0 and f"{tmp_path / 'run.html'}: 36 completions of 3 steps" in ran.output
    ran = call(file, "--out", tmp_path / "new" / "page.html", "--most", 12)
    assert ran.exit_code == 0 and "a sample of 12 of 36" in ran.output and (tmp_path / "new" / "page.html").exists()


def test_a_mistake_is_a_sentence(tmp_path):
    """Catches a traceback, and half a page."""
    other = tmp_path / "run.csv"
    other.write_text("step,reward\n1,0.5\n")
    for file, sentence in ((tmp_path / "none.jsonl", "There is no file"), (other, "Line 1 of")):
        ran = call(file)
        assert ran.exit_code == 2 and sentence in ran.output and "Traceback" not in ran.output
    assert [file.name for file in tmp_path.iterdir()] == ["run.csv"]


def test_a_page_is_not_written_over_its_own_file(tmp_path):
    """Catches completions that are lost because their file is called .html."""
    file = tmp_path / "run.html"
    rollout_log(file)(a_run(1))
    before = file.read_bytes()
    ran = call(file)
    assert ran.exit_code == 2 and "--out" in ran.output and file.read_bytes() == before
