"""Right loops of turns."""

ORACLE = None


EQUIVALENT = {
    "turns: while len(ids) <= max_new_tokens:": "what is drawn beyond the room is cut",
}
