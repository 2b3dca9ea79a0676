"""The limits of one box."""

from dataclasses import asdict, dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """The limits of one box.

    wall: seconds on the clock.                 cpu: seconds of CPU of all its processes together.
    memory: bytes of all its processes together, shared pages counted once.
    folder: bytes of its private folder, which lies in memory and comes on top.
    processes: processes and threads.           result: bytes that are read back.
    printed: characters of output that are kept of a notebook.
    files: that one of its processes has open at once.
    """

    wall: float = 240.0
    cpu: float = 480.0
    memory: int = 3_000 * MEGABYTE
    folder: int = 200 * MEGABYTE
    processes: int = 256
    result: int = 30 * MEGABYTE
    printed: int = 2_000_000
    files: int = 1024

    def __post_init__(self):
        for name, value in asdict(self).items():
            if value <= 0:
                raise ValueError(f"The limit `{name}` is {value}; it must be above 0.")
