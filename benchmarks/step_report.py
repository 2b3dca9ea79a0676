"""From the blocks that `benchmarks.step` has measured to tables."""

from pathlib import Path
from statistics import median

HERE = Path(__file__).parent


def ratios(blocks: list[dict], contestant: str, clock: str = "wall") -> list[float]:
    """Seconds of the contestant's step over seconds of ours, one ratio for each round that has both."""
    seconds = {(b["round"], b["contestant"]): median(b[clock]) for b in blocks}
    rounds = sorted({r for r, who in seconds if who == contestant} & {r for r, who in seconds if who == "ours"})
    return [seconds[r, contestant] / seconds[r, "ours"] for r in rounds]


def compare_table(records: list[dict]) -> str:
    """Seconds, ratio to ours (median, lowest to highest round) and peak memory, one line for each contestant."""
    lines = [
        "| model | workload | contestant | seconds a step | ours is faster by | in CPU seconds | peak memory (MB) |",
        "|---|---|---|---|---|---|---|",
    ]
    compared = [r for r in records if r["part"] == "compare"]
    for shape, name in dict.fromkeys((r["shape"], r["name"]) for r in compared):
        blocks = [r for r in compared if (r["shape"], r["name"]) == (shape, name)]
        for who in dict.fromkeys(b["contestant"] for b in blocks):
            own = [b for b in blocks if b["contestant"] == who]
            seconds, peak = median(median(b["wall"]) for b in own), max(b["peak_mb"] for b in own)
            faster = "| | |"
            if who != "ours":
                wall, cpu = ratios(blocks, who), ratios(blocks, who, "cpu")
                faster = f"{median(wall):.1f} ({min(wall):.1f} to {max(wall):.1f}) | {median(cpu):.1f}"
                faster = f"| {faster} |"
            lines.append(f"| {shape} | {name} | {who} | {seconds:.3f} {faster} {peak:,.0f} |")
    return "\n".join(lines)


def write_report(records: list[dict]) -> None:
    """Write step.md."""
    (HERE / "step.md").write_text(f"# The cost of a GRPO step\n\n{compare_table(records)}\n")
