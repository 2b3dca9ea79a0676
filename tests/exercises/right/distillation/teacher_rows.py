"""Right ways to give each row what the teacher reads."""


def ORACLE(rows, header):
    return [row | {"teacher_prompt": header + row["prompt"]} for row in rows]


def spread(rows, header):
    return [{"teacher_prompt": f"{header}{row['prompt']}", **row} for row in rows]


def copied(rows, header):
    found = []
    for row in rows:
        new = dict(row)
        new["teacher_prompt"] = header + new["prompt"]
        found.append(new)
    return found


RIGHT = [spread, copied]
