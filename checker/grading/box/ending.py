"""The end of a box as it is seen from outside. What runs inside can neither forge nor hide it."""

import subprocess
from pathlib import Path

from checker.grading.box import containers
from checker.grading.box.cgroups import events
from checker.grading.box.launch import Running

OF_THE_SYSTEM = Path("/proc/vmstat")
ENDING = 5.0  # seconds for a process whose output has ended to be gone
OUT_OF_MEMORY = "the machine's memory was full"
KILLED = "it was killed from outside"


class Witness:
    """Watches what the machine does to one box, from its start on."""

    def __init__(self, running: Running):
        self.running = running
        self.before = self._killed_for_memory()

    def seen(self) -> str:
        """The reason why the machine ended the box, as the end of a sentence; "" where it did not."""
        if self._killed_for_memory() > self.before:
            return OUT_OF_MEMORY
        return KILLED if self._killed_from_outside() else ""

    def _killed_for_memory(self) -> int:
        """The processes killed for want of memory: in the box where they are counted, else in the system.

        Of a container nothing is known: its own limit counts in the system's number, and a submission can reach that.
        """
        isolation = self.running.box.isolation
        if isolation.kind == containers.KIND:
            return 0
        if self.running.cgroup is not None and "memory" in isolation.controllers:
            return self.running.cgroup.killed_for_memory()
        return events(OF_THE_SYSTEM).get("oom_kill", 0)

    def _killed_from_outside(self) -> bool:
        """True if a signal ended the box's first process. Where there are walls, nothing inside can send it one."""
        if self.running.box.isolation.kind == "none":
            return False
        try:
            return self.running.process.wait(ENDING) < 0
        except subprocess.TimeoutExpired:
            return False
