"""From what `benchmarks.checks` has measured to the page checks.md: what it comes to, a row an exercise, what is excused."""

from statistics import median

HEAD = """# How strong and how fast the checks are

Made by `.venv/bin/python -m benchmarks.checks` and `.venv/bin/python -m benchmarks.checks --hostile`, on a machine of two
cores that others used at the same time, with one thread. Seconds are the processor's, for one verdict without the child
process; those of hostile functions are on the clock and with it. A smallest case is counted in the numbers and texts that
a verdict shows of it; a column has the characters of the texts. Of the pairs of slips some are drawn that have to be named;
`python -m pytest -m exhaustive -k every_pair` asks it of every pair, for half an hour.
"""
BANK = """Functions of readers who saw only the blank editions, the wrong ones with the name of the mistake. A fact is an error, a
shape, a type, a changed argument, a gradient, or that a function gives the same whatever it gets. Names that a notebook
computes, such as N, are missing here: a function that takes them in the place of its argument raises.

The table has each bank when it was opened. Half of the first was read while the checks were mended; the other half and the
later banks were held against the checks before anybody read them, and nothing was mended in between. From the fourth on,
every verdict that named something was read beside its author's words:

- third: its readers were asked to leave out the commonest mistakes.
- fourth: of 265 verdicts four say what is not so (of `evaluate`, `causal_policy`, `countdown_format_reward` and
  `advantages_of`). The two right ones that it refused take a guess of two digits for one, of which the page says nothing.
- fifth: one writer, who knew this page and no slip. Of 66 verdicts one says what is not so (of `gold_reward`). The two that
  it accepted are right: they differ only where a game, or a step, never comes.
- sixth: one writer. Of 178 verdicts none says what is not so. The two that it accepted are right.
- seventh: eight writers. Of 325 verdicts four say what is not so (of `evaluate`, `completion_logps`, `cispo_objective` and
  `distillation_loss`). Of the six that it accepted two are right. Of the two right ones that it refused one is right: the loss
  that stood in for GSPO's was not linear in advantages and beta. The other has a gradient that is nan.
- eighth: three writers, after the mending of the seventh. Of 196 verdicts none says what is not so. The one that it accepted
  is right: it reads the first line of the stripped completion, which the page leaves open. The one that it refused is that
  of the seventh with a gradient that is nan; the page asks for the gradient since.
"""
NOW = """The same functions on {date}, by `python -m benchmarks.checks --bank`: what had no name was given one, what was
accepted was refused or is told in `tests/exercises/bank/corrections.yml`. `unnamed.yml` beside it lists what is left. A
function that an earlier bank has is left out.
"""
BANK_COLUMNS = ("bank", "wrong", "named by a slip", "named by a fact", "unnamed", "accepted", "right", "refused")
COLUMNS = (
    "exercise",
    "slips",
    "right, s",
    "wrong, median s",
    "wrong, worst s",
    "smallest case, median",
    "its characters",
    "right functions",
    "pairs",
    "mutants",
    "rejected, worst seed",
)
ASKED_SLIPS = 150
ASKED_RIGHT_FUNCTIONS = 60
ASKED_SHARE = 0.98
SECONDS_RIGHT = 1
SECONDS_WRONG = 3
SECONDS_HOSTILE = 10
ASKED_NUMBERS = 6
CHOICE = "a policy has a choice in a world of two states and two actions: four places to go, two rewards, the end, a discount"
WALK = (
    "half of the slips show where the end is two steps away, with two actions: six places to go, three rewards, the end"
)
DIVERGENCES = "what a mean over tokens does differently shows on two of them, each with two logits of both policies"
TERMS = (
    "a token has a log-probability now and then, an advantage, an entropy and a KL; the critic's loss and four numbers"
)
LARGE = {
    "local_action_probabilities": WALK,
    "causal_policy": CHOICE,
    "distillation_loss": DIVERGENCES,
    "ppo_loss": TERMS,
}


def report(measured: dict) -> str:
    """The whole page. What was not measured of an exercise has no figure in its row."""
    exercises = measured["exercises"]
    whole = [*totals(exercises), *hostile_totals(measured.get("hostile", {}))]
    parts = [
        HEAD,
        table(["what", "asked for", "measured", "enough"], whole),
        *bank_section(measured.get("bank")),
        "## Each exercise\n",
        table(COLUMNS, [row(name, measures) for name, measures in exercises.items()]),
        *excuses("Smallest cases that are larger than asked for", large_excuses(exercises)),
        *excuses("Pairs that are not told apart", pair_excuses(exercises)),
        *excuses("Mutants that no valid case can tell from the reference", mutant_excuses(exercises)),
        *excuses("Mutants that some seeds accept", mutants_accepted(exercises)),
    ]
    return "\n".join(parts)


def table(head: tuple | list, rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def of_all(exercises: dict, what: str) -> list[dict]:
    """One measure of every exercise of which it was taken."""
    return [measures[what] for measures in exercises.values() if what in measures]


def total(what: str, asked: str, found: str, enough: bool) -> list[str]:
    return [what, asked, found, "yes" if enough else "**no**"]


def totals(exercises: dict) -> list[list[str]]:
    """The sums over all exercises, each beside what is asked for."""
    rows = []
    if verdicts := of_all(exercises, "verdicts"):
        rows += verdict_totals(verdicts)
        rows += size_totals(exercises)
    if right := of_all(exercises, "right"):
        rows += right_totals(right)
    if pairs := of_all(exercises, "pairs"):
        rows += pair_totals(pairs)
    if mutants := of_all(exercises, "mutants"):
        rows += mutant_totals(mutants)
    return rows


def verdict_totals(verdicts: list[dict]) -> list[list[str]]:
    slips = sum(len(verdict["wrong"]) for verdict in verdicts)
    unnamed = sum(len(verdict["not named"]) for verdict in verdicts)
    right = max(verdict["right"] for verdict in verdicts)
    wrong = max(max(verdict["wrong"].values()) for verdict in verdicts)
    return [
        total("known slips", f"at least {ASKED_SLIPS}", f"{slips}", slips >= ASKED_SLIPS),
        total("of these not named by their verdict", "0", f"{unnamed}", unnamed == 0),
        total("slowest verdict, right", f"{SECONDS_RIGHT} s", f"{right:.2f} s", right <= SECONDS_RIGHT),
        total("slowest verdict, wrong", f"{SECONDS_WRONG} s", f"{wrong:.2f} s", wrong <= SECONDS_WRONG),
    ]


def large(exercises: dict) -> dict[str, float]:
    """The exercises whose smallest cases have more to read than is asked for, in the median, and how much."""
    verdicts = {name: measures["verdicts"] for name, measures in exercises.items() if "verdicts" in measures}
    medians = {name: median(verdict["things"].values()) for name, verdict in verdicts.items()}
    return {name: size for name, size in medians.items() if size > ASKED_NUMBERS}


def size_totals(exercises: dict) -> list[list[str]]:
    sizes = [size for verdict in of_all(exercises, "verdicts") for size in verdict["things"].values()]
    found = large(exercises)
    what = f"exercises whose smallest cases have more than {ASKED_NUMBERS} numbers and texts in the median"
    return [
        total(
            "smallest case, median of all slips",
            f"at most {ASKED_NUMBERS}",
            f"{median(sizes):.0f}",
            median(sizes) <= ASKED_NUMBERS,
        ),
        total(what, "0", f"{len(found)}", not found),
    ]


def right_totals(right: list[dict]) -> list[list[str]]:
    tried = sum(functions["tried"] for functions in right)
    rejected = sum(len(functions["rejected"]) for functions in right)
    return [
        total(
            "right functions in other styles",
            f"at least {ASKED_RIGHT_FUNCTIONS}",
            f"{tried}",
            tried >= ASKED_RIGHT_FUNCTIONS,
        ),
        total("of these rejected", "0", f"{rejected}", rejected == 0),
    ]


def pair_totals(pairs: list[dict]) -> list[list[str]]:
    tried = sum(exercise["tried"] for exercise in pairs)
    passing = sum(len(exercise["passing"]) for exercise in pairs)
    with_verdict = sum(exercise["judged"] for exercise in pairs)
    not_told = sum(len(exercise["not told"]) for exercise in pairs)
    return [
        total("pairs of slips that pass", "0", f"{passing} of {tried}", passing == 0),
        total("pairs neither named nor told apart", "0", f"{not_told} of {with_verdict}", not_told == 0),
    ]


def share_rejected(mutants: dict) -> float:
    """With the seed that accepts most."""
    return 1 - most_accepted(mutants) / mutants["tried"]


def most_accepted(mutants: dict) -> int:
    return max(map(len, mutants["accepted"].values()), default=0)


def mutant_totals(mutants: list[dict]) -> list[list[str]]:
    tried = sum(exercise["tried"] for exercise in mutants)
    trials = sum(exercise["tried"] * exercise["seeds"] for exercise in mutants)
    seeds = min(exercise["seeds"] for exercise in mutants)
    passing = sum(len(changes) for exercise in mutants for changes in exercise["accepted"].values())
    share = 1 - passing / trials
    least = min(map(share_rejected, mutants))
    asked = f"{ASKED_SHARE:.0%}"
    return [
        total(f"mutants rejected, {tried} over {seeds} seeds", asked, f"{share:.2%}", share >= ASKED_SHARE),
        total("the same, lowest exercise and seed", asked, f"{least:.1%}", least >= ASKED_SHARE),
    ]


def hostile_totals(seconds: dict) -> list[list[str]]:
    if not seconds:
        return []
    name, slowest = max(seconds.items(), key=lambda item: item[1])
    what = f"slowest verdict of {len(seconds)} hostile functions (`{name}`)"
    return [total(what, f"{SECONDS_HOSTILE} s", f"{slowest:.1f} s", slowest <= SECONDS_HOSTILE)]


def bank_section(bank: dict | None) -> list[str]:
    """The shares of the functions that readers wrote, when each bank was opened and now; no section without any."""
    if bank is None:
        return []
    parts = ["## The banks\n", BANK, table(BANK_COLUMNS, bank_rows(bank["opened"]))]
    if bank["now"]:
        parts += [NOW.format(date=bank["date"]), table(BANK_COLUMNS, bank_rows(bank["now"]))]
    return parts


def bank_rows(tallies: dict[str, dict]) -> list[list[str]]:
    rows = []
    for name, tally in tallies.items():
        shares = [f"{tally[outcome]} ({tally[outcome] / tally['wrong']:.0%})" for outcome in BANK_COLUMNS[2:6]]
        refused = len(tally["refused"])
        rows.append([name.replace("_", " "), str(tally["wrong"]), *shares, str(tally["right"]), str(refused)])
    return rows


def row(name: str, measures: dict) -> list[str]:
    right = str(measures["right"]["tried"]) if "right" in measures else ""
    pairs = str(measures["pairs"]["tried"]) if "pairs" in measures else ""
    return [name, *verdict_cells(measures.get("verdicts")), right, pairs, *mutant_cells(measures.get("mutants"))]


def verdict_cells(verdicts: dict | None) -> list[str]:
    if verdicts is None:
        return [""] * 6
    wrong = verdicts["wrong"].values()
    return [
        f"{len(wrong)}",
        f"{verdicts['right']:.2f}",
        f"{median(wrong):.2f}",
        f"{max(wrong):.2f}",
        f"{median(verdicts['things'].values()):.0f}",
        f"{median(verdicts['characters'].values()):.0f}",
    ]


def mutant_cells(mutants: dict | None) -> list[str]:
    if mutants is None:
        return ["", ""]
    return [f"{mutants['tried']}", f"{share_rejected(mutants):.1%}"]


def excuses(heading: str, rows: list[list[str]]) -> list[str]:
    """A section of what is excused, with the reasons; no section for nothing."""
    return [f"## {heading}\n", table(["exercise", "which", "why"], rows)] if rows else []


def large_excuses(exercises: dict) -> list[list[str]]:
    return [[name, f"{size:.0f} in the median", LARGE.get(name, "")] for name, size in large(exercises).items()]


def pair_excuses(exercises: dict) -> list[list[str]]:
    return [
        [name, f"{one} and {other}", why]
        for name, measures in exercises.items()
        for kind in ("untold", "not told")
        for one, other, why in measures.get("pairs", {}).get(kind, [])
    ]


def mutant_excuses(exercises: dict) -> list[list[str]]:
    return [
        [name, code(change), why]
        for name, measures in exercises.items()
        for change, why in measures.get("mutants", {}).get("equivalent", {}).items()
    ]


def mutants_accepted(exercises: dict) -> list[list[str]]:
    rows = []
    for name, measures in exercises.items():
        accepted = measures.get("mutants", {}).get("accepted", {})
        for change in dict.fromkeys(change for changes in accepted.values() for change in changes):
            seeds = [seed for seed, changes in accepted.items() if change in changes]
            rows.append([name, code(change), f"seeds {', '.join(seeds)}"])
    return rows


def code(change: str) -> str:
    """A change of the source in one cell of a table."""
    return "`" + " ".join(change.split()).replace("|", "\\|") + "`"
