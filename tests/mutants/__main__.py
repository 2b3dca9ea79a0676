"""`python -m tests.mutants [--survivors] [FILE ...]`: run each mutant against its file's tests; write tests/mutants.md.

The last results are kept in build/mutants, so that files can be run one at a time; `--survivors` runs again only what
no test noticed the last time.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.changes import Mutant, mutants_of
from tests.mutants.report import result_name, write_report
from tests.mutants.running import fails, prepare, trace

RESULTS = Path("build/mutants")
# Seconds of the CPU. Tests that take longer train a model to the end; what only they notice has no test that names it.
SLOW = 0.7
# Each file with the tests that should notice, those that are about it first.
GRPO = ["tests/test_grpo_step.py", "tests/test_grpo.py", "tests/test_pieces.py"]
SAMPLED = ["tests/test_rollout.py", "tests/engine/test_chance.py", "tests/test_table_lookup.py", "tests/test_logps.py"]
SAVED = ["tests/engine/test_checkpoint.py", "tests/engine/test_writes.py", "tests/engine/test_locks.py"]
KEPT = ["tests/engine/test_resume.py", "tests/engine/test_fingerprints.py", *SAVED, "tests/test_algorithms.py"]
LOOP = ["tests/test_training.py", "tests/test_updates.py", "tests/test_records.py", "tests/test_algorithms.py"]
TESTS = {
    "shared/advantages.py": ["tests/test_advantages.py", "tests/test_gae.py", "tests/test_rloo.py"],
    "shared/kl.py": ["tests/test_kl.py", "tests/test_distill.py"],
    "shared/losses.py": ["tests/test_losses.py", "tests/test_ppo.py", "tests/test_reward_model.py"],
    "shared/engine/chance.py": ["tests/engine/test_chance.py", "tests/test_training.py"],
    "shared/constrain.py": ["tests/test_constrain.py", "tests/engine/test_chance.py"],
    "shared/training.py": [
        *LOOP,
        *GRPO,
        "tests/test_flat_groups.py",
        "tests/test_interrupt.py",
        "tests/test_killed.py",
    ],
    "shared/algorithm.py": ["tests/test_settings.py", *LOOP, *GRPO],
    "shared/experience.py": [
        "tests/test_settings.py",
        "tests/test_experience.py",
        *GRPO,
        *LOOP,
        "tests/test_environment.py",
        "tests/test_games.py",
    ],
    "shared/grpo.py": [
        "tests/test_settings.py",
        *GRPO,
        *LOOP,
        "tests/test_environment.py",
        "tests/test_games.py",
        "tests/test_flat_groups.py",
    ],
    "shared/rloo.py": ["tests/test_settings.py", "tests/test_rloo.py", *LOOP],
    "shared/distill.py": ["tests/test_settings.py", "tests/test_distill.py", *LOOP],
    "shared/supervised.py": ["tests/test_supervised.py", *LOOP],
    "shared/ppo.py": ["tests/test_settings.py", "tests/test_ppo.py", "tests/test_ppo_experience.py", *LOOP],
    "shared/evaluate.py": ["tests/test_evaluate.py", "tests/engine/test_chance.py", "tests/test_environment.py"],
    "shared/engine/checkpoint.py": SAVED,
    "shared/rewards.py": ["tests/test_rewards.py", *GRPO],
    "shared/rollout_record.py": ["tests/test_rollout_record.py", "tests/test_sampled_record.py", *SAMPLED],
    "shared/rollout.py": [
        "tests/test_rollout_record.py",
        "tests/test_sampled_record.py",
        *SAMPLED,
        "tests/test_environment.py",
        "tests/test_games.py",
        "tests/test_experience.py",
        "tests/test_critic.py",
    ],
    "shared/logps.py": [
        "tests/test_rollout.py",
        "tests/test_critic.py",
        "tests/test_environment.py",
        "tests/test_games.py",
        "tests/test_logps.py",
        "tests/engine/test_tree.py",
    ],
    "shared/guard.py": ["tests/test_guard_limits.py", "tests/test_guard.py", "tests/test_algorithms.py"],
    "shared/critic.py": ["tests/test_critic.py", "tests/test_ppo.py", "tests/test_ppo_experience.py"],
    "shared/prompts.py": ["tests/test_prompts.py", "tests/test_models.py"],
    "shared/saving.py": ["tests/test_model_card.py", "tests/test_saving.py", "tests/engine/test_hub.py"],
    "shared/engine/sampling.py": ["tests/engine/test_sampling.py", *SAMPLED],
    "shared/engine/decoding.py": [
        "tests/engine/test_llama.py",
        *SAMPLED,
        "tests/test_guard.py",
        "tests/test_sampled_record.py",
    ],
    "shared/engine/cached.py": ["tests/engine/test_cached.py", "tests/test_rollout.py", "tests/engine/test_llama.py"],
    "shared/engine/llama.py": [
        "tests/engine/test_llama.py",
        "tests/engine/test_scoring.py",
        "tests/engine/test_tree.py",
    ],
    "shared/engine/logits.py": ["tests/engine/test_logits.py", "tests/test_logps.py", "tests/test_rollout.py"],
    "shared/engine/contexts.py": ["tests/engine/test_contexts.py", "tests/engine/test_tree.py", "tests/test_logps.py"],
    "shared/engine/scoring.py": [
        "tests/engine/test_scoring.py",
        "tests/engine/test_tree.py",
        "tests/test_logps.py",
        "tests/test_critic.py",
    ],
    "shared/engine/positions.py": ["tests/engine/test_positions.py", "tests/test_rollout.py", "tests/test_logps.py"],
    "shared/engine/recompute.py": ["tests/test_logps.py", "tests/test_critic.py"],
    "shared/engine/precision.py": ["tests/engine/test_precision.py"],
    "shared/engine/first_difference.py": ["tests/engine/test_first_difference.py", "tests/test_guard.py"],
    "shared/engine/unpadded.py": ["tests/engine/test_unpadded.py", "tests/test_guard.py"],
    "shared/engine/memory.py": ["tests/engine/test_memory.py"],
    "shared/engine/capacity.py": ["tests/engine/test_capacity.py"],
    "shared/engine/resume.py": KEPT,
    "shared/engine/runfile.py": [*KEPT, "tests/test_records.py"],
    "shared/engine/locks.py": ["tests/engine/test_locks.py"],
    "shared/engine/files.py": [*KEPT, "tests/test_saving.py"],
    "shared/engine/hub.py": ["tests/engine/test_hub_sizes.py", "tests/engine/test_hub.py", "tests/test_models.py"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="of these: " + " ".join(TESTS))
    parser.add_argument("--survivors", action="store_true", help="run again what survived, and what is new")
    options = parser.parse_args()
    if unknown := set(options.files) - TESTS.keys():
        parser.error(f"{' '.join(sorted(unknown))}: no tests are listed for it in tests/mutants/__main__.py")
    RESULTS.mkdir(parents=True, exist_ok=True)
    prepare()
    for name in options.files or TESTS:
        run(name, options.survivors)
    write_report(RESULTS, list(TESTS), Path("tests/mutants.md"))


def run(name: str, only_survivors: bool) -> None:
    """Every mutant of one file; the verdicts go to RESULTS after each test file, and into the table when all are there.

    Its test files take their turn: most mutants are caught by the first, and the others are not even imported for them.
    """
    started = time.perf_counter()
    file = Path(name)
    result = RESULTS / result_name(name)
    known = json.loads(result.read_text())["caught"] if only_survivors and result.exists() else {}
    mutants = numbered(mutants_of(file.read_text()))
    caught = {label: known.get(label, False) for label in mutants}
    for test_file in TESTS[name]:
        left = [label for label in mutants if not caught[label]]
        if left:
            seconds, by_line = trace(file, test_file, RESULTS / "trace.json")
        for label in left:
            tests = sorted(tests_of(mutants[label], seconds, by_line), key=seconds.get)
            usual = sum(seconds[test] for test in tests)
            caught[label] = bool(tests) and fails(file, mutants[label].source, tests, usual)
        keep(result, file, caught, finished=False)
    for label in mutants:
        if not caught[label]:
            print("survived:", label, flush=True)
    spent = time.perf_counter() - started
    keep(result, file, caught, finished=True)
    print(f"{name}: {sum(caught.values())} of {len(caught)} caught in {spent:.0f} s", flush=True)


def keep(result: Path, file: Path, caught: dict[str, bool], finished: bool) -> None:
    """Write what is known so far: `--survivors` goes on with it where a run was broken off."""
    result.write_text(json.dumps({"version": version_of(file), "finished": finished, "caught": caught}, indent=1))


def tests_of(mutant: Mutant, seconds: dict[str, float], by_line: dict[int, set[str]]) -> set[str]:
    """The quick tests that run the mutant's function; all of them for what stands outside of functions."""
    quick = {test for test in seconds if seconds[test] < SLOW}
    if not mutant.lines:
        return quick
    return {test for line in mutant.lines for test in by_line.get(line, ())} & quick


def version_of(file: Path) -> str:
    """The hash of a file as `git hash-object` gives it, so that a reader can tell whether a row is of today's."""
    content = file.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def numbered(mutants: Iterator[Mutant]) -> dict[str, Mutant]:
    """Each mutant by its label, with a number behind where several changes of a line look alike."""
    labels = {}
    for mutant in mutants:
        label = str(mutant)
        number = 1
        while label in labels:
            number += 1
            label = f"{mutant} ({number})"
        labels[label] = mutant
    return labels


if __name__ == "__main__":
    main()
