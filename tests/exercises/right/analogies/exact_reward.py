"""Right ways to compare the first word of a completion."""

from shared.tasks import analogies


def ORACLE(prompts, completions, answers):
    return analogies.reward(prompts, completions, answers)


def split_once(prompts, completions, answers):
    rewards = []
    for completion, accepted in zip(completions, answers):
        parts = completion.split(maxsplit=1)
        word = parts[0].strip(".,;:!?\"'()").lower() if parts else ""
        rewards.append(1.0 if word in accepted else 0.0)
    return rewards


def with_a_set(prompts, completions, answers, **columns):
    def first(text):
        return next(iter(text.split()), "").casefold().strip(".,;:!?\"'()")

    return [float(first(c) in {a.casefold() for a in accepted}) for c, accepted in zip(completions, answers)]


def compared_one_by_one(prompts, completions, answers):
    rewards = []
    for completion, accepted in zip(completions, answers):
        reward = 0.0
        for answer in accepted:
            if completion.split() and completion.split()[0].strip("'\"?!:;,.()").casefold() == answer:
                reward = 1.0
        rewards.append(reward)
    return rewards


RIGHT = [split_once, with_a_set, compared_one_by_one]
