"""Right bills."""

from math import ceil, inf, isinf

ORACLE = None


def plain(before, after, target, training):
    def price(pairs):
        for cost, accuracy in pairs:
            if accuracy >= target:
                return cost
        return inf

    now, then = price(before), price(after)
    if then >= now:
        return inf
    return ceil(training / (now - then))


def listed(before, after, target, training):
    reach = [[p for p, accuracy in pairs if accuracy >= target] for pairs in (before, after)]
    if not reach[1]:
        return float("inf")
    if not reach[0]:
        return 0
    gain = min(reach[0]) - min(reach[1])
    return float("inf") if gain <= 0 else -(-training // gain)


def counted(before, after, target, training):
    """By asking one question more and more."""
    b = min([p for p, a in before if a >= target], default=inf)
    a = min([p for p, a in after if a >= target], default=inf)
    if isinf(b) or a >= b:
        return 0 if isinf(b) and not isinf(a) else inf
    questions = 0
    while training + questions * a > questions * b:
        questions += 1
    return questions


RIGHT = [plain, listed, counted]
