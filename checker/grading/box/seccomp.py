"""A filter of system calls for the box: what a notebook has no use for, and what would get around a limit.

Memory that belongs to no process (memfd, System V segments) is seen by nobody who watches processes; namespaces and
mounts would bring folders without a limit. The calls below fail with "not implemented", so that programs that merely
try them go on without. The filter is a program for the kernel's classic BPF machine, see seccomp(2) and bpf(4).
"""

import platform
import struct

# The number of each call, on x86-64 and on arm64 (asm/unistd_64.h, asm-generic/unistd.h).
REFUSED = {
    "ptrace": (101, 117),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "process_vm_writev": (311, 271),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "clone3": (435, 435),  # its flags lie in memory, where no filter can look; libraries fall back to clone
    "mount_setattr": (442, 442),
    "memfd_secret": (447, 447),
}
CLONE = (56, 220)
ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # AUDIT_ARCH_* of linux/audit.h
NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
ENOSYS = 38
FOREIGN = 0x40000000  # the bit of x32's calls, which would be a second table beside this one

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF_LD, BPF_JMP with JEQ, JGE, JSET, BPF_RET
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | ENOSYS, 0x80000000


def program() -> bytes | None:
    """The filter for this machine as the bytes that `bwrap --seccomp` reads; None where its calls are not known."""
    known = ARCHITECTURES.get(platform.machine())
    if known is None:
        return None
    column, architecture = known
    numbers = [calls[column] for calls in REFUSED.values()]
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, FOREIGN),
        (RETURN, 0, 0, REFUSE),
    ]
    for number in numbers:
        steps.append((EQUAL, 0, 1, number))
        steps.append((RETURN, 0, 0, REFUSE))
    steps += [
        (EQUAL, 0, 3, CLONE[column]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (ANY_BIT, 0, 1, NEW_NAMESPACES),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
