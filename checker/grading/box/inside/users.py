"""The user that a stranger's work runs as, where the box has one of its own."""

import os


def become(uid: int | None) -> None:
    """Be this user from now on, for good; the one that this process has where it is None."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
