"""The same GRPO several ways: ours, TRL's with its defaults, TRL's tuned, and the plain loops of notebooks.

Every contestant gets the same `Problem`, and a function of the model that it calls once before the first step and
once after each, so that a step is everything between two calls: generation, reward, policy and reference passes,
backward, optimiser, and whatever else its training loop does. Imports and loading the model come before the first.
"""

import gc
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel

from shared.grpo import GRPOConfig, train
from shared.models import COURSE_MODEL, frozen_copy, load_policy
from shared.rewards import RewardFunction
from shared.tasks import analogies
from shared.training import rows_of_step

BETA = 0.04
LEARNING_RATE = 1e-6  # so small that the completions of a long run stay as long as those of the first step


class Reading(NamedTuple):
    """Seconds on the wall, and of all cores together; on one thread the second ignores other programs."""

    wall: float
    cpu: float


def clock() -> Reading:
    return Reading(time.perf_counter(), time.process_time())


@dataclass(frozen=True)
class Workload:
    """prompt_lengths: tokens of each prompt; None takes analogies as they are, and lets them end early.

    With given lengths nothing ends early: every completion has exactly max_new_tokens tokens.
    """

    prompt_lengths: Sequence[int] | None
    num_generations: int
    max_new_tokens: int


WORKLOADS = {
    "W1": Workload(tuple(range(12, 44, 4)), num_generations=8, max_new_tokens=16),
    "W2": Workload(None, num_generations=4, max_new_tokens=8),
}
SHAPES = {
    "embedded": None,
    "135M": LlamaConfig(
        hidden_size=576,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        intermediate_size=1536,
        vocab_size=49_152,
        tie_word_embeddings=True,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=1,
    ),
}


def letters(prompts, completions, **columns) -> list[float]:
    """A reward for measuring steps: how many different characters a completion has. It hardly ever ties."""
    return [float(len(set(completion))) for completion in completions]


def all_weights(model: PreTrainedModel) -> PreTrainedModel:
    return model


@dataclass(frozen=True)
class Problem:
    """The problem that all contestants share: a model's folder or name, the rows, the settings of a run.

    prepare: what is done to the model before it is trained: which weights are.
    device: "cpu", or "cuda" with products in bfloat16.
    """

    folder: Path | str
    rows: list[dict]
    config: GRPOConfig
    reward: RewardFunction = letters
    prepare: Callable[[PreTrainedModel], PreTrainedModel] = all_weights
    device: str = "cpu"

    def load(self) -> tuple:
        """The policy, its frozen reference, and the tokenizer."""
        model, tokenizer = load_policy(self.folder, device=self.device)
        reference = frozen_copy(model)
        return self.prepare(model), reference, tokenizer


OnStep = Callable[[PreTrainedModel], None]
Contestant = Callable[[Problem, OnStep], None]


def put_aside_what_was_loaded() -> None:
    """Take all that is there, before any contestant's first step, out of the garbage collector's sight.

    A collection among the objects of the imported modules takes 0.24 s, and which contestant's steps it falls into is luck.
    """
    gc.collect()
    gc.freeze()


def readings_of(contestant: Contestant, problem: Problem, steps: int) -> list[Reading]:
    """The clock's readings before the first of so many steps and after each."""
    readings = []

    def on_step(model: PreTrainedModel) -> None:
        if not readings:
            put_aside_what_was_loaded()
        readings.append(clock())

    contestant(replace(problem, config=replace(problem.config, steps=steps)), on_step)
    return readings


def in_fresh_process(module: str, job: dict, threads: int) -> dict:
    """The JSON that `python -m module --job JOB` prints at its end, in a process of its own with so many threads.

    Raises RuntimeError with the end of its errors when it fails.
    """
    command = [sys.executable, "-m", module, "--job", json.dumps(job)]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    child = subprocess.run(command, capture_output=True, text=True, env=environment)
    if child.returncode:
        raise RuntimeError(f"The job {job} failed:\n{child.stderr[-2000:]}")
    return json.loads(child.stdout.splitlines()[-1])


def write_model(shape: str, ends: bool, folder: Path) -> None:
    """Save the model of a shape and the course's tokenizer; without `ends`, only padding ends a completion.

    That token is never a target in training, so no completion ends early and none has to be forbidden to.
    """
    torch.manual_seed(0)
    model, tokenizer = load_policy(COURSE_MODEL, device="cpu")
    if SHAPES[shape] is not None:
        model = LlamaForCausalLM(SHAPES[shape])
    if not ends:
        tokenizer.eos_token = tokenizer.pad_token
        model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_problem(shape: str, workload: Workload, folder: Path) -> Problem:
    """The rows and settings of a workload, on a model written to `folder`."""
    write_model(shape, workload.prompt_lengths is None, folder)
    rows = analogies.dataset("train", 8)
    if workload.prompt_lengths is not None:
        rows = [{"prompt": prompt} for prompt in prompts_of(workload.prompt_lengths)]
    config = GRPOConfig(
        prompts_per_step=len(rows),
        num_generations=workload.num_generations,
        max_new_tokens=workload.max_new_tokens,
        beta=BETA,
        learning_rate=LEARNING_RATE,
        warmup_steps=0,
        log_every=0,
    )
    return Problem(folder, rows, config)


def prompts_of(lengths: Sequence[int]) -> list[str]:
    """Different texts of exactly so many tokens, cut from a row of analogies."""
    _, tokenizer = load_policy(COURSE_MODEL, device="cpu")
    text = " ".join(row["prompt"] for row in analogies.dataset("train", 800))
    ids = tokenizer(text)["input_ids"]
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    prompts = [tokenizer.decode(ids[start : start + length]) for start, length in zip(starts, lengths)]
    found = [len(tokenizer(prompt)["input_ids"]) for prompt in prompts]
    if found != list(lengths):
        raise ValueError(f"The prompts have {found} tokens instead of {lengths}: choose other places to cut the text.")
    return prompts


def ours(problem: Problem, on_step: OnStep) -> None:
    """`shared.grpo.train`."""
    model, reference, tokenizer = problem.load()
    on_step(model)
    train(
        model,
        tokenizer,
        problem.rows,
        problem.reward,
        problem.config,
        reference=reference,
        on_step=lambda record: on_step(model),
        progress=False,
    )


def trl(problem: Problem, on_step: OnStep, **tuning) -> None:
    """`trl.GRPOTrainer`, on the CPU in float32. What it would print or save is off; the rest is default."""
    from datasets import Dataset
    from transformers import PrinterCallback, TrainerCallback
    from trl import GRPOConfig as TRLConfig
    from trl import GRPOTrainer

    class Told(TrainerCallback):
        def on_train_begin(self, args, state, control, **kwargs):
            on_step(kwargs["model"])

        def on_step_end(self, args, state, control, **kwargs):
            on_step(kwargs["model"])

    model, _, tokenizer = problem.load()
    ours = problem.config
    epochs = math.ceil(ours.steps * ours.prompts_per_step / len(problem.rows))  # as one: a new epoch costs time
    settings = dict(per_device_train_batch_size=ours.prompts_per_step * ours.num_generations) | tuning
    args = TRLConfig(
        output_dir=str(Path(tempfile.gettempdir()) / "trl"),
        use_cpu=problem.device == "cpu",
        bf16=problem.device != "cpu",
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        max_steps=ours.steps,
        num_generations=ours.num_generations,
        beta=ours.beta,
        max_completion_length=ours.max_new_tokens,
        learning_rate=ours.learning_rate,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=ours.warmup_steps,
        loss_type=ours.loss_type,
        seed=ours.seed,
        **settings,
    )
    trainer = GRPOTrainer(
        model,
        reward_funcs=problem.reward,
        args=args,
        train_dataset=Dataset.from_list(problem.rows * epochs),
        processing_class=tokenizer,
        callbacks=[Told()],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()


def trl_tuned(problem: Problem, on_step: OnStep, **options) -> None:
    """TRL as a user can tune it: activations are kept instead of computed twice (gradient checkpointing)."""
    trl(problem, on_step, gradient_checkpointing=False, logging_steps=1000, **options)


def trl_in_passes(problem: Problem, on_step: OnStep, at_once: int = 8) -> None:
    """TRL tuned, with a step in passes of 8 completions: in one pass a real model needs more than 16 GB."""
    passes = problem.config.prompts_per_step * problem.config.num_generations // at_once
    trl_tuned(problem, on_step, per_device_train_batch_size=at_once, gradient_accumulation_steps=passes)


# Of the model, the prompts' batch, G and generate's options: (B, P + C) ids, those of one prompt next to each other.
SampleGroups = Callable[[PreTrainedModel, Mapping, int, dict], torch.Tensor]


def one_call(model: PreTrainedModel, batch: Mapping, G: int, options: dict) -> torch.Tensor:
    """A group from one call of `generate`."""
    return model.generate(**batch, num_return_sequences=G, **options)


def a_call_each(model: PreTrainedModel, batch: Mapping, G: int, options: dict) -> torch.Tensor:
    """A call of `generate` for each completion of a group, as many published notebooks do."""
    groups = [model.generate(**batch, **options) for _ in range(G)]
    width = max(group.size(1) for group in groups)
    pad = options["pad_token_id"]
    padded = [torch.nn.functional.pad(group, (0, width - group.size(1)), value=pad) for group in groups]
    return torch.stack(padded, dim=1).flatten(0, 1)


def plain_loop(problem: Problem, on_step: OnStep, sample_groups: SampleGroups = a_call_each) -> None:
    """The loop of published notebooks: padded passes, a full log-softmax, `generate` as `sample_groups` calls it."""
    model, reference, tokenizer = problem.load()
    config = problem.config
    torch.manual_seed(config.seed)
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), weight_decay=0.0)
    on_step(model)
    for step in range(config.steps):
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * min(1.0, (step + 1) / max(1, config.warmup_steps))
        rows = rows_of_step(problem.rows, config.prompts_per_step, step, config.seed)
        loss = plain_loss(model, reference, tokenizer, problem, rows, sample_groups)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), config.max_grad_norm)
        optimizer.step()
        on_step(model)


def plain_loop_in_one_call(problem: Problem, on_step: OnStep) -> None:
    plain_loop(problem, on_step, one_call)


def plain_loss(model, reference, tokenizer, problem: Problem, rows: list[dict], sample_groups) -> torch.Tensor:
    """Sample, reward and score one batch the plain way."""
    config = problem.config
    G = config.num_generations
    prompts = [row["prompt"] for row in rows]
    batch = tokenizer(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
    start = batch["input_ids"].size(1)
    options = {
        "max_new_tokens": config.max_new_tokens,
        "do_sample": True,
        "pad_token_id": tokenizer.pad_token_id,
    }
    ids = sample_groups(model, batch, G, options)  # (B, P+C)
    completion_ids = ids[:, start:]  # (B, C)
    ended = (completion_ids == tokenizer.eos_token_id).long()
    completion_mask = (ended.cumsum(dim=1) - ended == 0).float()  # 1 up to and including the first EOS
    prompt_mask = batch["attention_mask"].repeat_interleave(G, dim=0)
    attention_mask = torch.cat([prompt_mask, completion_mask.long()], dim=1)

    completions = tokenizer.batch_decode(completion_ids, skip_special_tokens=True)
    columns = {name: [row[name] for row in rows for _ in range(G)] for name in rows[0]}  # B of each
    rewards = torch.tensor(problem.reward(columns.pop("prompt"), completions, **columns)).view(-1, G)  # (N, G)
    advantages = (rewards - rewards.mean(dim=1, keepdim=True)) / (rewards.std(dim=1, keepdim=True) + 1e-4)

    policy = plain_logps(model, ids, attention_mask, start)
    frozen = policy.detach()
    if config.beta:
        with torch.no_grad():
            frozen = plain_logps(reference, ids, attention_mask, start)
    return plain_objective(policy, policy.detach(), frozen, advantages.flatten(), completion_mask, config.beta)


def plain_logps(model, ids, attention_mask, start: int) -> torch.Tensor:
    """(B, C) log-probabilities of what follows the first `start` tokens, from a full log-softmax."""
    logits = model(input_ids=ids, attention_mask=attention_mask).logits[:, :-1]
    every = torch.log_softmax(logits, dim=-1)  # (B, P+C-1, V)
    return every.gather(-1, ids[:, 1:, None])[:, start - 1 :, 0]


def plain_objective(logps, old_logps, ref_logps, advantages, completion_mask, beta: float) -> torch.Tensor:
    """The published loss, without clipping: it never acts in a first epoch."""
    log_r = ref_logps - logps
    kl = torch.exp(log_r) - log_r - 1
    ratio = torch.exp(logps - old_logps)
    per_token = -ratio * advantages[:, None] + beta * kl
    return ((per_token * completion_mask).sum(dim=1) / completion_mask.sum(dim=1)).mean()


CONTESTANTS: dict[str, Contestant] = {
    "ours": ours,
    "TRL": trl,
    "TRL tuned": trl_tuned,
    "plain loop": plain_loop,
}
