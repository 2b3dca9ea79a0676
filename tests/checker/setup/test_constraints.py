"""`constraints.txt`: every package of an environment has one version, on each platform, and no address."""

import re
import tomllib
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
PINS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
PLATFORMS = {
    "linux": {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux", "platform_machine": "x86_64"},
    "macos": {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin", "platform_machine": "arm64"},
    "windows": {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows", "platform_machine": "AMD64"},
}


def applies(marker: Marker | None, platform: dict, extra: str = "") -> bool:
    return marker is None or marker.evaluate({**platform, "extra": extra})


def pinned(platform: dict) -> dict[str, str]:
    """The versions that hold on a platform, by the name of the package."""
    held = [pin for pin in PINS if applies(pin.marker, platform)]
    versions = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in held}
    assert len(versions) == len(held), "a package has two versions on one platform"
    return versions


def required(lists: list[str]) -> list[Requirement]:
    """The requirements that these lists name."""
    lines = [line for name in lists for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    return [Requirement(line) for line in lines if re.match(r"\w", line)]


def reached(requirements: list[Requirement], platform: dict) -> set[str]:
    """The packages that requirements bring on a platform, as far as they are installed here."""
    installed = {canonicalize_name(one.metadata["Name"]) for one in distributions()}
    waiting = [(requirement, "") for requirement in requirements]
    looked_at = set()
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if not applies(requirement.marker, platform, extra):
            continue
        for wanted in ("", *requirement.extras):
            if (name, wanted) in looked_at:
                continue
            looked_at.add((name, wanted))
            if name in installed:
                further = [Requirement(line) for line in distribution(name).requires or []]
                waiting += [(one, wanted) for one in further]
    return {name for name, _ in looked_at}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_whatever_the_requirements_bring_is_pinned_on_each_platform(platform):
    """Catches a requirement that was added without `make constraints`, and a list that was made for one system."""
    lists = ["requirements.txt", "requirements-test.txt", "requirements-mutants.txt"]
    missing = reached(required(lists), PLATFORMS[platform]) - set(pinned(PLATFORMS[platform]))
    assert not missing, f"run `make constraints`: {sorted(missing)} are not pinned on {platform}"


def test_this_environment_is_the_pinned_one():
    """Catches a setup that did not heed the constraints, and constraints that nobody tests with."""
    versions = pinned({})
    brought = reached(required(["requirements.txt", "requirements-test.txt"]), {})
    here = {name: distribution(name).version.partition("+")[0] for name in brought}
    assert here == {name: versions[name] for name in brought}


def test_the_environment_has_what_the_package_needs():
    """Catches a dependency of the checker in pyproject.toml alone: setup installs the package without its dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    assert needed <= reached(required(["requirements.txt"]), {})


def test_the_lists_agree():
    """Catches a version that was raised in one file alone: pip would find no solution."""
    versions = pinned({})
    lists = ["requirements.txt", "requirements-test.txt", "requirements-mutants.txt"]
    for requirement in required(lists):
        assert f"=={versions[canonicalize_name(requirement.name)]}" == str(requirement.specifier), requirement.name


def test_a_pin_is_a_version_and_no_address():
    """Catches the address of one machine's index or folder in everybody's setup."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert "://" not in text and "--" not in text and " @ " not in text
    assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) and not pin.url for pin in PINS)


def test_what_builds_the_courses_own_package_is_pinned():
    """Catches a setup without setuptools: the course's package is built by the one that is installed."""
    assert all("setuptools" in pinned(platform) for platform in PLATFORMS.values())
