"""Rejection sampling: draw completions, keep the right ones, learn them by supervised training, go round again.

Known as expert iteration (Anthony et al. 2017, arXiv:1705.08439), STaR (Zelikman et al. 2022, arXiv:2203.14465), RAFT
(Dong et al. 2023, arXiv:2304.06767) and ReST-EM (Singh et al. 2023, arXiv:2312.06585), which differ in details. Here
training goes on from the model of the round before, on all that was kept so far; STaR and ReST-EM begin each round
with the base model again, and STaR shows the model the answer where it failed.
`notebooks/what_rl_adds.ipynb` writes the loop and holds it against GRPO at equal samples.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import supervised
from shared.algorithm import TrainingConfig, require_at_least, require_positive
from shared.engine.sampling import Sampling
from shared.rewards import RewardFunction, score_rollout
from shared.rollout import sample
from shared.training import rows_of_step


@dataclass(frozen=True)
class RejectionConfig:
    """Settings of rejection sampling, checked when made.

    rounds: how often is sampled and learnt.
    prompts_per_round: N, rows of the data set in a round.
    num_generations: G, completions for each prompt.
    max_new_tokens: tokens a completion may have.
    most_per_prompt: right completions kept of one prompt, or easy prompts would fill the training set.
    epochs: how often a round goes through what was kept so far.
    batch_size: documents in an update.
    learning_rate: of AdamW.
    seed: of the order of rows and of sampling.
    """

    rounds: int = 4
    prompts_per_round: int = 160
    num_generations: int = 8
    max_new_tokens: int = 64
    most_per_prompt: int = 2
    epochs: int = 2
    batch_size: int = 16
    learning_rate: float = 3e-4
    seed: int = 0

    def __post_init__(self):
        require_at_least(self, 1, "rounds", "prompts_per_round", "num_generations", "max_new_tokens")
        require_at_least(self, 1, "most_per_prompt", "epochs", "batch_size")
        require_positive(self, "learning_rate")


def keep_right(
    prompts: Sequence[str], completions: Sequence[str], rewards: Sequence[float], most: int
) -> list[dict[str, str]]:
    """The completions with reward 1 as documents, `prompt` and `completion`, in the order in which they come.

    No document comes twice, and of one prompt at most so many, the first ones.
    """
    kept: dict[str, list[str]] = {}
    documents = []
    for prompt, completion, reward in zip(prompts, completions, rewards, strict=True):
        of_prompt = kept.setdefault(prompt, [])
        if reward == 1 and completion not in of_prompt and len(of_prompt) < most:
            of_prompt.append(completion)
            documents.append({"prompt": prompt, "completion": completion})
    return documents


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    right: RewardFunction,
    config: RejectionConfig = RejectionConfig(),
) -> list[dict[str, float]]:
    """Train `model` in place; for each round `samples` drawn so far, the share `right`, and how many are `kept`.

    Args:
        right: pays 1 for a right completion.

    Raises ValueError when no completion was right yet: there is nothing to learn.
    """
    sampling = Sampling(config.max_new_tokens)
    sampled: dict[tuple[str, str], list[int]] = {}  # by prompt and completion, the ids that were drawn
    prompts: list[str] = []
    completions: list[str] = []
    rewards: list[float] = []
    history = []
    for number in range(config.rounds):
        batch = rows_of_step(rows, config.prompts_per_round, number, config.seed)
        asked = [row["prompt"] for row in batch]
        rollout = sample(model, tokenizer, asked, config.num_generations, sampling, seed=config.seed, step=number)
        found = score_rollout(right, rollout, batch)[:, 0]  # (B,)
        asked = rollout.repeated(rollout.prompts)
        for key, ids, reward in zip(
            zip(asked, rollout.completions), rollout.ids_of_completions, found.tolist(), strict=True
        ):
            if reward == 1:
                sampled.setdefault(key, ids)
        prompts += asked
        completions += rollout.completions
        rewards += found.tolist()
        documents = keep_right(prompts, completions, rewards, config.most_per_prompt)
        documents = [row | {"completion_ids": sampled[row["prompt"], row["completion"]]} for row in documents]
        if not documents:
            raise ValueError(
                f"None of {len(completions)} completions was right, so there is nothing to learn. Begin with easier "
                "prompts, draw more completions, or teach the format first."
            )
        supervised.train(model, tokenizer, documents, of_round(config, len(documents)), progress=False)
        history.append(
            {"samples": len(completions), "right": found.nan_to_num(nan=0.0).mean().item(), "kept": len(documents)}
        )
    return history


def of_round(config: RejectionConfig, documents: int) -> TrainingConfig:
    """The supervised training of one round: so many epochs over so many documents."""
    return TrainingConfig(
        steps=math.ceil(config.epochs * documents / config.batch_size),
        prompts_per_step=config.batch_size,
        learning_rate=config.learning_rate,
        log_every=0,
        seed=config.seed,
    )
