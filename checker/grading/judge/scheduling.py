"""Grading many notebooks: one after the other, in threads of this process, or on the machines of a cluster.

On one machine threads are enough, since what takes long runs in boxes, which are processes. For several machines there
is dask.distributed: it starts again elsewhere what was running on a worker that ends. It does not survive its own
scheduler. Every result is handed on, and written down, as soon as it is there, so whatever ends costs no result.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from socket import gethostname
from typing import Any
from urllib.parse import urlsplit

from checker.grading.box import isolation
from checker.grading.box.isolation import BoxFailed
from checker.grading.collect.apart import TooMuch
from checker.grading.judge.one_notebook import Job, failed, forget_references, grade
from checker.grading.judge.workers import graded_here, refuse_another_version, refuse_unfit
from checker.reading.notebook import Unreadable

TIMES = 2  # how often a notebook may kill its worker before it is reported
CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")  # the authority's, this machine's, and its key
AT_HOME = ("127.0.0.1", "localhost", "::1")
MOMENT = 2  # seconds
LOST = "The scheduler was lost ({}). What is graded is kept: run it again."
COMING = 60  # seconds that the first worker of a scheduler is waited for
NO_WORKER = "The scheduler at {0} has no workers. Start some, where the course is installed: dask worker {0}"
AGAIN = "The next run tries it again."
KILLED = f"Grading this notebook ended its worker {TIMES} times, so it was not tried again: look at it by hand, or say --again."


def in_this_process(jobs: Iterable[Job]) -> Iterator[tuple[Job, dict]]:
    """Grade one notebook after the other."""
    for job in jobs:
        yield job, _graded(job)


def in_threads(
    jobs: Iterable[Any], threads: int, work: Callable[[Any], Any] | None = None
) -> Iterator[tuple[Any, Any]]:
    """Grade so many notebooks at once, or do other `work` in boxes, in the order in which they are done.

    Who stops asking for results, by Ctrl-C, say, ends the boxes that run.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        running = {pool.submit(work or _graded, job): job for job in jobs}
        for future in as_completed(running):
            yield running[future], future.result()
    finally:
        isolation.stopping.set()
        pool.shutdown(cancel_futures=True)
        isolation.stopping.clear()


def on_workers(jobs: Iterable[Job], scheduler: str, certificates: Path | None = None) -> Iterator[tuple[Job, dict]]:
    """Grade notebooks on the workers of a scheduler, in the order in which they are done.

    Args:
        scheduler: its address, such as tls://grader.example.org:8786.
        certificates: the folder of those for it: ca.pem, cert.pem and key.pem.

    Raises:
        Unreadable: dask is missing, the address is open to others, the scheduler was lost, or one of its workers has
            another version of the course, or no box.
    """
    if find_spec("distributed") is None:
        raise Unreadable(
            'To grade on several machines, install dask, in the course\'s folder: pip install -e ".[grade,cluster]"'
        )
    refuse_open(scheduler)
    if scheduler.startswith("tls:") and certificates is None:
        raise Unreadable(f"{scheduler} asks for certificates: say --certificates.")
    waiting = {job.digest: job for job in jobs}
    with _client(scheduler, certificates) as client:
        running = {}
        asked: set[str] = set()
        while waiting or running:
            threads = _threads(client)
            # Workers may join while a class is graded: each one is asked before it gets a notebook.
            if waiting:
                refuse_unfit(client, threads.keys() - asked, next(iter(waiting.values())).settings.isolation.kind)
                asked |= threads.keys()
            # One a thread. When a worker dies, every notebook that it holds counts as a cause, those in its queue too.
            for _ in range(max(1, sum(threads.values())) - len(running)):
                if waiting:
                    job = waiting.pop(next(iter(waiting)))
                    future = client.submit(graded_here, _graded, job, key=f"grade-{job.digest}", pure=False)
                    running[future] = job
            for future in _finished(list(running)):
                job = running.pop(future)
                result = _result(job, future)
                # One that joined since the question was asked is told by its result.
                refuse_another_version(result, _who_has(client, future))
                yield job, result
                future.release()


def _threads(client) -> dict[str, int]:
    """The workers that there are now, with their threads.

    Raises:
        Unreadable: the scheduler was lost.
    """
    try:
        return client.nthreads()
    except OSError as error:
        raise Unreadable(LOST.format(error)) from error


def _who_has(client, future) -> tuple[str, ...]:
    """The addresses of the workers that hold a result."""
    try:
        return tuple(client.who_has([future]).get(future.key, ()))
    except OSError:
        return ()


def _finished(futures: list) -> list:
    """The futures that are done, as soon as there is one; after a moment none, for there may be more workers by then."""
    from distributed import wait

    with suppress(asyncio.TimeoutError, asyncio.CancelledError, CancelledError):
        wait(futures, timeout=MOMENT, return_when="FIRST_COMPLETED")
    return [future for future in futures if future.status != "pending"]


def _result(job: Job, future) -> dict:
    """The result of grading a notebook.

    Raises:
        Unreadable: the scheduler was lost.
    """
    from distributed.scheduler import KilledWorker

    if future.status == "finished":
        return future.result()
    if future.status == "error" and isinstance(future.exception(), KilledWorker):
        return failed(job, KILLED)
    raise Unreadable(LOST.format(future.status))


def refuse_open(scheduler: str) -> None:
    """Raises Unreadable for an address at which others could listen, or send tasks."""
    address = urlsplit(scheduler)
    if address.scheme not in ("tcp", "tls") or not address.hostname:
        raise Unreadable(f"{scheduler} is not a scheduler's address, such as tls://grader.example.org:8786.")
    if address.scheme == "tcp" and address.hostname not in AT_HOME:
        raise Unreadable(
            f"{scheduler}: tcp:// has neither authentication nor encryption, and anyone who reaches the scheduler can"
            " run programs on its workers. Use tls:// with certificates of your own: --certificates."
        )


@contextmanager
def _client(scheduler: str, certificates: Path | None) -> Iterator:
    from distributed import Client

    try:
        client = Client(scheduler, security=_security(certificates) if certificates else None, timeout=30)
    except (OSError, TimeoutError) as error:
        raise Unreadable(f"The scheduler at {scheduler} does not answer ({error}).") from error
    with client:
        # The scheduler was started with its own settings. (A lambda travels whole: the project need not be installed
        # beside the scheduler.)
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", TIMES - 1))
        try:
            client.wait_for_workers(1, timeout=COMING)
        except TimeoutError:
            raise Unreadable(NO_WORKER.format(scheduler)) from None
        yield client


def _security(folder: Path):
    """The security of connections: it shows the certificate of a folder, and talks to nobody who shows none.

    Raises:
        Unreadable: one of the files is not there.
    """
    from distributed.security import Security

    ca, cert, key = (str(folder / name) for name in CERTIFICATES)
    for file in (ca, cert, key):
        if not Path(file).is_file():
            raise Unreadable(f"{file} is not there. For tls:// all three are needed: {', '.join(CERTIFICATES)}.")
    shown = dict(tls_client_cert=cert, tls_scheduler_cert=cert, tls_worker_cert=cert)
    keys = dict(tls_client_key=key, tls_scheduler_key=key, tls_worker_key=key)
    return Security(tls_ca_file=ca, require_encryption=True, **shown, **keys)


def _graded(job: Job) -> dict:
    """Grade a notebook; one that the grader itself stumbles over is reported, and takes none of the others with it."""
    try:
        return grade(job)
    except BoxFailed as error:
        reason = f"{error} That is a fault of the machine {gethostname()}, not of the notebook. {AGAIN}"
        return failed(job, reason, transient=True)
    except TooMuch as error:
        return failed(job, f"{error} It was not tried again: --again does.")
    except Exception as error:
        forget_references()
        reason = f"The grader stumbled over this notebook ({type(error).__name__}: {error}). Look at it by hand."
        return failed(job, f"{reason} {AGAIN}", transient=True)
