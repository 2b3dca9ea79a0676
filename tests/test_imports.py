"""The order in which the modules stand: data flows one way, and no import goes against it."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# From left to right: a module imports from its own layer and those before it. A new file of `shared/` gets its place
# here; a folder's files have the folder's.
LAYERS = [
    {"tasks", "constrain", "statistics", "selection", "interrupt", "plain", "rows", "tokens", "model_classes"},
    {"engine", "models", "prompts", "reference", "saving", "environment"},
    {"rollout_record", "rollout", "kept"},
    {"rewards", "judges", "advantages", "recipes"},
    {"logps", "kl", "guard", "critic", "parts"},
    {"losses"},
    {"algorithm", "experience", "progress", "updates", "training", "logs"},
    {"grpo", "ppo", "rloo", "distill", "supervised", "dpo", "reward_model"},
    {"tables", "rollouts"},
    {"evaluate", "exact", "recorded", "rejection"},
    {"plots"},
    {"exercises", "check", "blanks", "run", "pretrain"},
]
# Inverse RL has no language model: it takes the style of the figures and nothing else, and only exercises are about it.
APART = {"irl", "trajectory"}
APART_IMPORTS = APART | {"plots"}
APART_IS_IMPORTED_BY = APART | LAYERS[-1]

# The rooms of `checker/` in their order: a module imports from its own room and those before it.
ROOMS = [
    "reading",
    "setup",
    "outputs",
    "rules",
    "checking",
    "points",
    "pages",
    "running",
    "editions",
    "site",
    "grading.collect",
    "grading.box",
    "grading.judge",
    "grading.table",
    "grading",
    "commands",
    "__main__",
]
MOST_FILES = 12  # in a folder of `checker/`, beside its `__init__.py`
CATALOGUE = "checker/rules/method"  # it may be longer: nobody reads it in one go

# What the grader starts in a process of its own, in the course's environment; it may import more when it is at work.
IN_ITS_OWN_PROCESS = ("checker.grading.box.inside.", "checker.grading.judge.oracle.")

LEARNING = {"torch", "transformers", "tokenizers", "peft"}
# As `checker.__main__` refuses it: jsonschema does without this grammar, which takes a second.
GRAMMAR = "rfc3987_syntax"
IMPORT_WITHOUT = """
import importlib, sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1].split(","):
            raise ImportError(f"{name} is imported")

sys.meta_path.insert(0, Refusing())
for module in sys.argv[2:]:
    importlib.import_module(module)
"""


def files_of(root: Path, package: str) -> dict[str, Path]:
    """Every module of a package by its dotted name, `a/__init__.py` as `a`."""
    modules = {}
    for file in sorted((root / package).rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        modules[name] = file
    return modules


def imported_names(file: Path, module: str) -> set[str]:
    """The dotted names that a file imports anywhere, also inside functions: `from a import b` gives `a` and `a.b`."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
                above = package[: len(package) - node.level + 1]
                source = ".".join([*above, source]).strip(".")
            names |= {source} | {f"{source}.{alias.name}" for alias in node.names}
    return names


def import_graph(root: Path, package: str = "shared") -> dict[str, set[str]]:
    """For each module of a package those of the package that it imports."""
    modules = files_of(root, package)
    graph = {}
    for module, file in modules.items():
        found = {name for name in imported_names(file, module) if name in modules and name != module}
        # `from shared.tasks import dots` is about dots; the folder itself counts when something of its own is taken.
        graph[module] = {name for name in found if not any(other.startswith(name + ".") for other in found)}
    return graph


def place(module: str) -> str:
    """`shared.engine.llama` stands with `engine`."""
    return module.split(".")[1]


def against_the_order(graph: dict[str, set[str]]) -> list[str]:
    """Every import of a later layer, in words."""
    number = {name: i for i, layer in enumerate(LAYERS) for name in layer}
    wrong = []
    for module, imports in graph.items():
        for other in imports - {"shared"}:
            here, there = place(module), place(other)
            if here in APART or there in APART:
                fine = there in APART_IMPORTS if here in APART else here in APART_IS_IMPORTED_BY
            else:
                fine = number[there] <= number[here]
            if not fine:
                wrong.append(f"{module} imports {other}")
    return sorted(wrong)


def without_a_place(graph: dict[str, set[str]]) -> list[str]:
    known = set().union(*LAYERS, APART)
    return sorted(module for module in graph if module != "shared" and place(module) not in known)


# --- the project


@pytest.fixture(scope="module")
def graph():
    return import_graph(ROOT)


def test_every_module_has_a_place(graph):
    assert without_a_place(graph) == []


def test_no_import_goes_against_the_order(graph):
    """Catches formulas that know the loop, an engine that knows an algorithm, a task that needs a model."""
    assert against_the_order(graph) == []


def test_grpo_in_one_file_stands_by_itself(graph):
    """Catches a file to be read first that leans on the rest, or that the rest begins to lean on."""
    assert graph["shared.plain"] == {"shared.tasks.dots"}
    assert [module for module, imports in graph.items() if "shared.plain" in imports] == []


def test_no_two_files_import_each_other(graph):
    """Within a layer too, and inside functions, where a circle hides until the function is called."""
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("package", ["shared.tasks", "checker"])
def test_data_and_checker_need_no_torch(package):
    """Catches a checker that an instructor cannot install on a laptop, and a task that only runs beside a model."""
    refused = LEARNING | {"shared"} if package == "checker" else LEARNING
    of_top_level = files_of(ROOT, package.split(".")[0])
    modules = {name: file for name, file in of_top_level.items() if f"{name}.".startswith(f"{package}.")}
    wrong = []
    for module, file in modules.items():
        if f"{module}.".startswith(IN_ITS_OWN_PROCESS):
            continue
        wrong += [f"{module} imports {name}" for name in imported_names(file, module) if name.split(".")[0] in refused]
    assert sorted(wrong) == []
    imported = [name for name in modules if not f"{name}.".startswith(IN_ITS_OWN_PROCESS)]
    command = [sys.executable, "-c", IMPORT_WITHOUT, ",".join([*refused, GRAMMAR]), *imported]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_the_record_of_a_rollout_needs_torch_alone(graph):
    """Catches a process that only reads a rollout, as a grader's box does, and waits for transformers first."""
    reached, coming = set(), ["shared.rollout_record"]
    while coming:
        module = coming.pop()
        reached.add(module)
        coming += graph[module] - reached
    files = files_of(ROOT, "shared")
    learning = {name.split(".")[0] for module in reached for name in imported_names(files[module], module)} & LEARNING
    assert learning == {"torch"}


def room(module: str) -> str:
    """`checker.grading.box.walls` is in "grading.box", `checker.grading.classes` in "grading", `checker.rules.base` in "rules"."""
    parts = module.split(".")[1:]
    inner = ".".join(parts[:2])
    return inner if inner in ROOMS else parts[0]


def against_the_rooms(graph: dict[str, set[str]]) -> list[str]:
    """Every import of a later room, in words. The package itself, which holds the version, is before all."""
    number = {name: i for i, name in enumerate(ROOMS)}
    return sorted(
        f"{module} imports {other}"
        for module, imports in graph.items()
        for other in imports - {"checker"}
        if number[room(other)] > number[room(module)]
    )


def crowded(root: Path) -> list[str]:
    """The folders of `checker/` that hold more files than a newcomer takes in."""
    files = {}
    for file in (root / "checker").rglob("*.py"):
        folder = file.parent.relative_to(root).as_posix()
        files[folder] = files.get(folder, 0) + (file.name != "__init__.py")
    return sorted(folder for folder, count in files.items() if count > MOST_FILES and folder != CATALOGUE)


@pytest.fixture(scope="module")
def checker_graph():
    return import_graph(ROOT, "checker")


def test_every_module_of_the_checker_has_a_room(checker_graph):
    assert sorted(module for module in checker_graph if module != "checker" and room(module) not in ROOMS) == []


def test_no_import_goes_into_a_later_room(checker_graph):
    """Catches a reader that knows the rules, a page that needs grading, a box that knows what is right."""
    assert against_the_rooms(checker_graph) == []
    TopologicalSorter(checker_graph).prepare()


def test_no_room_is_crowded():
    """Catches the next thirty files in one folder, which nobody finds the way in."""
    assert crowded(ROOT) == []


def test_setup_needs_the_standard_library_alone():
    """Catches a `python -m checker setup` that asks for what it is there to install."""
    modules = [name for name in files_of(ROOT, "checker") if f"{name}.".startswith("checker.setup.")]
    assert modules
    program = f"import importlib, sys; sys.path.insert(0, {str(ROOT)!r}); [*map(importlib.import_module, {modules})]"
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


# --- the tests above see what they are about


@pytest.fixture
def made_up(tmp_path):
    """A project of the files that are given, each with its source."""

    def write(files: dict[str, str]) -> dict[str, set[str]]:
        for name, source in files.items():
            file = tmp_path / "shared" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source)
        return import_graph(tmp_path)

    return write


@pytest.mark.parametrize(
    "line",
    [
        "import shared.grpo",
        "import shared.grpo as g",
        "from shared import grpo",
        "from shared.grpo import train",
        "from .. import grpo",
        "from ..grpo import train",
        "def f():\n    from shared.grpo import train",
        "try:\n    import shared.grpo\nexcept ImportError:\n    pass",
    ],
)
def test_every_way_to_import_is_seen(line, made_up):
    graph = made_up({"__init__.py": "", "grpo.py": "", "engine/__init__.py": "", "engine/fast.py": line})
    assert against_the_order(graph) == ["shared.engine.fast imports shared.grpo"]


def test_a_module_of_a_folder_is_told_from_the_folder(made_up):
    graph = made_up(
        {
            "tasks/__init__.py": "KEY = 1",
            "tasks/dots.py": "from shared.tasks import KEY",
            "tasks/tags.py": "",
            "tasks/both.py": "from . import dots, tags",
        }
    )
    assert graph["shared.tasks.dots"] == {"shared.tasks"}
    assert graph["shared.tasks.both"] == {"shared.tasks.dots", "shared.tasks.tags"}


def test_inverse_rl_stands_apart(made_up):
    worlds = "from shared import kl, plots\nfrom shared.irl import planning"
    graph = made_up(
        {
            "irl/worlds.py": worlds,
            "irl/planning.py": "",
            "kl.py": "",
            "plots.py": "",
            "evaluate.py": "import shared.irl.worlds",
            "check.py": "import shared.irl.worlds",
        }
    )
    wrong = ["shared.evaluate imports shared.irl.worlds", "shared.irl.worlds imports shared.kl"]
    assert against_the_order(graph) == wrong


def test_circles_and_new_files_are_seen(made_up):
    graph = made_up({"kl.py": "import shared.logps", "logps.py": "def f():\n    import shared.kl", "nowhere.py": ""})
    with pytest.raises(CycleError):
        TopologicalSorter(graph).prepare()
    assert without_a_place(graph) == ["shared.nowhere"]


def test_an_import_of_a_later_room_and_a_crowded_room_are_seen(tmp_path):
    files = {
        "__init__.py": "",
        "__main__.py": "import checker.commands.grade",
        "rules/base.py": "def later():\n    from checker.pages import body",
        "pages/body.py": "import checker",
        "commands/grade.py": "from checker.grading import classes",
        "grading/classes.py": "from checker.grading.box import walls",
        "grading/box/walls.py": "import checker.grading.judge.worked_notebooks",
        "grading/judge/worked_notebooks.py": "",
    }
    for name in [*files, *(f"rules/{number}.py" for number in range(MOST_FILES))]:
        file = tmp_path / "checker" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(files.get(name, ""))
    graph = import_graph(tmp_path, "checker")
    assert against_the_rooms(graph) == [
        "checker.grading.box.walls imports checker.grading.judge.worked_notebooks",
        "checker.rules.base imports checker.pages.body",
    ]
    assert crowded(tmp_path) == ["checker/rules"]
