"""Every algorithm on the loop, ready to train a tiny model, for tests that try them all."""

import torch

from shared import distill, dpo, grpo, ppo, reward_model, rloo, supervised
from shared.algorithm import TrainingConfig
from shared.distill import DistillConfig
from shared.dpo import DPOConfig
from shared.grpo import GRPOConfig
from shared.ppo import ActorCritic, PPOConfig
from shared.reward_model import RewardModel
from shared.rloo import RLOOConfig
from tests.fakes import letter_tokenizer, tiny_llama

SAMPLING = ("GRPO", "RLOO", "PPO")  # those that sample completions and have a constraint and a reference
ALL = (*SAMPLING, "distillation", "supervised", "DPO", "reward model")
TEXTS = [{"prompt": p, "completion": c} for p, c in [("abc", "de"), ("d", "b"), ("efg", "hhh"), ("hi", "j")]]

CHOICES = [
    {"prompt": "abc", "chosen": "de", "rejected": "jjjj"},
    {"prompt": "d", "chosen": "", "rejected": "b"},
    {"prompt": "efg", "chosen": "hhh", "rejected": "a"},
    {"prompt": "hi", "chosen": "c", "rejected": "jj"},
]


TAUGHT = [row | {"teacher_prompt": "jj" + row["prompt"]} for row in TEXTS]


def longer_is_better(prompts, completions, **columns):
    return [float(len(completion)) for completion in completions]


def parts_of(name: str, model):
    """An algorithm's module, class and configuration, and the policy it trains: PPO's has a value head."""
    if name == "PPO":
        return ppo, ppo.PPO, PPOConfig, ActorCritic(model)
    if name == "RLOO":
        return rloo, rloo.RLOO, RLOOConfig, model
    return grpo, grpo.GRPO, GRPOConfig, model


def start(name: str, seed: int = 0):
    """A model, and the training of it by one of the algorithms as a function of the settings."""
    model = tiny_llama(seed).eval()
    reference = tiny_llama(9).eval()
    size = {"prompts_per_step": 3, "log_every": 0, "learning_rate": 1e-2, "minibatches": 1}
    sampled = {"max_new_tokens": 4, "num_generations": 4, "beta": 0.01}
    if name == "supervised":
        return model, lambda tokenizer, **options: supervised.train(
            model, tokenizer, TEXTS, TrainingConfig(**size | options.pop("settings")), progress=False, **options
        )
    if name == "distillation":
        return model, lambda tokenizer, **options: distill.train(
            model,
            tokenizer,
            TAUGHT,
            longer_is_better,
            DistillConfig(**size | {"max_new_tokens": 4, "num_generations": 2} | options.pop("settings")),
            teacher=reference,
            progress=False,
            **options,
        )
    if name == "DPO":
        return model, lambda tokenizer, **options: dpo.train(
            model,
            tokenizer,
            CHOICES,
            DPOConfig(**size | options.pop("settings")),
            reference=reference,
            progress=False,
            **options,
        )
    if name == "reward model":
        judge = RewardModel(reference, letter_tokenizer())
        torch.nn.init.normal_(judge.head.weight, generator=torch.Generator().manual_seed(seed))
        return judge, lambda tokenizer, **options: reward_model.train(
            judge, CHOICES, TrainingConfig(**size | options.pop("settings")), progress=False, **options
        )
    if name == "PPO":
        policy = ActorCritic(model)
        torch.nn.init.normal_(policy.value_head[-1].weight, generator=torch.Generator().manual_seed(seed))
        return policy, lambda tokenizer, **options: ppo.train(
            policy,
            reference,
            tokenizer,
            TEXTS,
            longer_is_better,
            PPOConfig(**size | sampled | {"minibatches": 2} | options.pop("settings")),
            progress=False,
            **options,
        )
    module, _, config, _ = parts_of(name, model)
    return model, lambda tokenizer, **options: module.train(
        model,
        tokenizer,
        TEXTS,
        longer_is_better,
        config(**size | sampled | options.pop("settings")),
        reference=reference,
        progress=False,
        **options,
    )


def without_seconds(history):
    return [{name: value for name, value in record.items() if name != "step_time"} for record in history]
