"""Right ways to keep the right samples."""

from collections import Counter, defaultdict

from shared.rejection import keep_right

ORACLE = keep_right


def grouped(prompts, completions, rewards, most):
    """By prompt, so that a prompt that comes again stands with its first one."""
    found = defaultdict(dict)
    for prompt, completion, reward in zip(prompts, completions, rewards):
        if reward == 1:
            found[prompt][completion] = True
    return [{"prompt": p, "completion": c} for p, texts in found.items() for c in list(texts)[:most]]


def in_one_pass(prompts, completions, rewards, most):
    seen = set()
    counts = Counter()
    documents = []
    for i in range(len(prompts)):
        pair = (prompts[i], completions[i])
        if rewards[i] < 1 or pair in seen or counts[prompts[i]] == most:
            continue
        seen.add(pair)
        counts[prompts[i]] += 1
        documents.append(dict(prompt=pair[0], completion=pair[1]))
    return documents


RIGHT = [grouped, in_one_pass]
