"""Let the process keep the memory that tensors free, for the next ones.

By default glibc returns every large block to the system and takes new ones page by page; the pages of a training
step, a hundred thousand and more with a real model on the CPU, cost a tenth to a quarter of its time
(benchmarks/README.md).
"""

import ctypes
import platform

# From malloc.h: where freed memory is given back, how much is taken at a time, how many blocks bypass the heap.
M_TRIM_THRESHOLD = -1
M_TOP_PAD = -2
M_MMAP_MAX = -4


def keep_freed_memory() -> bool:
    """Ask the C library to keep freed memory, for this process and from now on; whether it could be asked.

    Only glibc (Linux) can; elsewhere nothing happens. Memory in use is not affected, nor is a GPU's.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all([mallopt(M_MMAP_MAX, 0), mallopt(M_TRIM_THRESHOLD, 2**31 - 1), mallopt(M_TOP_PAD, 64 << 20)])
