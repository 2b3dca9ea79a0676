"""Right ways to give each row what the teacher reads."""


def ORACLE(rows, header):
    return [row | {"teacher_prompt": header + row["prompt"]} for row in rows]
