"""From the blocks that `benchmarks.step` has measured to the tables of step.md and the picture step.png."""

from pathlib import Path
from statistics import median

import matplotlib.pyplot as plt

from shared.plots import BLUE, COLOURS, ORANGE, STYLE

HERE = Path(__file__).parent


def ratios(blocks: list[dict], contestant: str, clock: str = "wall") -> list[float]:
    """Seconds of the contestant's step over seconds of ours, one ratio for each round that has both."""
    seconds = {(b["round"], b["contestant"]): median(b[clock]) for b in blocks}
    rounds = [r for r, who in seconds if who == contestant and (r, "ours") in seconds]
    return [seconds[r, contestant] / seconds[r, "ours"] for r in rounds]


def settings(records: list[dict], part: str) -> dict[str, list[dict]]:
    """The records of a part by model and workload."""
    found: dict[str, list[dict]] = {}
    for record in records:
        if record["part"] == part:
            found.setdefault(f"{record['shape']} {record['name']}", []).append(record)
    return found


def compare_table(records: list[dict]) -> str:
    """Seconds, ratio to ours (median, lowest to highest round) and peak memory of each contestant."""
    lines = [
        "| model, workload | contestant | seconds | times ours | the same, CPU | rounds | peak MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting, blocks in settings(records, "compare").items():
        for who in dict.fromkeys(b["contestant"] for b in blocks):
            own = [b for b in blocks if b["contestant"] == who]
            seconds, peak = median(median(b["wall"]) for b in own), max(b["peak_mb"] for b in own)
            wall, cpu = ratios(blocks, who), ratios(blocks, who, "cpu")
            spread = f"{median(wall):.2f} ({min(wall):.2f} to {max(wall):.2f})"
            lines.append(
                f"| {setting} | {who} | {seconds:.3f} | {spread} | {median(cpu):.2f} | {len(wall)} | {peak:,.0f} |"
            )
    return "\n".join(lines)


def last_phases(records: list[dict]) -> dict[str, dict]:
    """The newest phase record of each setting."""
    return {setting: blocks[-1] for setting, blocks in settings(records, "phases").items()}


def floor_seconds(record: dict) -> float:
    return record["flops"] / record["flops_per_second"]


def phase_table(records: list[dict]) -> str:
    """Seconds of each phase, the whole, and the floor: the step's operations at the machine's matrix rate."""
    found = last_phases(records)
    names = list(dict.fromkeys(phase for record in found.values() for phase in record["seconds"]))
    lines = [
        f"| model, workload | {' | '.join(names)} | whole | operations | rate | floor | whole over floor |",
        "|---" * (len(names) + 6) + "|",
    ]
    for setting, record in found.items():
        seconds = [median(record["seconds"][name]) for name in names]
        floor = floor_seconds(record)
        lines.append(
            f"| {setting} | {' | '.join(f'{s:.3f}' for s in seconds)} | {sum(seconds):.3f} "
            f"| {record['flops'] / 1e9:,.1f} G "
            f"| {record['flops_per_second'] / 1e9:.0f} G/s | {floor:.3f} | {sum(seconds) / floor:.1f} |"
        )
    return "\n".join(lines)


def growth_curves(records: list[dict]) -> dict[str, dict[str, dict[int, float]]]:
    """For each axis and contestant the seconds of a step at each place, the newest of several."""
    curves: dict[str, dict[str, dict[int, float]]] = {}
    for r in records:
        if r["part"] == "growth":
            curves.setdefault(r["axis"], {}).setdefault(r["contestant"], {})[r["at"]] = median(r["wall"])
    return curves


def growth_table(records: list[dict]) -> str:
    """Seconds of a step along each axis, ours and TRL tuned."""
    lines = []
    for axis, curves in growth_curves(records).items():
        places = curves["ours"]
        lines += [f"| {axis} | {' | '.join(map(str, places))} |", "|---" * (len(places) + 1) + "|"]
        for who, points in curves.items():
            lines.append(f"| {who} | {' | '.join(f'{seconds:.2f}' for seconds in points.values())} |")
        lines.append("")
    return "\n".join(lines)


def picture(records: list[dict], path: Path) -> None:
    """Ratios and phases above, growth below."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
        compared, phases = settings(records, "compare"), last_phases(records)
        rivals = ("TRL", "TRL tuned", "plain loop")
        for shift, (who, colour) in enumerate(zip(rivals, COLOURS)):
            heights = [median(ratios(blocks, who)) for blocks in compared.values()]
            places = [i + 0.27 * (shift - 1) for i in range(len(heights))]
            axes[0, 0].bar(places, heights, width=0.25, color=colour, label=who)
        axes[0, 0].axhline(1, color="black", linewidth=0.8)
        labels = [setting.replace(" ", "\n") for setting in compared]
        axes[0, 0].set(title="seconds of a step, ours = 1", xticks=range(len(labels)), xticklabels=labels)
        axes[0, 0].tick_params(axis="x", labelsize=8)
        axes[0, 0].margins(y=0.4)  # for the legend
        for axis, shape in zip(axes[0, 1:], ("embedded", "135M")):
            shown = {setting: record for setting, record in phases.items() if record["shape"] == shape}
            starts = [0.0] * len(shown)
            for name, colour in zip(("sampling", "reference", "policy", "backward", "optimiser"), COLOURS[1:]):
                widths = [median(record["seconds"][name]) for record in shown.values()]
                axis.barh(list(shown), widths, left=starts, color=colour, label=name, height=0.5)
                starts = [start + width for start, width in zip(starts, widths)]
            for row, record in enumerate(shown.values()):
                axis.vlines(
                    floor_seconds(record),
                    row - 0.35,
                    row + 0.35,
                    color="black",
                    label=None if row else "floor",
                )
            axis.set(title="where our step spends its time", xlabel="seconds")
        for axis, (name, curves) in zip(axes[1], growth_curves(records).items()):
            for who, colour in (("ours", BLUE), ("TRL tuned", ORANGE)):
                axis.loglog(
                    curves[who].keys(),
                    curves[who].values(),
                    color=colour,
                    marker="o",
                    markersize=4,
                    label=who,
                )
            places = list(curves["ours"])
            axis.set(title="embedded model, W1", xlabel=name, ylabel="seconds of a step", ylim=(0.05, 20))
            axis.set_xticks(places, labels=map(str, places))
            axis.set_yticks([0.1, 1, 10], labels=["0.1", "1", "10"])
            axis.minorticks_off()
        for axis in (axes[0, 0], axes[0, 1], axes[1, 0]):
            axis.legend(fontsize=8)
        figure.savefig(path, dpi=130)
        plt.close(figure)


def write_report(records: list[dict]) -> None:
    """Write step.md and step.png beside this file."""
    threads = sorted({record["threads"] for record in records})
    (HERE / "step.md").write_text(
        "# The cost of a GRPO step\n\n"
        f"Made by `python -m benchmarks.step`, on {' and '.join(map(str, threads))} thread(s). "
        "CPU seconds are those of all threads together, also while they wait for each other.\n\n"
        f"{compare_table(records)}\n\n"
        f"## Where our step spends its time (seconds)\n\n{phase_table(records)}\n\n"
        f"## How it grows (W1 on the embedded model, seconds of a step)\n\n{growth_table(records)}\n"
        "![The cost of a step](step.png)\n"
    )
    picture(records, HERE / "step.png")
