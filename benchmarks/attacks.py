"""Attacks by hostile submissions on the grader. None of them may reach anything.

Each attack is a program that runs in a box in a student's place. It raises `RuntimeError("got: ...")` when it got what
it was after. `held` runs one and looks at the grader's side as well: files that must be as before, processes that must
be gone.
"""

import base64
import hashlib
import os
import pickle
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from checker.grading.box.isolation import Outcome, run
from checker.grading.box.limits import Limits
from checker.grading.box.selection import PROJECT
from checker.grading.box.walls import Isolation, box

SECONDS = 1.5  # for an attack, on a machine with nothing else to do
SECRET = "GRADERS_SECRET_VARIABLE"
LIMITS = Limits(wall=20, cpu=20, memory=300_000_000, folder=20_000_000, processes=40, result=2_000_000)
SYSTEM_FILES = ("/etc/shadow", "/etc/passwd", "/etc/hostname", "/root/.bashrc", "/var/log/dpkg.log")
MARK = "attack-mark-71c3"  # in the command line of what an attack leaves behind


@dataclass(frozen=True)
class Attack:
    """One attack.

    ended: words of the reason with which the box or the child must have been ended; "" for any.
    harmless: it only looks, and at this machine alone, so it may be tried without a box as well: one that gets nothing
        there shows nothing.
    """

    name: str
    program: str
    ended: str = ""
    harmless: bool = False


@dataclass(frozen=True)
class Seen:
    """The result of an attack: what it got ("" for nothing), how it ended, what is wrong outside ("" for nothing)."""

    got: str
    ended: str
    outside: str
    seconds: float
    memory: int


def _trying(what: str) -> str:
    """A program that raises with all that `what`, a list of (name, function), could do."""
    return f"""
import os, glob, hashlib, socket, ctypes, subprocess, time
got = []
for name, attempt in {what}:
    try:
        result = attempt()
        if result not in (None, -1, False):
            got.append(name)
    except BaseException:
        pass
if got:
    raise RuntimeError('got: ' + ', '.join(got))
"""


def _paths(mode: str, paths: str) -> str:
    return f"[(path, lambda path=path: [open(path, {mode!r})]) for path in {paths}]"


FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
UNSEEN_MEMORY = """
import ctypes, os
c = ctypes.CDLL(None)
c.shmat.restype = ctypes.c_void_p
def memfd():
    number = os.memfd_create('x')
    return sum(os.write(number, b'x' * 10**7) for _ in range(MEMORY // 10**7 + 1))
def segment():
    number = c.shmget(0, 2 * MEMORY, 0o1600)
    return number >= 0 and ctypes.memset(c.shmat(number, None, 0), 1, 2 * MEMORY)
def in_shm():
    return open('/dev/shm/x', 'wb').write(b'x' * 10**8)
"""
ATTACKS = (
    Attack("write outside", _trying(_paths("a", "['CANARY', '/course/x', '/usr/x', '/etc/x', '/x', '/dev/x', '/proc/sys/kernel/hostname']"))),
    Attack("read a neighbour's submission", _trying(_paths("r", "['CANARY']")), harmless=True),
    Attack("read a system file", _trying("[(path, lambda path=path, of_graders=of_graders: hashlib.sha256(open(path, 'rb').read()).hexdigest() == of_graders) for path, of_graders in SYSTEM_FILES]"), harmless=True),
    Attack(
        "read the grader's environment",
        _trying(f"[(path, lambda path=path: {SECRET!r}.encode() in open(path, 'rb').read()) for path in glob.glob('/proc/*/environ')]"),
        harmless=True,
    ),
    Attack("a port of the grader", _trying("[('port', lambda: socket.create_connection(('127.0.0.1', PORT), 2))]"), harmless=True),
    Attack(
        "network",
        _trying(
            "[('outside', lambda: socket.create_connection(('192.0.2.1', 80), 2)),"
            " ('name', lambda: socket.getaddrinfo('example.org', 80))]"
        ),
    ),
    Attack(
        "namespaces and mounts",
        _trying(
            "[(f'unshare {flag:x}', lambda flag=flag: ctypes.CDLL(None).unshare(flag) == 0) for flag in"
            " (0x10000000, 0x20000, 0x40000000)] + [('mount', lambda:"
            " ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, b'size=4G') == 0), ('clone', lambda:"
            " ctypes.CDLL(None).syscall(56, 0x10000000 | 17, 0, 0, 0, 0) >= 0)]"
        ),
    ),
    Attack(
        "look into the parent",
        _trying(
            "[('memory', lambda: [open(f'/proc/{os.getppid()}/mem', 'rb')]),"
            " ('descriptors', lambda: os.listdir(f'/proc/{os.getppid()}/fd') and os.getppid() == 1),"
            " ('ptrace', lambda: ctypes.CDLL(None).ptrace(0x4206, os.getppid(), 0, 0) == 0)]"
        ),
    ),
    Attack("fork bomb", FORK_BOMB),
    Attack("memory in one process", "kept = [b'x' * 10**7 for _ in range(10**4)]", "memory"),
    Attack(
        "memory in three processes",
        "import os\nos.fork(); os.fork()\nkept = [b'x' * 10**7 for _ in range(10)]\nwhile True: pass",
        "memory",
    ),
    Attack(
        "memory that belongs to no process",
        UNSEEN_MEMORY + _trying("[('memfd', memfd), ('segment', segment), ('/dev/shm', in_shm)]"),
    ),
    Attack("2 GB of output", "import sys\nfor _ in range(2000): sys.stdout.write('x' * 10**6)\nsys.stdout.flush()"),
    Attack(
        "2 GB into the pipe of results",
        "import os\nfor number in range(3, 40):\n  try:\n    while True: os.write(number, b'x' * 10**6)\n"
        "  except OSError: pass",
    ),
    Attack("one large file", _trying("[('large', lambda: open('/tmp/work/large', 'wb').write(b'x' * (LIMIT + 10**6)))]")),
    Attack(
        "many files",
        _trying("[('many', lambda: [open(f'/tmp/work/{i}', 'wb').write(b'x' * 10**6) for i in range(LIMIT // 10**6 + 1)])]"),
    ),
    Attack(
        "a child that stays",
        "import os, subprocess, sys\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n"
        f"    os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(600)', {MARK!r}])\n  os._exit(0)",
    ),
    Attack("kill the parent", "import os\nfor number in (os.getppid(), 1, -1):\n  try: os.kill(number, 9)\n  except OSError: pass"),
    Attack(
        "links left behind",
        "import os\nfor name in ('result.json', 'results.json', 'answers.json', 'notebook.ipynb'):\n"
        "  for folder in ('/tmp', '/tmp/work'): os.symlink('/etc/passwd', f'{folder}/{name}')",
    ),
    Attack(
        "endless loop, every signal ignored",
        "import signal\nfor number in range(1, 65):\n  try: signal.signal(number, signal.SIG_IGN)\n"
        "  except (OSError, ValueError): pass\nwhile True: pass",
        "it took more than",
    ),
    Attack("a child outside of the group", "import os\nif os.fork(): os._exit(0)\nos.setsid()\nwhile True: pass"),
)  # fmt: skip


def job(program: str, seconds: float = SECONDS) -> dict:
    """A job that runs a program as if it defined a student's function."""
    function = {
        "key": "attack",
        "cases": "attack",
        "statements": [program],
        "modules": (),
        "name": "attack",
        "seconds": seconds,
    }
    cases = base64.b64encode(pickle.dumps({"attack": {"cases": []}})).decode()
    return {"do": "answers", "cases": cases, "functions": [function], "imports": []}


def held(attack: Attack, isolation: Isolation, limits: Limits = LIMITS, seconds: float = SECONDS) -> Seen:
    """Run an attack in a box, which may take so many seconds, and look at what is left of it."""
    with _grader() as (canary, port):
        program = attack.program.replace("CANARY", str(canary)).replace("PORT", str(port))
        program = program.replace("LIMIT", str(limits.folder)).replace("MEMORY", str(limits.memory))
        program = program.replace("SYSTEM_FILES", repr(_digests()))
        outcome = run(box(isolation, PROJECT, limits), job(program, seconds))
        outside = "" if canary.read_text() == "canary" else "a file of the grader's was changed"
    if _left_behind(outcome):
        outside = "a process is left"
    ended = outcome.stopped or _last_words(outcome)
    got = ended.partition("got: ")[2].replace(f"{canary.parent}/", "")
    return Seen(got, ended, outside, outcome.seconds, outcome.memory)


def _last_words(outcome: Outcome) -> str:
    """The end of an attack, in words, or the reason why it never ran."""
    for record in outcome.records:
        if "ended" in record:
            return str(record["ended"])
        if "failed" in record:
            return str(record["failed"]).strip().splitlines()[-1]
    return ""


def _digests() -> list[tuple[str, str]]:
    """Files of the grader's system and what is in them; a container has files of its own by some of these names."""
    return [(path, hashlib.sha256(_read(Path(path))).hexdigest()) for path in SYSTEM_FILES]


@contextmanager
def _grader() -> Iterator[tuple[Path, int]]:
    """The things that an attack may be after: a file, a port, a variable of the environment.

    The variable is in a process of its own too: /proc shows what a process was started with, and this one was without.
    """
    variables = {SECRET: "x", "HTTPS_PROXY": f"http://{SECRET}@192.0.2.1"}
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            socket.create_server(("127.0.0.1", 0)) as server,
            subprocess.Popen(["cat"], stdin=subprocess.PIPE),  # ends when its stdin is closed
        ):
            canary = Path(folder, "neighbour.ipynb")
            canary.write_text("canary")
            yield canary, server.getsockname()[1]
    finally:
        os.environ.clear()
        os.environ.update(before)


def _left_behind(outcome: Outcome) -> bool:
    """True if anything that carries the mark is still running a moment later."""
    for _ in range(20):
        running = [path for path in Path("/proc").glob("[0-9]*/cmdline") if MARK.encode() in _read(path)]
        if not running:
            return False
        time.sleep(0.05)
    return True


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
