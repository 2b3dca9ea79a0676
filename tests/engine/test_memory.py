"""Freed memory stays with the process: counted in page faults, which do not depend on how busy the machine is."""

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys, torch
from shared.engine.memory import keep_freed_memory
torch.set_num_threads(1)
if sys.argv[1] == "keep":
    assert keep_freed_memory()
for _ in range(30):  # until every page that will be used has been touched
    torch.ones(12_000_000)  # 48 MB: glibc gives blocks above 32 MB back at once
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    torch.ones(12_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked")
def test_a_tensor_made_again_takes_no_new_pages():
    """Catches settings that the C library takes without a word and does not follow."""
    faults = {
        way: int(subprocess.run([sys.executable, "-c", FAULTS, way], capture_output=True, text=True, check=True).stdout)
        for way in ("plain", "keep")
    }
    assert faults["keep"] < faults["plain"] / 2  # where the heap cannot grow in place, some pages are new all the same
