"""Right ways to score one completion softly."""

from shared.rewards import semantic_similarity


def ORACLE(completion, accepted, embed):
    return semantic_similarity(embed)([""], [completion], [accepted])[0]


EQUIVALENT = {
    "score: return scaled if completion else 0.0": "of blanks alone nobody is told whether they count as empty",
}
