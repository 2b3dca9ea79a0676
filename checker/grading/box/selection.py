"""The kinds of isolation that there are here. Each is tried by running a box, not by finding a file."""

import os
import threading
from dataclasses import replace
from pathlib import Path

from checker.grading.box import containers
from checker.grading.box.cgroups import NoCgroup, home
from checker.grading.box.isolation import Outcome, run
from checker.grading.box.limits import Limits
from checker.grading.box.walls import KINDS, ROOT, Isolation, box, found_program

SECRET = "CHECKER_GRADE_PROBE"
PROBE_LIMITS = Limits(wall=20, folder=1_000_000, processes=64, memory=200_000_000)
PROJECT = ((ROOT / "checker", "checker"),)
NO_CGROUPS = (
    "For that it needs cgroups of version 2 with the controllers `memory` and `pids`; an ordinary user has them in a"
    " session of systemd (log in, rather than `su`)"
)
EXPECTED = {
    "sees_grader_variable": (False, "the grader's environment can be read inside"),
    "has_network": (False, "it has a network"),
    "writes_project_or_system": (False, "the project or the system can be written inside"),
    "sees_other_processes": (False, "other processes of this machine can be seen inside"),
    "writes_private_folder": (True, "its private folder cannot be written"),
    "has_loopback": (True, "it has no loopback of its own, which a notebook's kernel needs"),
    "starts_allowed_threads": (True, "no processes can be started in it, as a notebook's kernel does"),
    "exceeds_process_limit": (False, f"it does not bound processes. {NO_CGROUPS}"),
    "exceeds_memory_limit": (False, f"it does not bound memory. {NO_CGROUPS}"),
}
# Settings of the kernel that refuse bwrap its namespaces, the value that does, and what to do.
REFUSALS = {
    "kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "AppArmor refuses user namespaces to programs without a profile, as Ubuntu does since 24.04. An administrator"
        " can give bwrap a profile (`apt install apparmor-profiles` and copy"
        " /usr/share/apparmor/extra-profiles/bwrap-userns-restrict to /etc/apparmor.d), or switch the refusal off:"
        " sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    "kernel/unprivileged_userns_clone": (
        "0",
        "The kernel refuses user namespaces to all but root. An administrator can allow them:"
        " sysctl kernel.unprivileged_userns_clone=1",
    ),
    "user/max_user_namespaces": (
        "0",
        "The kernel allows no user namespaces. An administrator can allow them: sysctl user.max_user_namespaces=15000",
    ),
}


class NoIsolation(Exception):
    """There is no box to run submissions in; the message says why and what to do."""


def choose(wanted: str = "auto") -> Isolation:
    """The isolation that was asked for, or the first that works.

    Raises:
        NoIsolation: none works. `none` itself is only taken where it was asked for.
    """
    if wanted == "none":
        return Isolation("none")
    reasons = []
    for kind in [kind for kind in KINDS if kind != "none"] if wanted == "auto" else [wanted]:
        program = found_program(kind)
        if not program:
            reasons.append(f"{kind} is not installed" + (" (apt install bubblewrap)." if kind == "bwrap" else "."))
            continue
        candidate = Isolation(kind, program)
        if kind == "bwrap":
            # Root's boxes run as a user of their own: no limit on processes and no guard on /proc/sys holds for root.
            candidate = with_a_count(with_a_cgroup(replace(candidate, own_uid=os.geteuid() == 0)))
        reason = flaw(candidate)
        if not reason:
            return candidate
        reasons.append(f"{kind} does not work: {reason}")
    raise NoIsolation(
        " ".join(reasons) + " Submissions are strangers' programs: without a box they can read and write all that you"
        " can. If you accept that, say --isolation none."
    )


def with_a_count(isolation: Isolation) -> Isolation:
    """The isolation, marked as counted if the system counts the processes of each box apart from all others.

    The trial is a box that may have few processes, beside many of the same user: it works only where they are counted
    apart. Linux does so since 5.14, in each namespace of users; see RLIMIT_NPROC in getrlimit(2).
    """
    counted = replace(isolation, counted=True)
    over = threading.Event()
    crowd = [threading.Thread(target=over.wait) for _ in range(PROBE_LIMITS.processes)]
    for thread in crowd:
        thread.start()
    try:
        return isolation if flaw(counted) else counted
    finally:
        over.set()
        for thread in crowd:
            thread.join()


def with_a_cgroup(isolation: Isolation) -> Isolation:
    """The isolation with a cgroup for each box; without, and with the reason, where none can be had."""
    try:
        return replace(isolation, controllers=home().controllers)
    except NoCgroup as error:
        return replace(isolation, no_cgroup=str(error))


def flaw(isolation: Isolation) -> str:
    """The fault of a kind of isolation, found by running a box; "" for none."""
    os.environ[SECRET] = "1"
    try:
        outcome = run(box(isolation, PROJECT, PROBE_LIMITS), _probe(isolation))
    except containers.NoImage as error:
        return _sentence(str(error))
    except OSError as error:
        return f"{isolation.program} cannot be started ({error.strerror})."
    finally:
        del os.environ[SECRET]
    if not outcome.records:
        return _why_not(outcome)
    seen = outcome.records[0]
    if "failed" in seen:
        return _sentence(str(seen["failed"]).strip().splitlines()[-1])
    leaks = [sentence for name, (right, sentence) in EXPECTED.items() if seen.get(name) is not right]
    return f"{leaks[0]}." if leaks else ""


def _probe(isolation: Isolation) -> dict:
    """The job of a trial box: it looks around, and tries the limits that neither watching nor a cgroup keeps."""
    contained = isolation.kind == containers.KIND
    return {
        "do": "probe",
        "secret": SECRET,
        "try_memory_limit": contained,
        "try_process_limit": contained or isolation.counted,
    }


def _why_not(outcome: Outcome) -> str:
    """The cause where a setting of the kernel is it, else the program's own words."""
    words = outcome.last_words or outcome.stopped or "it said nothing"
    for name, (refusing, advice) in REFUSALS.items():
        setting = Path("/proc/sys", name)
        if setting.is_file() and setting.read_text().strip() == refusing and os.geteuid() != 0:
            return f"{_sentence(words)} {advice}."
    return _sentence(words)


def _sentence(words: str) -> str:
    """The words of a program as one sentence: the line that tells of an error, else the first."""
    lines = words.splitlines()
    line = next((line for line in lines if "error" in line.lower()), lines[0]).strip()
    return line if line.endswith((".", "!", "?")) else f"{line}."
