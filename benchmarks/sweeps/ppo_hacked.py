"""A sweep of `notebooks/ppo.ipynb`: how much of the hacked text comes from the missing penalty, and from the missing bound?

The hacked run rewards full stops without a bound, with beta 0, a larger step size and a weight on the entropy. Each of
the other two conditions takes back one thing and leaves the rest. All are measured on the held-out openings.
"""

from dataclasses import dataclass, replace

from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.ppo import PPO, completed, trained
from shared.ppo import PPOConfig
from shared.rewards import RewardFunction
from shared.tasks import sentences

HACKED = replace(PPO, steps=20, prompts_per_step=32, beta=0.0, learning_rate=1e-3, entropy_coef=0.02)


def unbounded(prompts, completions, **columns) -> list[float]:
    """Full stops over 10, without a limit."""
    return [count / sentences.MOST_FULL_STOPS for count in sentences.count_reward(prompts, completions)]


@dataclass(frozen=True)
class Condition:
    """Settings, and what is rewarded."""

    config: PPOConfig = HACKED
    reward: RewardFunction = unbounded


REWARD = "full stops"
CONDITIONS = {
    "hacked": Condition(),
    "hacked, but beta 0.1": Condition(replace(HACKED, beta=PPO.beta)),
    "hacked, but bounded": Condition(reward=sentences.reward),
}


def run(name: str, seed: int, steps: int | None = None) -> dict[str, float]:
    """Train one condition with one seed; full stops, words and KL on held-out openings."""
    condition = CONDITIONS[name]
    config = replace(condition.config, seed=seed, steps=steps or condition.config.steps)
    completions, kl = completed(trained(config, condition.reward))
    stops = sum(text.count(".") for text in completions)
    known = sum(map(sentences.share_of_known_words, completions))
    return {
        "full stops": stops / len(completions),
        "words a stop": rounded(sum(len(text.replace(".", " ").split()) for text in completions) / max(1, stops), 4),
        "known words": rounded(known / len(completions), 4),
        "KL": rounded(kl, 4),
    }
