"""Workers on other machines and the cost of kill -9, with dask's own scheduler and workers as processes: slow.

What grades is a stand-in that returns at once or waits; boxes are tried elsewhere.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from checker.grading.box.walls import Isolation
from checker.grading.classes import Class
from checker.grading.judge import scheduling
from checker.grading.judge.one_notebook import Settings, failed
from checker.grading.judge.scheduling import KILLED, on_workers
from checker.grading.results import graded
from checker.grading.table.class_folder import Folder
from checker.grading.work import collected
from checker.reading.notebook import Unreadable
from tests.checker.grading.test_classes import submissions as submissions
from tests.checker.grading.test_classes import worked as worked

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[4]
STUDENTS = [f"student{number}" for number in range(6)]


def at_once(job):
    """Stands for grading."""
    return failed(job, f"graded {job.student}")


def slowly(job):
    """Stands for grading that takes a while, so that there is something to kill it in."""
    time.sleep(0.7)
    return failed(job, f"graded {job.student} in {os.getpid()}")


def kills_its_worker(job):
    """Stands for grading: one student's notebook ends the worker."""
    if job.student == STUDENTS[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return at_once(job)


@pytest.fixture
def jobs(worked, submissions, tmp_path):
    """The submissions of six students."""
    for student in STUDENTS:
        handed_in = submissions(student)
    this_class = Class([worked], Settings(7, Isolation("none")))
    return collected([handed_in], this_class)


@pytest.fixture
def certificates(tmp_path):
    """A certificate made on the spot: authority, certificate and key of everyone."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl is installed")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem"
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    shutil.copy(tmp_path / "cert.pem", tmp_path / "ca.pem")
    return {name: str(tmp_path / f"{name}.pem") for name in ("ca", "cert", "key")}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def process(*arguments, root=ROOT, path=os.environ["PATH"]):
    """A program of dask that finds the project; ended with its children in the end."""
    environment = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "PATH": path}
    program = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield program
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()


@pytest.fixture
def elsewhere(tmp_path):
    """The course on another machine, of another version: with these texts at the ends of files; None deletes one."""

    def make(**changed):
        root = tmp_path / "elsewhere"
        for name in ("checker", "shared"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("models", "benchmarks", "tests"):
            (root / name).symlink_to(ROOT / name)
        for name, text in changed.items():
            place = root / name.replace("__", "/")
            place = place.with_suffix(".py")
            place.unlink() if text is None else place.write_text(place.read_text() + text)
        return root

    return make


def scheduler(address, *options):
    host = address.split("://")[1]
    name, port = host.rsplit(":", 1)
    where = ["--host", name, "--port", port, "--protocol", address.split("://")[0], "--no-dashboard"]
    return process("distributed.cli.dask_scheduler", *where, *options)


def worker(address, tmp_path, *options, root=ROOT, path=os.environ["PATH"]):
    place = ["--local-directory", str(tmp_path / f"dask{free_port()}"), "--no-dashboard"]
    program = "distributed.cli.dask_worker"
    return process(program, address, "--nthreads", "1", "--no-nanny", *place, *options, root=root, path=path)


def of_tls(files):
    return ["--tls-ca-file", files["ca"], "--tls-cert", files["cert"], "--tls-key", files["key"]]


@pytest.fixture
def address():
    return f"tcp://127.0.0.1:{free_port()}"


def test_a_scheduler_with_certificates_grades(jobs, certificates, tmp_path, monkeypatch):
    """Catches tls:// that was promised and never tried: its options, and a client that cannot shake hands."""
    address = f"tls://127.0.0.1:{free_port()}"
    monkeypatch.setattr(scheduling, "_graded", at_once)
    work = [job for _, job in jobs.jobs]
    with scheduler(address, *of_tls(certificates)), worker(address, tmp_path, *of_tls(certificates)):
        said = {job.student: result["stopped"] for job, result in on_workers(work, address, tmp_path)}
    assert said == {student: f"graded {student}" for student in STUDENTS}


def test_without_a_certificate_nobody_is_let_in(jobs, certificates, tmp_path):
    """Catches a scheduler that takes whoever comes, and a traceback instead of a sentence."""
    address = f"tls://127.0.0.1:{free_port()}"
    work = [job for _, job in jobs.jobs]
    with scheduler(address, *of_tls(certificates)):
        with pytest.raises(Unreadable, match="--certificates"):
            list(on_workers(work, address))


OTHERS = {
    "a mended reference": {"shared__kl": "# mended\n"},
    "a version that knows no such question": {
        "checker__grading__judge__workers": None,
        "checker__grading__judge__scheduling": None,
    },
}


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_a_worker_of_another_version_is_refused_by_name(other, elsewhere, jobs, address, tmp_path, monkeypatch):
    """Catches points given by last month's references on one of three machines; nobody sees which those are."""
    marks = tmp_path / "ran"
    monkeypatch.setattr(scheduling, "_graded", partial(leaves_a_mark, marks))
    work = [job for _, job in jobs.jobs]
    root = elsewhere(**OTHERS[other])
    name = f"tcp://127.0.0.1:{free_port()}"
    told = f"The worker {name} has another version of the course"
    with scheduler(address), worker(address, tmp_path, "--worker-port", name.rsplit(":", 1)[1], root=root):
        with pytest.raises(Unreadable, match=told):
            list(on_workers(work, address))
    assert not marks.exists()


@pytest.mark.parametrize("asked", [True, False])
def test_a_worker_without_a_box_runs_nothing(asked, jobs, address, tmp_path, monkeypatch):
    """Catches strangers' programs on a machine whose walls nobody tried, and six zeros for six students."""
    marks = tmp_path / "ran"
    monkeypatch.setattr(scheduling, "_graded", partial(leaves_a_mark, marks))
    if not asked:
        monkeypatch.setattr(scheduling, "refuse_unfit", lambda *arguments: None)
    boxed = Isolation("bwrap", "/usr/bin/bwrap")
    work = [replace(job, settings=replace(job.settings, isolation=boxed)) for _, job in jobs.jobs]
    with scheduler(address), worker(address, tmp_path, path=str(tmp_path)):
        if asked:
            with pytest.raises(Unreadable, match="worker tcp://.* was given nothing to run: bwrap is not installed"):
                list(on_workers(work, address))
        else:
            results = [result for _, result in on_workers(work, address)]
            assert all("has no box for it: bwrap is not installed" in result["ungraded"] for result in results)
            assert all(result["transient"] for result in results)
    assert not marks.exists()


def leaves_a_mark(marks, job):
    """Stands for grading: what ran can be seen."""
    marks.touch()
    return at_once(job)


def test_a_worker_killed_from_outside_loses_nothing(jobs, address, tmp_path, monkeypatch):
    """Catches a class that ends, or a submission that is blamed, when somebody reboots one machine."""
    monkeypatch.setattr(scheduling, "_graded", slowly)
    work = [job for _, job in jobs.jobs]
    said = {}
    with scheduler(address), worker(address, tmp_path) as first, worker(address, tmp_path):
        for job, result in on_workers(work, address):
            if not said:
                os.kill(first.pid, signal.SIGKILL)
            said[job.student] = result["stopped"]
    assert sorted(said) == STUDENTS
    assert all(text.startswith("graded") for text in said.values())


def test_a_notebook_that_kills_its_worker_twice_is_not_tried_a_third_time(jobs, address, tmp_path, monkeypatch):
    """Catches the setting of a scheduler that was started by hand: by it one notebook ends four machines' workers."""
    monkeypatch.setattr(scheduling, "_graded", kills_its_worker)
    work = [job for _, job in jobs.jobs]
    with scheduler(address), worker(address, tmp_path), worker(address, tmp_path), worker(address, tmp_path):
        said = {job.student: result["stopped"] for job, result in on_workers(work, address)}
    assert said == {student: f"graded {student}" for student in STUDENTS} | {STUDENTS[0]: KILLED}


@pytest.mark.parametrize("later", [0, 0.3], ids=["between two looks", "in the middle of one"])
def test_a_scheduler_killed_loses_no_finished_result(later, jobs, address, tmp_path, monkeypatch):
    """Catches hours lost, or a grader that waits for ever, when the scheduler dies: the second call does the rest."""
    monkeypatch.setattr(scheduling, "_graded", slowly)
    folder = Folder(tmp_path / "graded")
    folder.prepare()
    first = []
    with scheduler(address) as program, worker(address, tmp_path):
        with pytest.raises(Unreadable, match="is kept"):
            for one in graded(jobs, folder, lambda work: on_workers(work, address)):
                first.append(one.submission.student)
                if len(first) == 2:
                    threading.Timer(later, os.kill, (program.pid, signal.SIGKILL)).start()
                    time.sleep(0 if later else 0.2)
    monkeypatch.setattr(scheduling, "_graded", at_once)
    again = {one.submission.student: one.kept for one in graded(jobs, folder, scheduling.in_this_process)}
    assert sorted(student for student, was_there in again.items() if was_there) == sorted(first)
    assert sorted(again) == STUDENTS


GRADER = """
import sys
from pathlib import Path
from checker.grading.judge import scheduling
from checker.grading.box.walls import Isolation
from checker.grading.classes import Class
from checker.grading.work import collected
from checker.grading.results import graded
from checker.grading.box.limits import Limits
from checker.grading.judge.one_notebook import Settings
from checker.grading.judge.worked_notebooks import read_worked_notebook
from checker.grading.table.class_folder import Folder
from tests.checker.grading.judge.test_many_machines import slowly

def grader(jobs):
    return scheduling.in_threads(jobs, threads) if threads else scheduling.in_this_process(jobs)


if __name__ == "__main__":
    worked, handed_in, output = map(Path, sys.argv[1:4])
    threads = int(sys.argv[4])
    scheduling._graded = slowly
    work = collected([handed_in], Class([read_worked_notebook(worked)], Settings(7, Isolation("none"))))
    folder = Folder(output)
    folder.prepare()
    for one in graded(work, folder, grader):
        print(one.submission.student, flush=True)
"""


def killed_after_two(tmp_path, threads):
    """A grader in a process of its own, killed when two of the six are graded: the two."""
    scratch = tmp_path / "scratch of the killed"
    scratch.mkdir()
    program = tmp_path / "grader.py"
    program.write_text(GRADER)
    places = [tmp_path / "notebooks" / "maths.ipynb", tmp_path / "submissions", tmp_path / "graded"]
    command = [sys.executable, str(program), *map(str, places), str(threads)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)}
    grader = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    first = [grader.stdout.readline().strip() for _ in range(2)]
    grader.kill()
    grader.communicate()
    return first


@pytest.mark.parametrize("threads", [0, 2])
def test_a_grader_killed_loses_no_finished_result(threads, jobs, tmp_path, monkeypatch):
    """Catches results that are written down at the end only, or half written when the machine loses its power."""
    first = killed_after_two(tmp_path, threads)
    again = []
    monkeypatch.setattr(scheduling, "_graded", lambda job: again.append(job.student) or at_once(job))
    done = graded(jobs, Folder(tmp_path / "graded"), scheduling.in_this_process)
    kept = [one.submission.student for one in done if one.kept]
    assert set(first) <= set(kept)
    assert sorted(kept + again) == STUDENTS and again
