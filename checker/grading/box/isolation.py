"""Running a job in a box, from outside: the limits are kept, all children end with it, and what comes out is bounded.

What comes out are JSON records on a pipe, never pickled; nothing is read from a folder that a submission can write.
"""

import json
import os
import selectors
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace

from checker.grading.box import containers, seccomp
from checker.grading.box.cgroups import NoCgroup
from checker.grading.box.ending import Witness
from checker.grading.box.inside import BEGUN, FINISHED
from checker.grading.box.launch import Running, started
from checker.grading.box.limits import MEGABYTE
from checker.grading.box.walls import Box

BETWEEN_LOOKS = 0.05  # seconds from one look at the tree to the next
LAST_WORDS = 4_000  # bytes of what a program says before it fails
LONGEST_REASON = 300  # characters
CHUNK = 1 << 16
stopping = threading.Event()  # set where grading was stopped: boxes of this process then end


class BoxFailed(Exception):
    """The box failed, by no fault of the submission as far as can be told; the message is a sentence on it."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job.

    records: what it sent, in order.       stopped: why it was ended, as the end of "stopped because ..."; "" if not.
    seconds: on the clock.                 memory, cpu: bytes at the most, and seconds, as far as was seen.
    last_words: what the box's own program said on stderr.
    begun: whether the box came to its work.        finished: whether it came to the end of it.
    outside: what the machine did to a box that did not come to the end, "" if nothing was seen.
    """

    records: tuple[dict, ...]
    stopped: str
    seconds: float
    memory: int = 0
    cpu: float = 0.0
    last_words: str = field(default="", compare=False)
    begun: bool = False
    finished: bool = False
    outside: str = ""

    @property
    def cut_short(self) -> bool:
        """True if the box ended before its work did, and over no limit."""
        return self.begun and not self.finished and not self.stopped

    @property
    def failure(self) -> str:
        """A sentence on a failure that is not the submission's, "" for none.

        Before the work has begun nothing of the submission has run. Afterwards the end of the box is the submission's
        doing, whatever comes from inside, unless the outside saw another cause.
        """
        if self.begun:
            seen = self.cut_short and self.outside
            return f"The box ended before its work did: {self.outside}." if seen else ""
        said = next((str(record["failed"]) for record in self.records if "failed" in record), "") or self.last_words
        reason = said.strip().splitlines()[-1][:LONGEST_REASON] if said.strip() else self.stopped or "it said nothing"
        return f"The box could not be started ({reason})."


def run_submission(box: Box, job: dict) -> Outcome:
    """As `run`, for a job that is to be judged.

    Raises:
        BoxFailed: the box failed, so its outcome says nothing about the submission.
    """
    try:
        outcome = run(box, job)
    except (OSError, NoCgroup, containers.NoImage) as error:
        raise BoxFailed(f"The box could not be started ({error}).") from error
    if outcome.failure:
        raise BoxFailed(outcome.failure)
    return outcome


def run(box: Box, job: dict) -> Outcome:
    """Do a job in a box and wait for it."""
    refused = seccomp.program() if box.isolation.kind == containers.KIND else None  # bwrap brings it
    kept = {"limits": asdict(box.limits), "uid": box.uid, "counted": box.isolation.counted}
    kept |= {"walled": box.isolation.kind != "none"}
    job = job | kept | {"filter": (refused or b"").hex()}
    with tempfile.TemporaryFile() as given:
        given.write(json.dumps(job).encode())
        given.seek(0)
        with started(box, given) as running:
            return _followed(running)


def _followed(running: Running) -> Outcome:
    """Read what a job sends, and look at what it takes, until it ends or is over a limit."""
    process = running.process
    limits = running.box.limits
    witness = Witness(running)
    begun = time.monotonic()
    looked = begun
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
            # A program names its error last. Whatever it said before could fill the grader's memory.
            del said[:-LAST_WORDS]
            now = time.monotonic()
            if now - looked >= BETWEEN_LOOKS:
                looked = now
                stopped, taken = running.exceeded()
                most = max(most, taken.memory)
                cpu = max(cpu, taken.cpu)
            if len(sent) > limits.result:
                stopped = f"it sent more than {limits.result / MEGABYTE:,.0f} MB of outputs"
            elif now - begun > limits.wall:
                stopped = f"it took more than {limits.wall:.0f} s"
            elif stopping.is_set():
                stopped = "grading was stopped"
    stopped = stopped or running.refused()  # which may have ended it before we looked
    process.stdout.close()
    process.stderr.close()
    seconds = time.monotonic() - begun
    records = tuple(_records(sent))
    marks = {mark for mark in (BEGUN, FINISHED) if {mark: True} in records}
    kept = tuple(record for record in records if record not in ({BEGUN: True}, {FINISHED: True}))
    words = said.decode(errors="replace").strip()
    outcome = Outcome(kept, stopped, seconds, most, cpu, words, BEGUN in marks, FINISHED in marks)
    return replace(outcome, outside=witness.seen()) if outcome.cut_short else outcome


def _records(sent: bytes) -> Iterator[dict]:
    """The JSON objects among the lines; what is none, or cut, is passed over."""
    for line in bytes(sent).split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record
