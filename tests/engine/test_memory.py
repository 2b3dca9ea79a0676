"""Freed memory stays with the process: counted in page faults, which do not depend on how busy the machine is."""

import platform
import subprocess
import sys
from types import SimpleNamespace

import pytest

from shared.engine import memory

FAULTS = """
import resource, torch
from shared.engine.memory import keep_freed_memory
torch.set_num_threads(1)

def faults():
    for _ in range(10):  # until every page that will be used has been touched
        torch.ones(9_000_000)  # 36 MB: glibc gives blocks above 32 MB back at once
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        torch.ones(9_000_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

plain = faults()
assert keep_freed_memory()
print(plain, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked")
@pytest.mark.slow
def test_a_tensor_made_again_takes_no_new_pages():
    """Catches settings that the C library takes without a word and does not follow."""
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    plain, kept = map(int, done.stdout.split())
    assert kept < plain / 2  # where the heap cannot grow in place, some pages are new all the same


@pytest.mark.parametrize("answers, kept", [((1, 1, 1), True), ((1, 1, 0), False), ((0, 1, 1), False)])
def test_the_c_library_is_asked_for_what_malloc_h_names(answers, kept, monkeypatch):
    """Catches another setting's number (malloc.h: -1 trim threshold, -2 top pad, -4 how many blocks bypass the heap).

    And a refusal, 0, that passes for a yes.
    """
    asked = []
    library = SimpleNamespace(mallopt=lambda *setting: asked.append(setting) or answers[len(asked) - 1])
    monkeypatch.setattr(memory.platform, "libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.setattr(memory.ctypes, "CDLL", {None: library}.get)
    assert memory.keep_freed_memory() is kept
    assert dict(asked) == {-4: 0, -1: 2**31 - 1, -2: 64 * 2**20}


def test_another_c_library_is_left_alone(monkeypatch):
    """Catches a call of `mallopt` on a Mac, on Windows or with musl, which have none."""
    monkeypatch.setattr(memory.platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: pytest.fail("it was asked"))
    assert memory.keep_freed_memory() is False
