"""Right shares of evaluation rows whose pair was rewarded."""

ORACLE = None


def pairs(rows):
    return {(row["relation"], row["word"]) for row in rows}


def by_subsets(train_rows, eval_rows):
    return sum(pairs([row]) <= pairs(train_rows) for row in eval_rows) / len(eval_rows)


def looped(train_rows, eval_rows):
    found = 0
    for row in eval_rows:
        for other in train_rows:
            if (row["relation"], row["word"]) == (other["relation"], other["word"]):
                found += 1
                break
    return found / len(eval_rows)


RIGHT = [by_subsets, looped]
