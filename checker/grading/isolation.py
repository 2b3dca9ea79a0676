"""Running a job in a box, from outside: the limits are kept, all children end with it, and what comes out is bounded.

What comes out are JSON records on a pipe, never pickled; nothing is read from a folder that a submission can write.
"""

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from checker.grading import boxes, seccomp, watching
from checker.grading.boxes import Box
from checker.grading.limits import MEGABYTE

BETWEEN_LOOKS = 0.05  # seconds from one look at the tree to the next
LAST_WORDS = 4_000  # bytes of what a program says before it fails
CHUNK = 1 << 16


@dataclass(frozen=True)
class Outcome:
    """What came of a job.

    records: what it sent, in order.       stopped: why it was ended, as the end of "stopped because ..."; "" if not.
    seconds: on the clock.                 memory, cpu: bytes at the most, and seconds, as far as was seen.
    last_words: what the box's own program said on stderr.
    """

    records: tuple[dict, ...]
    stopped: str
    seconds: float
    memory: int = 0
    cpu: float = 0.0
    last_words: str = field(default="", compare=False)


def run(box: Box, job: dict) -> Outcome:
    """Do a job in a box and wait for it."""
    job = job | {"limits": asdict(box.limits), "uid": box.uid}
    with tempfile.TemporaryFile() as given:
        given.write(json.dumps(job).encode())
        given.seek(0)
        with _started(box, given) as process:
            return _followed(process, box)


@contextmanager
def _started(box: Box, given) -> Iterator[subprocess.Popen]:
    """The box's process; it and all below it have ended when the block is left."""
    options = dict(stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    if box.isolation.kind == "none":
        with _without_walls(box) as (arguments, settings):
            process = subprocess.Popen(arguments, **settings, **options)
            try:
                yield process
            finally:
                _end_tree(process)
        return
    filter_at = _filter() if box.isolation.kind == "bwrap" else None
    kept = () if filter_at is None else (filter_at,)
    # An empty environment from the start: the box's first process shows to all others what it was started with.
    surroundings = {} if box.isolation.kind == "bwrap" else dict(os.environ)
    try:
        process = subprocess.Popen(boxes.command(box, filter_at), pass_fds=kept, env=surroundings, cwd="/", **options)
    finally:
        for number in kept:
            os.close(number)
    try:
        yield process
    finally:
        process.kill()  # with bwrap the kernel then ends all of its processes
        process.wait()
        if box.isolation.kind != "bwrap":
            subprocess.run([box.isolation.program, "rm", "--force", box.name], capture_output=True, check=False)


def _filter() -> int | None:
    """A descriptor from which the filter of system calls can be read."""
    program = seccomp.program()
    if program is None:
        return None
    reading, writing = os.pipe()
    os.write(writing, program)
    os.close(writing)
    return reading


@contextmanager
def _without_walls(box: Box) -> Iterator[tuple[list[str], dict]]:
    """For `--isolation none`: the same job with the same view of the project, as links in a folder that goes again."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        course = Path(folder, "course")
        for outside, inside in box.shown:
            place = course / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(outside)
        work = Path(folder, "work")
        work.mkdir()
        surroundings = boxes.environment(str(course), str(work))
        yield [sys.executable, "-m", "checker.grading.apart"], {"cwd": work, "env": surroundings}


def _end_tree(process: subprocess.Popen) -> None:
    for member in watching.tree(process.pid):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member.number, signal.SIGKILL)
    process.wait()


def _followed(process: subprocess.Popen, box: Box) -> Outcome:
    """Read what a job sends, and look at what it takes, until it ends or is over a limit."""
    started = time.monotonic()
    looked = started
    most = 0
    cpu = 0.0
    stopped = ""
    sent = bytearray()
    said = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ, sent)
        ready.register(process.stderr, selectors.EVENT_READ, said)
        while ready.get_map() and not stopped:
            for key, _ in ready.select(BETWEEN_LOOKS):
                piece = os.read(key.fd, CHUNK)
                if not piece:
                    ready.unregister(key.fileobj)
                key.data.extend(piece)
            del said[LAST_WORDS:]
            now = time.monotonic()
            if now - looked >= BETWEEN_LOOKS:
                looked = now
                stopped, taken = watching.exceeded(process.pid, box.limits)
                most = max(most, taken.memory)
                cpu = max(cpu, taken.cpu)
            if len(sent) > box.limits.result:
                stopped = f"it sent more than {box.limits.result / MEGABYTE:,.0f} MB of outputs"
            elif now - started > box.limits.wall:
                stopped = f"it took more than {box.limits.wall:.0f} s"
    process.stdout.close()
    process.stderr.close()
    seconds = time.monotonic() - started
    return Outcome(tuple(_records(sent)), stopped, seconds, most, cpu, said.decode(errors="replace").strip())


def _records(sent: bytes) -> Iterator[dict]:
    """The JSON objects among the lines; what is none, or cut, is passed over."""
    for line in bytes(sent).split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record
