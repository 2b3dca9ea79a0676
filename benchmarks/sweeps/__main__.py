"""Make a chapter's sweep again: every condition with every seed.

    python -m benchmarks.sweeps gradients               writes benchmarks/sweeps/gradients.json
    python -m benchmarks.sweeps gradients --seeds 1     a trial: prints, and writes nothing

What it writes is read by the chapter's notebook through `shared.recorded`. Only the whole sweep is written.
"""

import argparse
import datetime
import importlib
import json
import subprocess
import time
from dataclasses import asdict
from pathlib import Path

import torch
from tqdm import tqdm

from benchmarks.sweeps import measuring
from benchmarks.sweeps.settings import settings_of
from checker import __version__
from shared.engine.named import EMBEDDED
from shared.recorded import SWEEPS, Recorded

# Every module beside this one that has a recorded sweep, or is to get one: what defines conditions.
CHAPTERS = sorted(path.stem for path in SWEEPS.glob("*.py") if "\nCONDITIONS" in path.read_text(encoding="utf-8"))
SEEDS = 5


def code_version() -> str:
    """The project's version and the commit, "+" where files differ from it; the version alone without git."""
    here = Path(__file__).parent
    try:
        commit = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=7", "--exclude=*"],
            cwd=here,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return __version__
    return f"{__version__} at {commit}"


def sweep(chapter: str, seeds: int) -> Recorded:
    """Run every condition of a chapter with every seed, and tell each as it comes."""
    module = importlib.import_module(f"benchmarks.sweeps.{chapter}")
    told = getattr(module, "told", measuring.told)
    code = code_version()  # now: files may change while the runs go on with what was loaded
    runs = []
    for condition in tqdm(module.CONDITIONS, desc=chapter, unit="condition"):
        for seed in range(seeds):
            started = time.process_time()  # of the processors: a busy machine does not change them
            measured = module.run(condition, seed)
            seconds = round(time.process_time() - started, 1)
            runs.append({"condition": condition, "seed": seed, "seconds": seconds, **measured})
            tqdm.write(f"{condition} seed {seed}: {told(measured)}, {seconds:.0f} s")
    threads = torch.get_num_threads()
    return Recorded(
        chapter=chapter,
        command=f"python -m benchmarks.sweeps {chapter}",
        code=code,
        date=datetime.date.today().isoformat(),
        threads=threads,
        runs=tuple(runs),
        settings={name: settings_of(condition) for name, condition in module.CONDITIONS.items()},
        reward=getattr(module, "REWARD", ""),
        model=getattr(module, "MODEL", EMBEDDED),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweeps", description=__doc__.split("\n\n")[0])
    parser.add_argument("chapter", choices=CHAPTERS)
    parser.add_argument("--seeds", type=int, help=f"fewer than {SEEDS} for a trial")
    options = parser.parse_args()
    seeds = options.seeds or SEEDS
    made = sweep(options.chapter, seeds)
    if seeds < SEEDS:
        print("A trial: nothing was written.")
        return
    path = SWEEPS / f"{options.chapter}.json"
    path.write_text(json.dumps(asdict(made), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{made.origin}\nwritten to {path}")


if __name__ == "__main__":
    main()
