"""Mistakes that published GRPO notebooks really make, found in the code without running it.

Each rule looks for one way of writing one mistake and stays silent where the code could mean something else:
a false alarm costs more trust than a missed mistake.
"""

from checker.rules.method import (
    advantages,
    data,
    distribution,
    kl,
    losses,
    splits,
    texts,
    tokens,
)

RULES = sorted(
    [
        *tokens.RULES,
        *distribution.RULES,
        *advantages.RULES,
        *kl.RULES,
        *losses.RULES,
        *texts.RULES,
        *data.RULES,
        *splits.RULES,
    ],
    key=lambda rule: rule.code,
)
