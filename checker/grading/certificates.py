"""Certificates for the workers of one run, so that nobody else who is logged in to this machine can send them programs.

A port on 127.0.0.1 is open to every user of the machine, and whoever may talk to a dask scheduler runs programs as the
grader. A certificate that signs itself, whose key lies in a folder of the grader's alone, is what all of them show.
"""

import shutil
import subprocess
from pathlib import Path

from checker.notebook import Unreadable

MAKE = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 7 -subj /CN=localhost"
FILES = {"ca": "cert.pem", "cert": "cert.pem", "key": "key.pem"}


def made_in(folder: Path) -> dict[str, str]:
    """The files of a new certificate: authority, certificate and key.

    Raises:
        Unreadable: there is no openssl, or it refuses.
    """
    program = shutil.which("openssl")
    if program is None:
        raise Unreadable(
            "To keep other users of this machine from its workers, grading on several of them needs openssl (apt install"
            " openssl). With --workers 1 it needs none."
        )
    command = [program, *MAKE.split(), "-keyout", FILES["key"], "-out", FILES["cert"]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        raise Unreadable(f"openssl made no certificate for the workers: {said}. With --workers 1 none is needed.")
    return {name: str(folder / file) for name, file in FILES.items()}
