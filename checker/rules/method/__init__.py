"""Mistakes that published GRPO notebooks really make, found in the code without running it.

Each rule looks for one way of writing one mistake and stays silent where the code could mean something else:
a false alarm costs more trust than a missed mistake.
"""

from checker.rules.method import advantages, data, objective, sampling, tokens

RULES = sorted(
    [*tokens.RULES, *objective.RULES, *advantages.RULES, *data.RULES, *sampling.RULES],
    key=lambda rule: rule.code,
)
