"""JSON records on a pipe, a line each."""

import json
import os
from collections.abc import Callable


def sender(descriptor: int) -> Callable[[dict], None]:
    """A function that writes a record to the descriptor."""

    def send(record: dict) -> None:
        line = json.dumps(record).encode() + b"\n"
        while line:
            line = line[os.write(descriptor, line) :]

    return send
