"""The isolation that is chosen, by the words of a trial box; boxes here are outcomes that are written down.

That a real box says so is tried in test_isolation.py.
"""

import os
import threading
from types import SimpleNamespace

import pytest

from checker.grading.box import selection, walls
from checker.grading.box.cgroups import NoCgroup
from checker.grading.box.containers import NoImage
from checker.grading.box.isolation import Outcome
from checker.grading.box.selection import EXPECTED, NoIsolation, choose, flaw
from checker.grading.box.walls import Isolation

SOUND = {
    "sees_grader_variable": False, "has_network": False, "writes_project_or_system": False,
    "sees_other_processes": False, "writes_private_folder": True, "has_loopback": True, "starts_allowed_threads": True,
    "exceeds_process_limit": False, "exceeds_memory_limit": False,
}  # fmt: skip
NO_CGROUPS = (
    "For that it needs cgroups of version 2 with the controllers `memory` and `pids`; an ordinary user has them in a session"
    " of systemd (log in, rather than `su`)"
)
LEAKS = {
    "sees_grader_variable": "the grader's environment can be read inside.",
    "has_network": "it has a network.",
    "writes_project_or_system": "the project or the system can be written inside.",
    "sees_other_processes": "other processes of this machine can be seen inside.",
    "writes_private_folder": "its private folder cannot be written.",
    "has_loopback": "it has no loopback of its own, which a notebook's kernel needs.",
    "starts_allowed_threads": "no processes can be started in it, as a notebook's kernel does.",
    "exceeds_process_limit": f"it does not bound processes. {NO_CGROUPS}.",
    "exceeds_memory_limit": f"it does not bound memory. {NO_CGROUPS}.",
}


@pytest.fixture
def trial(monkeypatch):
    """The words of a trial box from now on: a record, an outcome, or an error. `trial.asked` has the boxes and their jobs."""

    def says(said):
        def run(box, job):
            says.asked.append((box, job, os.environ.get("CHECKER_GRADE_PROBE")))
            if isinstance(said, Exception):
                raise said
            return said if isinstance(said, Outcome) else Outcome((said,), "", 0.1)

        monkeypatch.setattr(selection, "run", run)

    says.asked = []
    return says


BWRAP = Isolation("bwrap", "/usr/bin/bwrap")


def test_a_sound_box_has_no_flaw_and_each_leak_its_sentence(trial):
    """Catches a wall that is not looked at, and a leak that is told as another."""
    trial(SOUND)
    assert flaw(BWRAP) == "" and EXPECTED.keys() == SOUND.keys()
    for name, sentence in LEAKS.items():
        for wrong in (not SOUND[name], None, int(SOUND[name])):
            trial(SOUND | {name: wrong})
            assert flaw(BWRAP) == sentence
        trial({other: value for other, value in SOUND.items() if other != name})
        assert flaw(BWRAP) == sentence
    trial(SOUND | {"has_network": True, "has_loopback": False})
    assert flaw(BWRAP) == LEAKS["has_network"], "the first is told"


@pytest.mark.parametrize(
    ("isolation", "memory", "processes"),
    [
        (BWRAP, False, False),
        (Isolation("bwrap", "b", counted=True), False, True),
        (Isolation("podman", "p"), True, True),
    ],
)
def test_a_trial_is_told_a_secret_and_which_limits_to_try(isolation, memory, processes, trial):
    """Catches a variable that no grader has, a limit that nobody tries, and a box that sees more than the checker."""
    trial(SOUND)
    flaw(isolation)
    ((box, job, secret),) = trial.asked
    assert secret == "1" and "CHECKER_GRADE_PROBE" not in os.environ
    tries = {"try_memory_limit": memory, "try_process_limit": processes}
    assert job == {"do": "probe", "secret": "CHECKER_GRADE_PROBE"} | tries
    assert box.isolation is isolation and box.shown == ((walls.ROOT / "checker", "checker"),)
    assert box.limits.processes == 64 and box.limits.memory == 200_000_000 and box.limits.folder == 1_000_000
    assert 10 < box.limits.wall < 60


def test_what_keeps_a_box_from_starting_is_its_flaw(trial):
    """Catches a traceback where a program is missing, and a secret that stays in the grader's environment."""
    for said, words in (
        (NoImage("podman: Error response"), "podman: Error response."),
        (OSError(13, "Permission denied"), "/usr/bin/bwrap cannot be started (Permission denied)."),
        ({"failed": "Traceback\n  at\nKeyError: 'x' \n"}, "KeyError: 'x'."),
        (Outcome((), "", 0.1), "it said nothing."),
        (Outcome((), "it took long", 0.1), "it took long."),
        (Outcome((), "it took long", 0.1, last_words="bwrap: no!"), "bwrap: no!"),
    ):
        trial(said)
        assert flaw(BWRAP) == words and "CHECKER_GRADE_PROBE" not in os.environ


REFUSED = {
    "kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "AppArmor refuses user namespaces to programs without a profile, as Ubuntu does since 24.04. An administrator can"
        " give bwrap a profile (`apt install apparmor-profiles` and copy"
        " /usr/share/apparmor/extra-profiles/bwrap-userns-restrict to /etc/apparmor.d), or switch the refusal off:"
        " sysctl kernel.apparmor_restrict_unprivileged_userns=0.",
    ),
    "kernel/unprivileged_userns_clone": (
        "0",
        "The kernel refuses user namespaces to all but root. An administrator can allow them:"
        " sysctl kernel.unprivileged_userns_clone=1.",
    ),
    "user/max_user_namespaces": (
        "0",
        "The kernel allows no user namespaces. An administrator can allow them: sysctl user.max_user_namespaces=15000.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_setting_that_refuses_is_named_with_what_to_do(name, monkeypatch, tmp_path):
    """Catches advice on a setting that is not the cause, or to root, whom none of them refuses."""
    asked = []
    monkeypatch.setattr(selection, "Path", lambda root, name: asked.append(root) or tmp_path / name)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    outcome = Outcome((), "", 0.1, last_words="no namespace")
    assert selection._why_not(outcome) == "no namespace." and set(asked) == {"/proc/sys"}
    setting = tmp_path / name
    setting.parent.mkdir()
    refusing, advice = REFUSED[name]
    setting.write_text("7\n")
    assert selection._why_not(outcome) == "no namespace."
    setting.write_text(f"{refusing}\n")
    assert selection._why_not(outcome) == f"no namespace. {advice}"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert selection._why_not(outcome) == "no namespace."


def test_of_many_lines_the_one_that_tells_of_an_error_is_told():
    assert selection._sentence("one\nan Error here\nerror: two") == "an Error here."
    assert selection._sentence(" one\ntwo") == "one." and selection._sentence("why?") == "why?"
    assert selection._sentence("two.") == "two."


@pytest.fixture
def machine(monkeypatch):
    """A machine on which these programs are, with these flaws; `machine.tried` has what was tried."""

    def with_programs(flaws, uid=1000):
        monkeypatch.setattr(selection, "found_program", lambda kind: f"/usr/bin/{kind}" if kind in flaws else "")
        monkeypatch.setattr(os, "geteuid", lambda: uid)
        monkeypatch.setattr(selection, "with_a_count", lambda isolation: marked(isolation, "count"))
        monkeypatch.setattr(selection, "with_a_cgroup", lambda isolation: marked(isolation, "cgroup"))
        monkeypatch.setattr(
            selection, "flaw", lambda isolation: with_programs.tried.append(isolation) or flaws[isolation.kind]
        )

    def marked(isolation, word):
        with_programs.marks.append(word)
        return isolation

    with_programs.tried = []
    with_programs.marks = []
    return with_programs


def test_the_first_that_works_is_taken(machine):
    """Catches a container where bubblewrap works, and root's boxes that all run as root."""
    machine({"bwrap": "", "podman": ""})
    assert choose() == BWRAP and machine.marks == ["cgroup", "count"]
    machine({"bwrap": "", "podman": ""}, uid=0)
    assert choose("auto") == Isolation("bwrap", "/usr/bin/bwrap", own_uid=True)
    assert choose("podman") == Isolation("podman", "/usr/bin/podman") and len(machine.marks) == 4
    machine({"bwrap": "it leaks.", "podman": ""})
    assert choose() == Isolation("podman", "/usr/bin/podman")


def test_none_is_only_what_was_asked_for(machine):
    machine({"bwrap": ""})
    assert choose("none") == Isolation("none") and machine.tried == []


def test_why_there_is_none_is_said_of_each(machine):
    """Catches an instructor who reads of one kind alone, or not what to install."""
    machine({"podman": "it leaks."})
    risk = (
        " Submissions are strangers' programs: without a box they can read and write all that you can. If you accept that,"
        " say --isolation none."
    )
    with pytest.raises(NoIsolation) as raised:
        choose()
    install = "bwrap is not installed (apt install bubblewrap)."
    assert str(raised.value) == f"{install} podman does not work: it leaks.{risk}"
    with pytest.raises(NoIsolation) as raised:
        choose("bwrap")
    assert str(raised.value) == f"{install}{risk}"


def test_a_cgroup_is_taken_where_there_is_one(monkeypatch):
    monkeypatch.setattr(selection, "home", lambda: SimpleNamespace(controllers=("pids",)))
    assert selection.with_a_cgroup(BWRAP) == Isolation("bwrap", "/usr/bin/bwrap", controllers=("pids",))

    def none():
        raise NoCgroup("nobody gave one")

    monkeypatch.setattr(selection, "home", none)
    assert selection.with_a_cgroup(BWRAP) == Isolation("bwrap", "/usr/bin/bwrap", no_cgroup="nobody gave one")


def test_a_crowd_outside_is_there_for_the_trial_of_the_count_and_goes_again(monkeypatch):
    """Catches a count of the user's other processes, which ends every box of a grader with a browser open."""
    before = threading.active_count()
    seen = []

    def tried(isolation):
        seen.append((isolation, threading.active_count() - before))
        return "no" if len(seen) > 1 else ""

    monkeypatch.setattr(selection, "flaw", tried)
    counted = Isolation("bwrap", "/usr/bin/bwrap", counted=True)
    assert selection.with_a_count(BWRAP) == counted and selection.with_a_count(BWRAP) is BWRAP
    assert seen == [(counted, 64)] * 2 and threading.active_count() == before
