"""Faults of a run of two real processes: one is killed, Ctrl-C is pressed, it goes on in one process."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from shared.engine import checkpoint

pytestmark = pytest.mark.slow
SMALL = "dots --prompts-per-step 4 --num-generations 2 --eval-rows 4 --train-rows 40 --checkpoint-every 1".split()
MINUTE = 60


def started(path, *arguments, count=2):
    """The command in `count` processes, in a process group of its own; what it says goes to one file."""
    launcher = [sys.executable, "-m"]
    if count > 1:
        launcher += ["torch.distributed.run", f"--nproc_per_node={count}", "--standalone", "-m"]
    said = open(path.with_suffix(f".{count}.txt"), "w+")
    process = subprocess.Popen(
        [*launcher, "shared.run", *SMALL, "--checkpoint", str(path), *arguments],
        stdout=said,
        stderr=subprocess.STDOUT,
        env=os.environ | {"COURSE_DEVICE": "cpu", "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    process.said = said
    return process


def ended(process, patience=5 * MINUTE):
    """Its exit code, and what it said."""
    try:
        code = process.wait(patience)
    finally:
        if process.poll() is None:
            launcher = psutil.Process(process.pid)
            for one in [*launcher.children(recursive=True), launcher]:  # workers may be in sessions of their own
                one.kill()
    process.said.seek(0)
    return code, process.said.read()


def steps_in(path):
    state = checkpoint.load(path)
    return 0 if state is None else len(state["history"])


def wait_for_steps(process, path, steps):
    until = time.monotonic() + 5 * MINUTE
    while steps_in(path) < steps:
        assert process.poll() is None and time.monotonic() < until, ended(process, 1)[1]
        time.sleep(0.2)


def workers(process):
    """The processes that train: those that the launcher started."""
    children = psutil.Process(process.pid).children(recursive=True)
    return [child for child in children if "shared.run" in " ".join(child.cmdline())]


def test_one_is_killed_and_the_same_command_goes_on(tmp_path):
    """Catches survivors that wait for ever, and ones that end without a word."""
    path = tmp_path / "run.pt"
    process = started(path, "--steps", "4000")
    wait_for_steps(process, path, 2)
    killed_at = time.monotonic()
    workers(process)[1].kill()
    code, said = ended(process, MINUTE)
    assert code != 0 and time.monotonic() - killed_at < MINUTE
    assert "Another process of this run has ended" in said and "goes on from the last checkpoint" in said
    assert not [child for child in psutil.process_iter() if child.is_running() and child.pid == process.pid]

    done = steps_in(path)
    result = tmp_path / "run.json"
    code, said = ended(started(path, "--steps", str(done + 2), "--result", str(result)))
    assert code == 0, said
    resumed = json.loads(result.read_text())["history"]
    whole = tmp_path / "whole.pt"
    code, said = ended(started(whole, "--steps", str(done + 2), "--result", str(result)))
    assert code == 0, said
    uninterrupted = json.loads(result.read_text())["history"]
    assert [record["loss"] for record in resumed] == [record["loss"] for record in uninterrupted]


@pytest.mark.parametrize("count", [1, 2])
def test_ctrl_c_ends_all_and_saves(count, tmp_path):
    """As a terminal does it, to the whole group; torchrun puts its workers in sessions of their own and passes the
    signal on. Catches half an update that is kept."""
    path = tmp_path / "run.pt"
    process = started(path, "--steps", "4000", "--save", str(tmp_path / "tuned"), count=count)
    wait_for_steps(process, path, 2)
    os.killpg(process.pid, signal.SIGINT)
    code, said = ended(process, MINUTE)
    assert code != 0 and f"Interrupted after {steps_in(path)} of 4000 steps" in said
    assert said.count("Interrupted after") == 1 and (tmp_path / "tuned" / "README.md").exists()
    done = steps_in(path)
    code, said = ended(started(path, "--steps", str(done + 1), count=1))
    assert code == 0 and "fine-tuned reward" in said and steps_in(path) == done + 1


def test_two_processes_take_two_steps_in_trl(tmp_path):
    """TRL's own division of the completions, under torchrun."""
    result = tmp_path / "run.json"
    process = started(tmp_path / "trl", "--steps", "2", "--engine", "trl", "--result", str(result))
    code, said = ended(process)
    assert code == 0, said
    told = json.loads(result.read_text())
    assert told["measured"]["held_out_prompts"] == 4 and max(r["step"] for r in told["history"]) == 2
