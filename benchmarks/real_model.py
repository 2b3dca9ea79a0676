"""A real model on the tasks of the course: `benchmarks/real_model.md`, its tables and pictures, from what was recorded.

    python -m benchmarks.real_model

Nothing is trained here. `python -m benchmarks.sweeps real_model` does that for the chapter's task, in half an hour on one
thread, `python -m benchmarks.real_model_tasks dots` for another task with one seed, `python -m benchmarks.real_chapters`
for the claims of other chapters, `python -m benchmarks.quality --model smollm2` for the time to quality beside TRL.
"""

import json
from pathlib import Path
from statistics import mean

import matplotlib.pyplot as plt

from benchmarks import quality_report, real_chapters
from benchmarks.real_model_tasks import TASKS, recorded_runs
from shared.plots import BLUE, COLOURS, STYLE
from shared.recorded import Recorded, recorded

PAGE = Path(__file__).with_suffix(".md")
PICTURE = PAGE.with_suffix(".png")
PICTURE_OF_TASKS = PAGE.with_name("real_model_tasks.png")
# Columns of the chapter's table: head, field of the records, decimals.
COLUMNS = (
    ("format, greedy", "format, greedy", 2),
    ("format, sampled", "format, sampled", 2),
    ("right, greedy", "correct, greedy", 2),
    ("plain questions of 10", "known", 0),
    ("surprise, nats a token", "nats a token", 3),
    ("CPU s", "training seconds", 0),
)
STAGES = ("before", "warm-up", "GRPO", "right answers")


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in (heads, ["---"] * len(heads), *rows))


def table(sweep: Recorded) -> str:
    """The conditions as a Markdown table: the mean of the seeds, and lowest and highest where they differ."""
    rows = [[name, *(_cell(sweep, name, *column[1:]) for column in COLUMNS)] for name in sweep.conditions]
    return markdown(["", *(head for head, _, _ in COLUMNS)], rows)


def _cell(sweep: Recorded, condition: str, measure: str, decimals: int) -> str:
    if measure not in sweep.of(condition)[0]:
        return "none"
    _, low, high = (f"{value:.{decimals}f}" for value in sweep.spread(condition, measure))
    return low if low == high else sweep.told(condition, measure, decimals)


def attempts(runs: list[dict]) -> list[list[dict]]:
    """The runs of each task and settings, one for each seed."""
    found: dict[tuple[str, str], list[dict]] = {}
    for run in runs:
        found.setdefault((run["task"], json.dumps(run["settings"], sort_keys=True)), []).append(run)
    return list(found.values())


def table_of_tasks(runs: list[dict]) -> str:
    """A row for each attempt: with what, held-out rewards at each stage, and how far GRPO is ahead of right answers."""
    heads = ["task", "with", "seeds", *STAGES, "GRPO ahead, drawn", "CPU s: warm-up, GRPO", "peak GB"]
    return markdown(heads, [row_of(attempt) for attempt in attempts(runs)])


def row_of(attempt: list[dict]) -> list[str]:
    names = [name for name in STAGES[1:3] if name in attempt[0]["stages"]]
    seconds = ", ".join(f"{mean(run['stages'][name]['seconds'] for run in attempt):.0f}" for name in names)
    peak = max(run["stages"]["GRPO"]["peak GB"] for run in attempt)
    stages = [cell_of(attempt, stage) for stage in STAGES]
    return [
        attempt[0]["task"],
        told(attempt[0]),
        str(len(attempt)),
        *stages,
        ahead_of_answers(attempt),
        seconds,
        f"{peak:.1f}",
    ]


def ahead_of_answers(attempt: list[dict]) -> str:
    """GRPO's drawn reward less that of right answers with the same seed; none where nobody can write a right answer."""
    if "right answers" not in attempt[0]["stages"]:
        return "none"
    return spread_of([run["stages"]["GRPO"]["drawn"] - run["stages"]["right answers"]["drawn"] for run in attempt])


def shown_examples(count: int) -> str:
    return "1 example" if count == 1 else f"{count} examples"


def told(run: dict) -> str:
    """The settings of a run in words."""
    settings = {**TASKS[run["task"]].settings, **run["settings"]}
    parts = [shown_examples(settings["examples"])] if settings["examples"] else []
    if warm := settings["warm-up"]:
        parts.append(f"{warm['steps']} warm-up steps of {warm['prompts_per_step']} at {short(warm['learning_rate'])}")
    grpo = f"{settings['steps']} GRPO steps of {settings['prompts_per_step']} x {settings['num_generations']}"
    return ", ".join([*parts, f"{grpo} at {short(settings['learning_rate'])}"])


def short(rate: float) -> str:
    """A learning rate as one writes it, 1e-5."""
    return f"{rate:g}".replace("e-0", "e-")


def cell_of(attempt: list[dict], stage: str) -> str:
    """The reward of a stage, greedy above and drawn below; none where there is no such stage."""
    if stage not in attempt[0]["stages"]:
        return "none"
    return f"{held_out(attempt, stage, 'greedy')}<br>{held_out(attempt, stage, 'drawn')}"


def held_out(attempt: list[dict], stage: str, way: str) -> str:
    """The reward of a stage, "greedy" or "drawn"."""
    return spread_of([run["stages"][stage][way] for run in attempt])


def spread_of(values: list[float]) -> str:
    """The mean of the seeds, and the lowest and the highest where they differ."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return f"{mean(values):.2f}" + (f" ({low} to {high})" if low != high else "")


def table_of_claims(runs: list[dict]) -> str:
    """A row for each claim of a chapter: the numbers that it rests on, of each seed, and in how many seeds it holds."""
    seeds = real_chapters.by_seed(runs)
    rows = []
    for claim in real_chapters.CLAIMS:
        numbers, holds = zip(*(real_chapters.judged(claim, measured) for measured in seeds.values()))
        told = [
            f"{condition}, {measure}: {' '.join(f'{one:.2f}' for one in of_seeds)}"
            for (condition, measure), of_seeds in zip(claim.compared, zip(*numbers))
        ]
        rows.append([claim.chapter, claim.says, "<br>".join(told), f"{sum(holds)} of {len(holds)}"])
    return markdown(["chapter", "claim, as it is tried here", "numbers, by seed", "holds in"], rows)


def with_tables(page: str) -> str:
    """The page with its tables as the records have them."""
    page = with_table(page, "table", table(recorded("real_model")))
    page = with_table(page, "tasks", table_of_tasks(recorded_runs()))
    beside_trl = quality_report.recorded_runs(quality_report.RUNS_OF_A_REAL_MODEL)
    page = with_table(page, "quality", f"{quality_report.table(beside_trl)}\n")
    return with_table(page, "chapters", table_of_claims(recorded_runs(real_chapters.RUNS)))


def with_table(page: str, name: str, made: str) -> str:
    """The page with this table between its two marks."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return before + begin + made + end + after


def draw(sweep: Recorded, path: Path) -> None:
    """Held-out sums in the format, greedy and sampled, a dot for each seed."""
    names = sweep.conditions[::-1]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
        for axis, way in zip(axes, ("greedy", "sampled"), strict=True):
            for place, name in enumerate(names):
                shares = [run[f"format, {way}"] for run in sweep.of(name)]
                axis.plot(shares, [place] * len(shares), "o", color=BLUE, alpha=0.6)
            axis.set(title=f"in the format, {way}", xlim=(-0.05, 1.05), xlabel="share of 48 held-out sums")
        axes[0].set(ylim=(-0.5, len(names) - 0.5))
        axes[0].set_yticks(range(len(names)), names)
        figure.savefig(path, dpi=120)
        plt.close(figure)


def draw_tasks(runs: list[dict], path: Path) -> None:
    """The drawn held-out reward of each attempt at each stage, a dot for each seed."""
    found = attempts(runs)[::-1]
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(9, 1.2 + 0.6 * len(found)), layout="constrained")
        for stage, colour, lift in zip(STAGES, COLOURS, (0.3, 0.1, -0.1, -0.3)):
            dots = [
                (run["stages"][stage]["drawn"], place + lift)
                for place, attempt in enumerate(found)
                for run in attempt
                if stage in run["stages"]
            ]
            axis.plot(*zip(*dots), "o", color=colour, alpha=0.6, label=stage)
        axis.set(xlim=(-0.05, 1.05), ylim=(-0.5, len(found) - 0.5), xlabel="held-out reward, drawn")
        axis.set_yticks(range(len(found)), [name_of(attempt) for attempt in found])
        axis.grid(visible=False, axis="y")
        for place in range(1, len(found)):
            axis.axhline(place - 0.5, color="0.85", linewidth=0.8)
        figure.legend(loc="outside upper center", ncols=len(STAGES))
        figure.savefig(path, dpi=120)
        plt.close(figure)


def name_of(attempt: list[dict]) -> str:
    """A name that tells the attempt from the others of its task."""
    settings = attempt[0]["settings"]
    warm = settings["warm-up"]
    begun = f"warm-up at {short(warm['learning_rate'])}" if warm else shown_examples(settings["examples"])
    return f"{attempt[0]['task']}, {begun}"


def main() -> None:
    sweep = recorded("real_model")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw(sweep, PICTURE)
    draw_tasks(recorded_runs(), PICTURE_OF_TASKS)
    print(f"{sweep.origin}\nwritten to {PAGE}, {PICTURE} and {PICTURE_OF_TASKS}")


if __name__ == "__main__":
    main()
