"""The files that are changed, each with the tests that should notice, and how many of its mutants are tried.

The files of `shared/` have their tests in a table. For those of `checker/` and of `shared/exercises/` they are derived:
the file's own tests, then those that name its module, then those of its folder. The catalogue of exercises is left out:
its mutants are the slips that it declares.
"""

import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path

AREAS = ("checker", "shared/exercises")
CATALOGUE = "shared/exercises/catalogue/"
# Where points come from: all mutants are tried. Of the other files of AREAS a drawn sample.
WHOLE = (
    "checker/grading/box/",
    "checker/grading/judge/",
    "checker/points/",
    "checker/reading/archive",
    "checker/reading/convert",
    "checker/reading/exercises",
    "checker/reading/notebook",
    "checker/reading/text",
    "checker/rules/limit",
    "shared/exercises/arguments",
    "shared/exercises/calling",
    "shared/exercises/comparing",
    "shared/exercises/judging",
    "shared/exercises/process",
    "shared/exercises/results",
    "shared/exercises/steps",
    "shared/exercises/wording",
)
SAMPLE = 40
SEED = 35
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
    "shared/engine/shared_cache.py": ["tests/engine/test_llama.py", *SAMPLED],
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
    "shared/engine/unpadded.py": ["tests/engine/test_unpadded.py", "tests/test_guard.py"],
    "shared/engine/memory.py": ["tests/engine/test_memory.py"],
    "shared/engine/capacity.py": ["tests/engine/test_capacity.py"],
    "shared/engine/resume.py": KEPT,
    "shared/engine/runfile.py": [*KEPT, "tests/test_records.py"],
    "shared/engine/locks.py": ["tests/engine/test_locks.py"],
    "shared/engine/files.py": [*KEPT, "tests/test_saving.py"],
    "checker/reading/notebook.py": [
        "tests/checker/reading/test_notebook.py",
        "tests/checker/reading/test_hostile.py",
        "tests/checker/reading/test_convert.py",
    ],
    "shared/exercises/results.py": ["tests/exercises/test_results.py"],
    "shared/exercises/comparing.py": ["tests/exercises/test_comparing.py"],
    "shared/exercises/steps.py": ["tests/exercises/test_steps.py"],
    "shared/exercises/arguments.py": ["tests/exercises/test_arguments.py", "tests/exercises/test_shrinking.py"],
    "shared/exercises/judging.py": ["tests/exercises/test_judging.py"],
    "shared/exercises/calling.py": ["tests/exercises/test_calling.py"],
    "shared/exercises/process.py": ["tests/exercises/test_awaiting.py"],
    "shared/exercises/wording.py": ["tests/exercises/test_sentences.py", "tests/exercises/test_wording.py"],
    "checker/reading/exercises.py": ["tests/checker/reading/test_exercises.py", "tests/checker/points/test_items.py"],
    "checker/grading/judge/oracle/larger_cases.py": ["tests/checker/grading/judge/test_without_looking.py"],
    "checker/grading/judge/oracle/constant_answers.py": ["tests/checker/grading/judge/test_without_looking.py"],
    "checker/grading/judge/oracle/partial_credit.py": [
        "tests/checker/grading/judge/test_partial_credit.py",
        "tests/exercises/test_comparing.py",
    ],
    "checker/grading/judge/oracle/disputed.py": ["tests/checker/grading/test_disputes.py"],
    "checker/grading/judge/workers.py": ["tests/checker/grading/judge/test_workers.py"],
    "checker/grading/judge/sheets.py": [
        "tests/checker/grading/judge/test_sheets.py",
        "tests/checker/grading/test_classes.py",
    ],
    "checker/grading/judge/hidden_cases.py": ["tests/checker/grading/judge/test_second_try.py"],
    "checker/grading/judge/reference_process.py": ["tests/checker/grading/judge/test_reference_process.py"],
    "checker/grading/judge/whole_notebook.py": ["tests/checker/grading/judge/test_whole_notebook.py"],
    "checker/grading/judge/oracle/key.py": ["tests/checker/grading/judge/test_answer_key.py"],
    "checker/grading/judge/scheduling.py": ["tests/checker/grading/judge/test_scheduling.py"],
    "checker/grading/judge/missing_exercises.py": ["tests/checker/grading/judge/test_missing_exercises.py"],
    "checker/grading/box/inside/__main__.py": ["tests/checker/grading/box/inside/test_main.py"],
    "checker/grading/box/inside/children.py": ["tests/checker/grading/box/inside/test_children.py"],
    "checker/grading/box/inside/notebook.py": ["tests/checker/grading/box/inside/test_notebook.py"],
    "checker/grading/box/inside/probe.py": ["tests/checker/grading/box/inside/test_probe.py"],
    "checker/grading/box/inside/answers.py": ["tests/checker/grading/box/inside/test_answers.py"],
    "checker/grading/box/inside/exchange.py": ["tests/checker/grading/box/inside/test_exchange.py"],
    "checker/grading/box/inside/sending.py": ["tests/checker/grading/box/inside/test_sending.py"],
    "checker/grading/box/inside/users.py": ["tests/checker/grading/box/inside/test_sending.py"],
    "checker/grading/box/inside/__init__.py": ["tests/checker/grading/box/inside/test_sending.py"],
    "checker/grading/box/cgroups.py": ["tests/checker/grading/box/test_cgroups.py"],
    "checker/grading/box/containers.py": ["tests/checker/grading/box/test_containers.py"],
    "checker/grading/box/ending.py": ["tests/checker/grading/box/test_ending.py"],
    "checker/grading/box/isolation.py": ["tests/checker/grading/box/test_following.py"],
    "checker/grading/box/launch.py": ["tests/checker/grading/box/test_launch.py"],
    "checker/grading/box/modules.py": ["tests/checker/grading/box/test_modules.py"],
    "checker/grading/box/packages.py": ["tests/checker/grading/box/test_packages.py"],
    "checker/grading/box/selection.py": ["tests/checker/grading/box/test_selection.py"],
    "shared/engine/hub.py": ["tests/engine/test_hub_sizes.py", "tests/engine/test_hub.py", "tests/test_models.py"],
}


def files(root: Path = Path()) -> list[str]:
    """Every file that is changed, by its path below the project."""
    found = sorted(path.relative_to(root).as_posix() for area in AREAS for path in (root / area).rglob("*.py"))
    return [*TESTS, *(file for file in found if not file.startswith(CATALOGUE) and file not in TESTS)]


def relevant_tests(file: str) -> list[str]:
    """The test files of a file, nearest first."""
    return TESTS.get(file) or nearest_tests(file)


def how_many(file: str) -> int | None:
    """The number of mutants of a file that are tried; None for all."""
    return None if file in TESTS or file.startswith(WHOLE) else SAMPLE


def sample(labels: Iterable[str], size: int | None, file: str) -> list[str]:
    """So many of a file's mutants, the same every time, in its order; a larger sample holds the smaller ones."""
    labels = list(labels)
    drawn = random.Random(f"{SEED} {file}").sample(labels, len(labels))[:size]
    return sorted(drawn, key=labels.index)


def nearest_tests(file: str, root: Path = Path()) -> list[str]:
    """The test files of an area, nearest first: the file's own, those that name its module, its folder's."""
    package, _, name = file.removesuffix(".py").replace("/", ".").rpartition(".")
    folder = Path("tests", *Path(file).parent.parts[file.startswith("shared/") :])
    while not (root / folder).is_dir():
        folder = folder.parent
    names = (
        (f"from {package} import",) if name == "__init__" else (f"{package}.{name}", f"from {package} import {name}")
    )
    own, named, beside = [], [], []
    for place, text in _tests(root).items():
        if place == folder / f"test_{name}.py":
            own.append(str(place))
        elif any(words in text for words in names):
            named.append(str(place))
        elif place.parent == folder != Path("tests"):
            beside.append(str(place))
    return own + named + beside


@cache
def _tests(root: Path) -> dict[Path, str]:
    """The test files and what they hold."""
    paths = sorted((root / "tests").rglob("test_*.py"))
    return {path.relative_to(root): path.read_text(encoding="utf-8") for path in paths}
