"""Ctrl-C, and the signal with which a cluster's scheduler ends a job, as a wish that is granted after the step.

A process that stopped in the middle of a step would leave the others waiting, and a checkpoint of half an update.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shared.engine.processes import ProcessLost

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# A launcher passes Ctrl-C on to processes that the terminal has told already: what comes so soon is the same wish.
SAME_WISH = 2.0


@contextmanager
def stop_after_the_step(say: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Inside the block the first signal is remembered, and the function that is given says whether one came.

    A second Ctrl-C, SAME_WISH seconds or more after the first, interrupts at once. When another process is lost the
    launcher sends this one SIGTERM as well, which is left unheard from then on: it has yet to say why it ends.
    """
    asked_at: float | None = None

    def remember(number: int, frame) -> None:
        nonlocal asked_at
        now = time.monotonic()
        if asked_at is None:
            asked_at = now
            say("Training ends after this step. Ctrl-C again ends it now, without its checkpoint.")
        elif number == signal.SIGINT and now - asked_at >= SAME_WISH:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, remember) for number in SIGNALS}
    try:
        yield lambda: asked_at is not None
    except ProcessLost:
        before[signal.SIGTERM] = signal.SIG_IGN
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
