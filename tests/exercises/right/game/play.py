"""Right loops of turns."""

ORACLE = None


def two_lists(draw, listen, max_new_tokens):
    ids, mask = [], []
    over = False
    while not over and len(ids) < max_new_tokens:
        ids.append(draw(ids))
        mask.append(1)
        heard, over = listen(ids)
        ids.extend(heard)
        mask.extend([0] * len(heard))
    return ids[:max_new_tokens], mask[:max_new_tokens]


def pairs(draw, listen, max_new_tokens):
    found = []
    while True:
        so_far = [token for token, _ in found]
        found.append((draw(so_far), 1))
        heard, over = listen([token for token, _ in found])
        for token in heard:
            if len(found) < max_new_tokens:
                found.append((token, 0))
        if over or len(found) >= max_new_tokens:
            break
    ids, mask = zip(*found)
    return list(ids), list(mask)


RIGHT = [two_lists, pairs]
EQUIVALENT = {
    "turns: while len(ids) <= max_new_tokens:": "what is drawn beyond the room is cut",
}
