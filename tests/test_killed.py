"""A run that is killed with SIGKILL at any moment and started again ends where an uninterrupted one does, bit for bit."""

import hashlib
import random
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
import torch

from tests.algorithms import start, without_seconds
from tests.fakes import letter_tokenizer
from tests.several import PATIENCE, forked

STEPS = 12


def train(name: str, path: Path, said: Connection) -> None:
    """Train by one of the algorithms. Says each step, and in the end what there is to compare."""
    torch.set_num_threads(1)
    model, run = start(name)
    history = run(
        letter_tokenizer(),
        settings={"steps": STEPS, "checkpoint_every": 1},
        checkpoint_path=path,
        on_step=lambda record: said.send(record["step"]),
    )
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().numpy().tobytes())
    said.send((digest.hexdigest(), without_seconds(history)))


def steps_said(said: Connection):
    """The steps as they are said, and in the end what there is to compare."""
    while True:
        assert said.poll(PATIENCE), "it hangs"
        try:
            yield said.recv()
        except EOFError:
            return


def finished(process: BaseProcess, said: Connection) -> tuple:
    *_, last = steps_said(said)
    process.join(PATIENCE)
    assert process.exitcode == 0
    return last


@pytest.mark.slow
@pytest.mark.parametrize("name", ["GRPO", "RLOO", "PPO", "distillation", "supervised"])
def test_a_killed_run_ends_where_an_uninterrupted_one_does(name, tmp_path):
    """Catches what is not in the checkpoint, a half-written file, and a lock that outlives its process."""
    whole = finished(*forked(train, name, tmp_path / "whole.pt"))
    path = tmp_path / "killed.pt"
    chance = random.Random(name)
    for _ in range(4):
        process, said = forked(train, name, path)
        for _ in steps_said(said):  # within a step, or while it is being saved
            if chance.random() < 0.5:
                break
        time.sleep(chance.random() * 0.02)
        process.kill()
        process.join(PATIENCE)
    assert finished(*forked(train, name, path)) == whole
