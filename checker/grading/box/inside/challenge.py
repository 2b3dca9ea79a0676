"""Trains with settings that were handed in, and sends each measurement. No program of a student's runs here."""

from collections.abc import Callable
from pathlib import Path

from checker.grading.box.inside import BEGUN


def run(job: dict, send: Callable[[dict], None]) -> None:
    """Send {"drawn": completions, "reward": held-out, "low": of its interval} for each measurement, then {"ended": why}.

    job: "settings", the text of a file of --result, None for the task's own settings; "task", "goal", "budget", "every"
        and "seed" as `shared.run.challenge` takes them.
    """
    from shared.run.challenge import measured_until, plan_of

    send({BEGUN: True})
    ended = ""
    try:
        handed = None if job["settings"] is None else Path("settings.json")
        if handed is not None:
            handed.write_text(job["settings"], encoding="utf-8")
        plan = plan_of(handed, job["task"], budget=job["budget"], every=job["every"], seed=job["seed"])
        measured_until(
            plan, job["goal"], lambda drawn, reward, low: send({"drawn": drawn, "reward": reward, "low": low})
        )
    except Exception as error:  # whatever settings do wrong is their own
        ended = f"{type(error).__name__}: {error}"
    send({"ended": ended})
