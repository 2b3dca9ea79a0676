"""The results of the chapters that compare methods: rows like those of `benchmarks.learning`, from recorded sweeps.

Nothing is trained here. What a run reached is read from `benchmarks/sweeps/`; the untrained model is measured anew, in
the way in which the sweep measures, where the sweep has no such figure itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.sweeps import analogies, gradients, more_samples, off_policy, ppo, transfer
from shared.recorded import recorded

HEADING = "## What the chapters that compare methods reach"
VOTERS = 8  # samples of a question whose vote is quoted of more_samples


@dataclass(frozen=True)
class Row:
    """One line of the table.

    chapter: whose sweep.     condition: of that sweep.     measured: on held-out data, in words.
    after: what a recorded run reached.     before: measures the untrained model in the same way.
    """

    chapter: str
    condition: str
    measured: str
    after: Callable[[dict], float]
    before: Callable[[], float]


def hands_right() -> float:
    """The expected share of held-out hands that the untrained model names right."""
    shared = gradients.setting()
    return gradients.measure(shared["base"], 0, shared)["reward at 0"]


def pairs_right() -> float:
    shared = analogies.setting()
    return analogies.answered(shared["base"], shared["held out"]).mean


def dots_counted() -> float:
    """On the completions for which the notebooks print it, twice as many as the sweep draws."""
    shared = off_policy.setting("dots")
    return off_policy.measure(shared["base"], shared, draws=8, step=0)["reward"]


def problems_solved() -> float:
    return recorded("what_rl_adds").spread("base model", "solved")[0]


def problems_solved_by_samples() -> float:
    return recorded("distillation").spread("base model", "solved")[0]


def long_rows_counted() -> float:
    return transfer.long_rows_counted(transfer.models()[0])


def won_after(run: dict) -> float:
    return sum(run["after"]) / len(run["after"])


def won_before() -> float:
    """After the warm-up, without which no game is begun."""
    return recorded("game").spread("ranges, masked", lambda run: sum(run["before"]) / len(run["before"]))[0]


def full_stops() -> float:
    return ppo.measure(ppo.setting()["base"])["full stops"]


def gold_of_the_untrained() -> float:
    return recorded("reward_model").spread("DPO, 200 pairs", lambda run: run["curve"][0]["gold"])[0]


def dots_by_a_vote(run: dict, when: str) -> float:
    """The accuracy of a vote of VOTERS."""
    return run[when]["vote"][more_samples.NS.index(VOTERS)]


def dots_by_a_vote_of_the_untrained() -> float:
    return recorded("more_samples").spread("dots", lambda run: dots_by_a_vote(run, "before"))[0]


ROWS = (
    Row("poker", "version 2", "labels right, sampled", lambda run: run["path"][-1]["right"], hands_right),
    Row("gradients", "RLOO", "labels right, sampled", lambda run: run["reward at 30"], hands_right),
    Row("analogies", "exact", "first word right, greedy", lambda run: run["held out"], pairs_right),
    Row("off_policy", "4 updates, clipped", "dots right, sampled", lambda run: run["reward at 8"], dots_counted),
    Row("ratio_weights", "1 update", "labels right, sampled", lambda run: run["reward at 12"], hands_right),
    Row("what_rl_adds", "rejection sampling", "solved, greedy", lambda run: run["solved"], problems_solved),
    Row(
        "distillation",
        "reverse KL, own samples",
        "solved, sampled",
        lambda run: run["solved"],
        problems_solved_by_samples,
    ),
    Row("transfer", "rate 1e-4", "10 symbols, greedy", lambda run: run["held out"], long_rows_counted),
    Row("game", "ranges, masked", "games won on held-out ranges, sampled", won_after, won_before),
    Row("ppo", "PPO, beta 0.1", "full stops, sampled", lambda run: run["full stops"], full_stops),
    Row("reward_model", "DPO, 200 pairs", "gold reward", lambda run: run["curve"][-1]["gold"], gold_of_the_untrained),
    Row(
        "more_samples",
        "dots",
        f"dots right, a vote of {VOTERS}",
        lambda run: dots_by_a_vote(run, "after"),
        dots_by_a_vote_of_the_untrained,
    ),
)


def untrained() -> dict[str, float]:
    """The score of the untrained model, by chapter."""
    return {row.chapter: row.before() for row in ROWS}


def section(before: Mapping[str, float]) -> str:
    """The heading and the table, with these figures of the untrained model."""
    lines = [
        HEADING,
        "",
        "Read from the recorded sweeps, of which each chapter has more; the untrained model is measured as they are.",
        "Seconds are those of the processors, with measuring along the way.",
        "",
        "| chapter | what is trained | measured on held-out data | seeds | before | after: mean "
        "| after: lowest to highest | seconds of a run | made by |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        sweep = recorded(row.chapter)
        mean, low, high = sweep.spread(row.condition, row.after)
        seconds = sweep.spread(row.condition, "seconds")[0]
        lines.append(
            f"| {row.chapter} | {row.condition} | {row.measured} | {len(sweep.of(row.condition))} "
            f"| {before[row.chapter]:.3f} | {mean:.3f} | {low:.3f} to {high:.3f} | {seconds:.0f} | `{sweep.command}` |"
        )
    return "\n".join(lines) + "\n"
