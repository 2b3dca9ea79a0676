"""Right calculators."""

from shared.tasks import addition

ORACLE = addition.calculator()


def by_splitting(completion):
    lines = completion.split("\n")
    words = lines[-1].split(" ")
    if len(words) < 4 or words[-1] != "=" or words[-3] != "+":
        return ""
    if not (words[-4].isdigit() and words[-2].isdigit()):
        return ""
    return f" {int(words[-4]) + int(words[-2])}\n"


def by_partition(completion):
    if not completion.endswith(" ="):
        return ""
    before, plus, second = completion[:-2].rpartition(" + ")
    first = before.split("\n")[-1].split(" ")[-1]
    try:
        return " " + str(int(first) + int(second)) + "\n" if plus else ""
    except ValueError:
        return ""


RIGHT = [by_splitting, by_partition]
