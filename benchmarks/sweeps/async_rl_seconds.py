"""A control of `notebooks/async_rl.ipynb`: sampling and learning in two processes, to hold the chapter's clock against.

The learner is this process and the sampler a second one, with a thread each. Weights go through one queue and rollouts through
another, as bytes; whoever reads them counts that as its own seconds. Before rollout t the sampler waits until the weights have
t - age updates, and takes the newest that have come. At age 0 one of the two always waits, so what each needs alone is measured
there. A "seed" is a round of all ages, one after the other: a busy minute of the machine meets all of them.
"""

import multiprocessing
import os
import pickle
import time
from multiprocessing.queues import Queue
from statistics import mean

import torch

from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.off_policy import measure, setting
from shared.grpo import GRPOConfig, collect, policy_loss
from shared.models import frozen_copy
from shared.tasks import dots
from shared.updates import apply_gradient

UPDATES, PROMPTS, RATE = 48, 16, 3e-4  # those of the chapter
CONDITIONS = {"dots": (0, 1, 4)}  # ages


def sampler(weights: Queue, rollouts: Queue, age: int, config: GRPOConfig) -> None:
    """Sample a rollout for each update, and hand it over with the version of its weights and the seconds it took."""
    torch.set_num_threads(1)
    shared = setting("dots")
    model, rows, version = frozen_copy(shared["base"]), shared["materials"].train_rows, 0
    rollouts.put(b"ready")
    for step in range(config.steps):
        newest = b""
        while version < step - age or not weights.empty():
            version, newest = weights.get()
        begun = time.perf_counter()
        if newest:
            model.load_state_dict(pickle.loads(newest))
        batch = [rows[(step * PROMPTS + place) % len(rows)] for place in range(PROMPTS)]
        experience = collect(model, shared["tokenizer"], batch, shared["reward"], config, step=step)
        rollouts.put((pickle.dumps(experience), version, time.perf_counter() - begun))


def train(age: int, seed: int) -> dict[str, float]:
    """Mean seconds of sampling and of learning, seconds of the whole run, and the mean age of what was learnt from. The
    clip acts on one ratio, to the policy that sampled."""
    shared = setting("dots")
    config = GRPOConfig(
        steps=UPDATES, prompts_per_step=PROMPTS, max_new_tokens=dots.MAX_NEW_TOKENS, learning_rate=RATE, seed=seed
    )
    model = frozen_copy(shared["base"]).requires_grad_(True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    context = multiprocessing.get_context("spawn")
    weights, rollouts = context.Queue(), context.Queue()
    process = context.Process(target=sampler, args=(weights, rollouts, age, config), daemon=True)
    process.start()
    assert rollouts.get() == b"ready"
    sampling, learning, ages = [], [], []
    started = time.perf_counter()
    for update in range(UPDATES):
        experience, version, seconds = rollouts.get()
        begun = time.perf_counter()
        loss, _ = policy_loss(model, pickle.loads(experience), config)
        apply_gradient(loss, model, optimizer, config.max_grad_norm)
        weights.put((update + 1, pickle.dumps(model.state_dict())))
        learning.append(time.perf_counter() - begun)
        sampling.append(seconds)
        ages.append(update - version)
    whole = time.perf_counter() - started
    process.terminate()  # the last weights, which nobody reads, would keep the queue open
    process.join()
    reward = measure(model, shared)["reward"]
    return {"sampling": mean(sampling), "learning": mean(learning), "whole": whole, "age": mean(ages), "reward": reward}


def run(name: str, seed: int, ages: tuple[int, ...] = ()) -> dict[str, float]:
    """One round: what each age measures, and the machine's load in the minute before and after."""
    torch.set_num_threads(1)
    before = os.getloadavg()[0]
    measured = {
        f"{key} at {age}": rounded(value) for age in ages or CONDITIONS[name] for key, value in train(age, seed).items()
    }
    return measured | {"load before": rounded(before), "load after": rounded(os.getloadavg()[0])}
