"""A run that is killed with SIGKILL at any moment and started again ends where an uninterrupted one does, bit for bit."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STEPS = 12
RUN = """
import hashlib, json, sys, torch
from tests.fakes import letter_tokenizer
from tests.algorithms import start

torch.set_num_threads(1)
name, path, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
model, run = start(name)
history = run(
    letter_tokenizer(), settings={"steps": steps, "checkpoint_every": 1}, checkpoint_path=path,
    on_step=lambda record: print("step", record["step"], flush=True),
)
digest = hashlib.sha256()
for parameter in model.parameters():
    digest.update(parameter.detach().numpy().tobytes())
records = [{k: v for k, v in record.items() if k != "step_time"} for record in history]
print(json.dumps({"digest": digest.hexdigest(), "history": records}), flush=True)
"""


def begin(name: str, path: Path) -> subprocess.Popen:
    command = [sys.executable, "-c", RUN, name, str(path), str(STEPS)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen) -> dict:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return json.loads(out.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["GRPO", "RLOO", "PPO", "distillation", "supervised"])
def test_a_killed_run_ends_where_an_uninterrupted_one_does(name, tmp_path):
    """Catches what is not in the checkpoint, a half-written file, and a lock that outlives its process."""
    whole = finished(begin(name, tmp_path / "whole.pt"))
    path = tmp_path / "killed.pt"
    chance = random.Random(name)
    for _ in range(4):
        process = begin(name, path)
        for line in process.stdout:  # within a step, or while it is being saved
            if line.startswith("step") and chance.random() < 0.5:
                break
        time.sleep(chance.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert finished(begin(name, path)) == whole
