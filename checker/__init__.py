"""What stands between a filled notebook and its submission: conversion, the limit, the nine cells, HTML
reports.

Nothing here executes a notebook, and nothing here imports torch.
"""

import sys

__version__ = "0.2.0.dev0"  # of the course; pyproject.toml reads it here, blank editions carry it

# Here and not further on, because every other file is written in a Python that an older one cannot read.
if sys.version_info < (3, 11):
    sys.exit(
        "This course needs Python 3.11 or newer, and this is Python %d.%d. Install a newer one from"
        " https://www.python.org/downloads and call it by its name: `python3.12 -m checker setup`, on Windows"
        " `py -3.12 -m checker setup`, with make `make PYTHON=python3.12 setup`." % sys.version_info[:2]
    )
