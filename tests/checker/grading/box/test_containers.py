"""The command that starts a box with podman, word by word, and the image that it starts from."""

import io
import resource
import subprocess
import tarfile

import pytest

from checker.grading.box import containers
from checker.grading.box.containers import NoImage, command, image, made_image, remove
from checker.grading.box.limits import Limits
from checker.grading.box.walls import Box, Isolation

LIMITS = Limits(memory=5_000_000, processes=6, files=7, folder=8_000)


@pytest.fixture
def around(monkeypatch):
    """A small system around the box: one variable, one file that is shown, one folder that is covered."""
    monkeypatch.setattr(containers, "environment", lambda course, home: {"COURSE": course, "HOME": home})
    monkeypatch.setattr(containers, "visible", lambda box: [(f"/outside/{box.name}", "/inside")])
    monkeypatch.setattr(containers, "covered", lambda: ["/packages/shared"])
    monkeypatch.setattr(containers, "made_image", lambda program: f"the image of {program}")
    monkeypatch.setattr(resource, "getrlimit", lambda what: {resource.RLIMIT_NPROC: (1, 99)}[what])


@pytest.mark.usefixtures("around")
def test_every_word_of_the_command_is_there():
    """Catches a wall that is left out."""
    box = Box(Isolation(containers.KIND, "/usr/bin/podman"), (), LIMITS, "its-name")
    assert command(box, ["the", "job"]) == [
        "/usr/bin/podman", "run", "--rm", "--interactive", "--name", "its-name", "--hostname", "box",
        "--pull", "never", "--network", "none", "--log-driver", "none", "--stop-timeout", "0",
        "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "65534:65534",
        "--memory", "5000000", "--memory-swap", "5000000", "--pids-limit", "6", "--shm-size", "64000000",
        "--ulimit", "nofile=7:7", "--ulimit", "nproc=99:99",
        "--tmpfs", "/tmp:rw,exec,mode=1777,size=8000,notmpcopyup", "--workdir", "/tmp",
        "--read-only-tmpfs=false", "--http-proxy=false",
        "--env", "COURSE=/course", "--env", "HOME=/tmp", "--volume", "/outside/its-name:/inside:ro",
        "--tmpfs", "/packages/shared:ro,size=4096,notmpcopyup", "the image of /usr/bin/podman", "the", "job",
    ]  # fmt: skip


class Program:
    """Stands for running podman: each call's outcome in turn."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.calls = []

    def __call__(self, arguments, **options):
        self.calls.append((arguments, options))
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return subprocess.CompletedProcess(arguments, outcome)


@pytest.fixture
def program(monkeypatch):
    def ends(*outcomes):
        made_image.cache_clear()
        monkeypatch.setattr(containers.subprocess, "run", made := Program(*outcomes))
        return made

    monkeypatch.setattr(containers, "image", lambda: b"the image")
    yield ends
    made_image.cache_clear()


NAME = "localhost/checker-box:97e9d7a16021"


def test_an_image_is_made_where_it_is_not_there(program):
    """Catches an image of another content under the same name, a registry that is asked, and a program that hangs."""
    asks = {"capture_output": True, "check": False, "timeout": 300}
    here = program(0)
    assert made_image("podman") == made_image("podman") == NAME
    assert here.calls == [(["podman", "image", "inspect", NAME], asks)]
    absent = program(1, 0)
    assert made_image("podman") == NAME
    makes = {"input": b"the image", "capture_output": True, "check": True, "timeout": 300}
    assert absent.calls[1:] == [(["podman", "import", "-", NAME], makes)]


def test_why_there_is_no_image_is_said(program):
    for error, words in (
        (subprocess.CalledProcessError(1, "podman", stderr=b" no daemon \xff\n"), "no daemon \ufffd"),
        (subprocess.CalledProcessError(1, "podman", stderr=b"\n"), "it said nothing"),
        (subprocess.TimeoutExpired("podman", 300), "it did not answer within 300 s"),
    ):
        program(1, error)
        with pytest.raises(NoImage) as raised:
            made_image("podman")
        assert str(raised.value) == words


def test_what_is_left_of_a_box_is_removed_by_its_name(program):
    removing = program(1)
    remove(Box(Isolation("podman", "/usr/bin/podman"), (), LIMITS, "its-name"))
    options = {"capture_output": True, "check": False, "timeout": 300}
    assert removing.calls == [(["/usr/bin/podman", "rm", "--force", "its-name"], options)]


def test_the_image_has_places_for_what_is_shown_and_the_systems_links(monkeypatch, tmp_path):
    """Catches a file of the grader's machine in every box, and a link that leads elsewhere."""
    link = tmp_path / "lib"
    link.symlink_to("usr/lib")
    monkeypatch.setattr(containers, "SYSTEM", (str(link), str(tmp_path)))
    with tarfile.open(fileobj=io.BytesIO(image())) as archive:
        members = archive.getmembers()
    folders = [member for member in members if member.isdir()]
    assert [member.name for member in folders] == "course dev etc proc run sys tmp usr var".split()
    assert {member.mode for member in folders} == {0o755}
    (only,) = [member for member in members if not member.isdir()]
    assert only.issym() and (f"/{only.name}", only.linkname) == (str(link), "usr/lib")


def test_podmans_processes_are_no_more_than_this_process_may_have(monkeypatch):
    for own, asked in ((resource.RLIM_INFINITY, 30_000), (4_096, 4_096), (2**20, 30_000)):
        monkeypatch.setattr(resource, "getrlimit", lambda what, own=own: (1, own))
        assert containers._processes() == asked
