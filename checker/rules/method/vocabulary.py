"""Names that people use in GRPO notebooks, as patterns for `mentions`."""

import ast

from checker.reading.syntax.expressions import called, mentions

REFERENCE = (
    r"(^|_)(ref(erence)?|base|frozen|sft|init(ial)?)\d?(_|$)"
    r"|^ref(log|prob|model|policy)|^(log)?p(i|robs?)?_?ref$"
)
POLICY = r"log_?p(rob)?s?|policy|new|cur(rent)?|theta|^lp"
ADVANTAGE = r"(^|_)(adv|advs|advantages?|atarg|gaes?|A)(_|$)"
GROUP_SIZE = (
    r"^(G|K|(self_?)?num_generations?|group_size|num_completions|n_completions|num_samples|n_samples"
    r"|(samples|completions|responses)_per_prompt|num_rollouts|num_return_sequences"
    r"|(num|n)_(responses|candidates)(_per_prompt)?)$"
)
MODEL = r"model|policy|actor|(^|_)(lm|llm|net|peft|student)(_|$)"
OF_TRANSFORMERS = ("max_new_tokens", "max_length", "do_sample")  # what only a model's `generate` is told
SCORES = ("log_softmax", "cross_entropy", "logsumexp", "selective_log_softmax")


def is_generation(node: ast.AST) -> bool:
    """A call of a model's own `generate`, whose result holds the prompt and what follows."""
    if called(node) != "generate" or not isinstance(node.func, ast.Attribute):
        return False
    return mentions(node.func.value, MODEL) or any(k.arg in OF_TRANSFORMERS for k in node.keywords)


def is_reference(node: ast.AST) -> bool:
    """True if the expression is plainly of the reference model, and of nothing compared with it."""
    return mentions(node, REFERENCE) and not mentions(node, r"(^|_)(old|new|cur(rent)?|policy)(_|$)")


def cuts_columns(node: ast.AST) -> bool:
    """`x[:, n:]`, `x[i, n:]`, `x[n:]` with a length n: some of the sequence is taken."""
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(part, ast.Slice) and part.lower is not None for part in parts)
