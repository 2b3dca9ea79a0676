"""Credit by lines beside one advantage for all tokens, for `notebooks/countdown.ipynb`: which gradient is nearer the true one.

Both estimate the gradient of the expected correctness of a policy that GRPO has trained, on problems with three numbers,
by the sum of A_t grad log pi(o_t) over the tokens. With r the reward and b the mean reward of the group's other completions:

    all tokens alike    A_t = r - b
    by lines            A_t = V(behind the token's line) - V(before it)

V is b at the prompt, r at the end, and behind a line of the working the mean reward of K completions that go on from there
(VinePPO, Kazemnejad et al. 2024, arXiv:2410.01679). They count among the samples; a state that several completions share
is valued once. Unlike the paper, what is compared is the direction of one gradient: there is no PPO update, and the value
of the prompt costs nothing. The true gradient is that of 1,024 completions of each problem, none of them used elsewhere.
"""

from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from benchmarks.sweeps.measuring import rounded
from shared import grpo
from shared.algorithm import trained_parameters
from shared.engine.sampling import Sampling
from shared.grpo import GRPOConfig
from shared.logps import completion_logps
from shared.models import frozen_copy, load_policy
from shared.recipes import RECIPES
from shared.rewards import columns_of
from shared.rollout import Rollout, sample
from shared.tasks import countdown

PROBLEMS, G, DRAWS = 16, 8, 6
REFERENCE = 512  # completions of each problem in one half of the reference
FIRST_STEP = 1000  # of the random numbers: behind those of the training
CONDITIONS = {"K = 1": 1, "K = 3": 3, "K = 9": 9}
TRAINING = GRPOConfig(  # as in the notebook
    steps=40,
    prompts_per_step=10,
    num_generations=8,
    max_new_tokens=countdown.MAX_NEW_TOKENS,
    learning_rate=RECIPES["countdown"].settings["learning_rate"],
    warmup_steps=0,
    log_every=0,
)


@dataclass(frozen=True)
class Policy:
    """A trained policy and the rows that it is asked."""

    model: torch.nn.Module
    tokenizer: object
    rows: list[dict]
    seed: int

    def groups(self, num_generations: int, step: int) -> tuple[Rollout, Tensor]:
        """So many completions of each row and their rewards, (N, num_generations)."""
        prompts = [row["prompt"] for row in self.rows]
        return self.answers(prompts, self.rows, num_generations, step)

    def answers(self, prompts: list[str], rows: list[dict], count: int, step: int) -> tuple[Rollout, Tensor]:
        """`count` completions of each prompt, and the rewards of prompt and completion together, (prompts, count)."""
        sampling = Sampling(max_new_tokens=countdown.MAX_NEW_TOKENS)
        rollout = sample(self.model, self.tokenizer, prompts, count, sampling, seed=self.seed, step=step)
        columns = {name: rollout.repeated(column) for name, column in columns_of(rows).items()}
        begun = [prompt.removeprefix(row["prompt"]) for prompt, row in zip(prompts, rows)]
        texts = [begin + end for begin, end in zip(rollout.repeated(begun), rollout.completions)]
        rewards = countdown.correctness_reward(texts, texts, **columns)
        return rollout, torch.tensor(rewards).view(len(prompts), count)

    def gradient(self, rollout: Rollout, credit: Tensor) -> Tensor:
        """The mean over completions of the sum of credit, (B, C), times score, problem by problem; (parameters,)."""
        parameters = trained_parameters(self.model)
        total = 0.0
        for problem in range(len(rollout.prompts)):
            part = rollout.take([problem])
            weights = credit[rollout.rows_of([problem]), : part.completion_ids.size(1)]
            objective = (completion_logps(self.model, part)[0] * weights).sum() / len(rollout)
            total += torch.cat([g.flatten() for g in torch.autograd.grad(objective, parameters)])
        return total


def baselines(rewards: Tensor) -> Tensor:
    """The mean reward of each completion's group without its own, (N, G)."""
    return (rewards.sum(dim=1, keepdim=True) - rewards) / (rewards.size(1) - 1)


def alike(rollout: Rollout, rewards: Tensor) -> Tensor:
    """One advantage for all tokens of a completion, (B, C), from (N, G) rewards."""
    return (rewards - baselines(rewards)).flatten()[:, None] * rollout.completion_mask


def by_lines(ends: list[int], values: list[float], width: int) -> Tensor:
    """The change in value by each line, at each of its tokens, (width,).

    ends: behind which token each line ends, the last with the completion.
    values: at the prompt and behind each line, one more than lines.
    """
    credit = torch.zeros(width)
    for begin, end, before, behind in zip([0, *ends], ends, values, values[1:]):
        credit[begin:end] = behind - before
    return credit


def ends_of_working(ids: list[int], tokenizer) -> list[int]:
    """Behind which token of a completion each line of its working ends, line end included."""
    new_line = tokenizer.convert_tokens_to_ids("\n")
    breaks = [t + 1 for t, token in enumerate(ids) if token == new_line]
    lines = [tokenizer.decode(ids[begin:end]).strip() for begin, end in zip([0, *breaks], breaks)]
    return [end for end, line in zip(breaks, lines) if countdown.STEP.fullmatch(line)]


def credit_by_lines(policy: Policy, rollout: Rollout, rewards: Tensor, K: int, step: int) -> tuple[Tensor, int, int]:
    """The credit of each token, (B, C), and how many samples and tokens the values took."""
    ids = [row[:length] for row, length in zip(rollout.completion_ids.tolist(), rollout.lengths.tolist())]
    ends = [ends_of_working(row, policy.tokenizer) for row in ids]
    texts = [[policy.tokenizer.decode(row[:end]) for end in of_row] for row, of_row in zip(ids, ends)]
    asked = rollout.repeated(policy.rows)
    states = {row["prompt"] + text: row for row, of_row in zip(asked, texts) for text in of_row}
    behind, behind_rewards = policy.answers(list(states), list(states.values()), K, step)
    value = dict(zip(states, behind_rewards.mean(dim=1).tolist()))
    starts, earned = baselines(rewards).flatten().tolist(), rewards.flatten().tolist()
    credit = [
        by_lines(
            [*ends[i], len(ids[i])],
            [starts[i], *(value[asked[i]["prompt"] + text] for text in texts[i]), earned[i]],
            rollout.completion_ids.size(1),
        )
        for i in range(len(ids))
    ]
    return torch.stack(credit), len(behind), int(behind.lengths.sum())


@cache
def trained(seed: int) -> tuple[Policy, Tensor]:
    """The policy of a seed, and the halves of its reference gradient, (2, parameters)."""
    base, tokenizer = load_policy()
    model = frozen_copy(base).requires_grad_(True)
    rewards = [countdown.format_reward, countdown.correctness_reward]
    rows = countdown.dataset("train", 1000, seed=0)
    grpo.train(model, tokenizer, rows, rewards, replace(TRAINING, seed=seed), progress=False)
    held_out = [row for row in countdown.dataset("eval", 200, seed=0) if len(row["numbers"]) == 3]
    policy = Policy(model, tokenizer, held_out[:PROBLEMS], seed)
    halves = [policy.groups(REFERENCE, FIRST_STEP + half) for half in (0, 1)]
    return policy, torch.stack([policy.gradient(rollout, alike(rollout, earned)) for rollout, earned in halves])


def run(name: str, seed: int) -> dict[str, float]:
    """Cosines with the reference, means over draws: `by lines`, and all tokens alike on the `same completions` without
    continuations, at `equal samples` and at `equal tokens`."""
    K = CONDITIONS[name]
    policy, halves = trained(seed)
    found = {way: [] for way in ("samples", "same completions", "by lines", "equal samples", "equal tokens")}
    for draw in range(DRAWS):
        step = FIRST_STEP + 10 * (draw + 1)
        rollout, rewards = policy.groups(G, step)
        credit, samples, tokens = credit_by_lines(policy, rollout, rewards, K, step + 1)
        samples += len(rollout)
        tokens += int(rollout.lengths.sum())
        sizes = {"equal samples": samples, "equal tokens": tokens / rollout.lengths.double().mean().item()}
        gradients = {
            "same completions": policy.gradient(rollout, alike(rollout, rewards)),
            "by lines": policy.gradient(rollout, credit),
        }
        for place, (size, completions) in enumerate(sizes.items()):
            plain, earned = policy.groups(round(completions / PROBLEMS), step + 2 + place)
            gradients[size] = policy.gradient(plain, alike(plain, earned))
        found["samples"].append(samples)
        for way, gradient in gradients.items():
            found[way].append(torch.cosine_similarity(gradient, halves.mean(dim=0), dim=0).item())
    halves_agree = torch.cosine_similarity(*halves, dim=0).item()
    means = {way: rounded(sum(values) / DRAWS) for way, values in found.items()}
    return means | {"halves of the reference": rounded(halves_agree)}
