"""Freed memory stays with the process: counted in page faults, which do not depend on how busy the machine is."""

import platform
import subprocess
import sys

import pytest

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
