"""The way from a filled notebook to its grade. Its rooms, each of which imports from those before it alone:

reading -> setup -> outputs -> rules -> checking -> points -> pages -> running -> editions -> site -> grading -> commands

Only `running/` and `grading/` execute a notebook, and nothing here needs torch but the programs that grading starts.
"""

import sys

__version__ = "0.3.0"  # of the course; pyproject.toml reads it here, blank editions carry it

# Here and not further on, because every other file is written in a Python that an older one cannot read.
if sys.version_info < (3, 11):
    sys.exit(
        "This course needs Python 3.11 or newer, and this is Python %d.%d. Install a newer one from"
        " https://www.python.org/downloads and call it by its name: `python3.12 -m checker setup`, on Windows"
        " `py -3.12 -m checker setup`, with make `make PYTHON=python3.12 setup`." % sys.version_info[:2]
    )
