"""The same GRPO step four ways: ours, TRL's with its defaults, TRL's tuned, and the plain loop of notebooks.

Every contestant gets the same `Problem` and returns the clock's readings at the end of each step, so that a
step is everything between two of them: generation, reward, policy and reference passes, backward, optimiser,
and whatever else its training loop does. Loading the model comes before the first reading.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from shared.grpo import GRPOConfig, train
from shared.models import COURSE_MODEL, frozen_copy, load_policy
from shared.tasks import analogies

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


@dataclass(frozen=True)
class Problem:
    """What all contestants share: a folder with model and tokenizer, the rows, and the settings of a step."""

    folder: Path
    rows: list[dict]
    config: GRPOConfig


def letters(prompts, completions, **columns) -> list[float]:
    """The reward: how many different characters a completion has. It costs nothing and hardly ever ties."""
    return [float(len(set(completion))) for completion in completions]


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
        eval_every=1,
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


def ours(problem: Problem, steps: int) -> list[Reading]:
    """`shared.grpo.train`; its evaluation hook, called at the end of each step, reads the clock."""
    model, tokenizer = load_policy(problem.folder, device="cpu")
    readings = []

    def read(model) -> float:
        readings.append(clock())
        return 0.0

    train(
        model,
        tokenizer,
        problem.rows,
        letters,
        replace(problem.config, steps=steps),
        reference=frozen_copy(model),
        evaluate=read,
        progress=False,
    )
    return readings


def trl(problem: Problem, steps: int, **tuning) -> list[Reading]:
    """`trl.GRPOTrainer` on the CPU in float32. What it would print or save is off; the rest is default."""
    from datasets import Dataset
    from transformers import PrinterCallback, TrainerCallback
    from trl import GRPOConfig as TRLConfig
    from trl import GRPOTrainer

    readings = []

    class Clock(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            readings.append(clock())

    model, tokenizer = load_policy(problem.folder, device="cpu")
    ours = problem.config
    settings = dict(per_device_train_batch_size=ours.prompts_per_step * ours.num_generations) | tuning
    args = TRLConfig(
        output_dir=str(problem.folder / "trl"),
        use_cpu=True,
        bf16=False,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        max_steps=steps,
        num_generations=ours.num_generations,
        beta=ours.beta,
        max_completion_length=ours.max_new_tokens,
        learning_rate=ours.learning_rate,
        lr_scheduler_type="constant",
        **settings,
    )
    trainer = GRPOTrainer(
        model,
        reward_funcs=letters,
        args=args,
        train_dataset=Dataset.from_list(problem.rows * steps),
        processing_class=tokenizer,
        callbacks=[Clock()],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return readings


def trl_tuned(problem: Problem, steps: int) -> list[Reading]:
    """TRL as a user can tune it: activations are kept instead of computed twice (gradient checkpointing)."""
    return trl(problem, steps, gradient_checkpointing=False, logging_steps=1000)


def plain_loop(problem: Problem, steps: int) -> list[Reading]:
    """The loop of many published notebooks: G calls of `generate`, padded passes, a full log-softmax."""
    model, tokenizer = load_policy(problem.folder, device="cpu")
    reference = frozen_copy(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=problem.config.learning_rate)
    readings = []
    for _ in range(steps):
        loss = plain_loss(model, reference, tokenizer, problem)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), problem.config.max_grad_norm)
        optimizer.step()
        readings.append(clock())
    return readings


def plain_loss(model, reference, tokenizer, problem: Problem) -> torch.Tensor:
    """Sample, reward and score one batch the plain way."""
    config, prompts = problem.config, [row["prompt"] for row in problem.rows]
    batch = tokenizer(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
    start = batch["input_ids"].size(1)
    pad, eos = tokenizer.pad_token_id, tokenizer.eos_token_id
    groups = [
        model.generate(**batch, max_new_tokens=config.max_new_tokens, do_sample=True, pad_token_id=pad)
        for _ in range(config.num_generations)
    ]
    width = max(group.size(1) for group in groups)
    padded = [torch.nn.functional.pad(group, (0, width - group.size(1)), value=pad) for group in groups]
    ids = torch.stack(padded, dim=1).flatten(0, 1)  # (B, P+C)
    completion_ids = ids[:, start:]  # (B, C)
    ended = (completion_ids == eos).long()
    completion_mask = (ended.cumsum(dim=1) - ended == 0).float()  # 1 up to and including the first EOS
    prompt_mask = batch["attention_mask"].repeat_interleave(config.num_generations, dim=0)
    attention_mask = torch.cat([prompt_mask, completion_mask.long()], dim=1)

    completions = tokenizer.batch_decode(completion_ids, skip_special_tokens=True)
    rewards = torch.tensor(letters(prompts, completions)).view(-1, config.num_generations)  # (N, G)
    advantages = (rewards - rewards.mean(dim=1, keepdim=True)) / (rewards.std(dim=1, keepdim=True) + 1e-4)

    policy = plain_logps(model, ids, attention_mask, start)
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


CONTESTANTS: dict[str, Callable[[Problem, int], list[Reading]]] = {
    "ours": ours,
    "TRL": trl,
    "TRL tuned": trl_tuned,
    "plain loop": plain_loop,
}
