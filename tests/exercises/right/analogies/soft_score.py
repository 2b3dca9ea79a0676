"""Right ways to score one completion softly."""

import torch

from shared.rewards import semantic_similarity


def ORACLE(completion, accepted, embed):
    return semantic_similarity(embed)([""], [completion], [accepted])[0]


def as_a_product(completion, accepted, embed):
    if not completion.strip():
        return 0.0
    vectors = embed([f" {text.strip()}" for text in (completion, *accepted)])
    return ((1 + (vectors[1:] @ vectors[0]).max()) / 2).item()


def by_cosine_similarity(completion, accepted, embed):
    text = embed([" " + completion.strip()])
    others = embed([" " + word for word in accepted])
    nearest = torch.nn.functional.cosine_similarity(text, others).max()
    return 0.5 + 0.5 * nearest if completion.strip() else torch.tensor(0.0)


RIGHT = [as_a_product, by_cosine_similarity]
EQUIVALENT = {
    "score: return scaled if completion else 0.0": "of blanks alone nobody is told whether they count as empty",
}
