"""Grading many notebooks: in this process, on all cores, or on the machines of a cluster.

dask.distributed starts again elsewhere what was running on a worker that ends. It does not survive its own scheduler;
that is why every result is handed on, and written down, as soon as it is there.
"""

import asyncio
import logging
import os
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from socket import gethostname
from urllib.parse import urlsplit

from checker.grading import certificates
from checker.grading.isolation import BoxFailed
from checker.grading.one import Job, failed, forget_key, grade
from checker.grading.workers import graded_here, refuse_another_version, refuse_unfit
from checker.notebook import Unreadable

TIMES = 2  # how often a notebook may kill its worker before it is reported
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


def on_workers(
    jobs: Iterable[Job], workers: int, scheduler: str = "", tls: dict | None = None
) -> Iterator[tuple[Job, dict]]:
    """Grade notebooks on workers of this machine, or on those of a scheduler, in the order in which they are done.

    Args:
        scheduler: its address, such as tls://grader.example.org:8786.
        tls: files for it: ca, cert and key.

    Raises:
        Unreadable: dask is missing, the address is open to others, the scheduler was lost, or one of its workers has
            another version of the course, or no box.
    """
    if find_spec("distributed") is None:
        raise Unreadable(
            'To grade on several workers, install dask, in the course\'s folder: pip install -e ".[grade]"'
        )
    refuse_open(scheduler)
    if scheduler.startswith("tls:") and not tls:
        raise Unreadable(f"{scheduler} asks for certificates: say --tls-ca, --tls-cert and --tls-key.")
    waiting = {job.digest: job for job in jobs}
    with _client(workers, scheduler, tls or {}) as client:
        running = {}
        asked: set[str] = set()
        while waiting or running:
            threads = _threads(client)
            if scheduler and waiting:
                refuse_unfit(client, threads.keys() - asked, next(iter(waiting.values())).settings.isolation.kind)
                asked |= threads.keys()
            # One a thread: a notebook that waits behind another is blamed along with it.
            for _ in range(max(1, sum(threads.values())) - len(running)):
                if waiting:
                    job = waiting.pop(next(iter(waiting)))
                    work = (graded_here, _graded, job) if scheduler else (_graded, job)
                    running[client.submit(*work, key=f"grade-{job.digest}", pure=False)] = job
            for future in _finished(list(running)):
                job = running.pop(future)
                result = _result(job, future)
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
    """What grading came to.

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
    if not scheduler:
        return
    address = urlsplit(scheduler)
    if address.scheme not in ("tcp", "tls") or not address.hostname:
        raise Unreadable(f"{scheduler} is not a scheduler's address, such as tls://grader.example.org:8786.")
    if address.scheme == "tcp" and address.hostname not in AT_HOME:
        raise Unreadable(
            f"{scheduler}: tcp:// has neither authentication nor encryption, and anyone who reaches the scheduler can"
            " run programs on its workers. Use tls:// with certificates of your own: --tls-ca, --tls-cert, --tls-key."
        )


@contextmanager
def _client(workers: int, scheduler: str, tls: dict) -> Iterator:
    import dask
    import distributed  # noqa: F401  # its settings must be there, or what is set below takes them along when it goes

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # No pages: they would tell everybody on this machine what is graded.
    no_pages = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
    with dask.config.set({"distributed.scheduler.allowed-failures": TIMES - 1} | no_pages):
        with _client_of(scheduler, tls) if scheduler else _client_here(workers) as client:
            yield client


@contextmanager
def _client_of(scheduler: str, tls: dict) -> Iterator:
    from distributed import Client

    try:
        client = Client(scheduler, security=_security(tls) if tls else None, timeout=30)
    except (OSError, TimeoutError) as error:
        raise Unreadable(f"The scheduler at {scheduler} does not answer ({error}).") from error
    with client:
        # A scheduler of one's own was started with its own settings. (A lambda travels whole: the project need
        # not be installed beside the scheduler.)
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", TIMES - 1))
        try:
            client.wait_for_workers(1, timeout=COMING)
        except TimeoutError:
            raise Unreadable(NO_WORKER.format(scheduler)) from None
        yield client


@contextmanager
def _client_here(workers: int) -> Iterator:
    from distributed import Client, LocalCluster

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        security = _security(certificates.made_in(Path(scratch)))
        options = dict(threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", memory_limit=0)
        options |= dict(host="127.0.0.1", protocol="tls://", security=security, local_directory=scratch)
        options |= dict(silence_logs=logging.ERROR)  # not that a worker was slow to end when all is done
        with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster, security=security) as client:
            yield client


def _security(files: dict[str, str]):
    """What shows these files, and talks to nobody who shows none."""
    from distributed.security import Security

    key = dict(tls_client_key=files["key"], tls_scheduler_key=files["key"], tls_worker_key=files["key"])
    shown = dict(tls_client_cert=files["cert"], tls_scheduler_cert=files["cert"], tls_worker_cert=files["cert"])
    return Security(tls_ca_file=files["ca"], require_encryption=True, **key, **shown)


def _graded(job: Job) -> dict:
    """Grade a notebook; one that the grader itself stumbles over is reported, and takes none of the others with it."""
    try:
        return grade(job)
    except BoxFailed as error:
        reason = f"{error} That is a fault of the machine {gethostname()}, not of the notebook. {AGAIN}"
        return failed(job, reason, passing=True)
    except Exception as error:
        forget_key()
        reason = f"The grader stumbled over this notebook ({type(error).__name__}: {error}). Look at it by hand."
        return failed(job, f"{reason} {AGAIN}", passing=True)
