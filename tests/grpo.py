"""The training by GRPO that several files of tests share: four prompts of letters, rewards for a completion's letters."""

from shared.grpo import GRPOConfig, train

ROWS = [{"prompt": p, "answer": a} for p, a in [("abc", "a"), ("d", "b"), ("efg", "c"), ("hi", "d")]]
CONFIG = GRPOConfig(steps=3, prompts_per_step=4, num_generations=4, max_new_tokens=5, log_every=0)


def first_letter(prompts, completions, answer, **columns):
    """Pays for a completion that begins with the row's answer."""
    return [float(c.startswith(a)) for c, a in zip(completions, answer)]


def longer_is_better(prompts, completions, **columns):
    return [float(len(c)) for c in completions]


def same_for_all(prompts, completions, **columns):
    return [1.0] * len(completions)


def parameters(model):
    return [p.detach().clone() for p in model.parameters()]


def run(model, tokenizer, reward=first_letter, config=CONFIG, rows=ROWS, **options):
    return train(model, tokenizer, rows, reward, config, progress=False, **options)
