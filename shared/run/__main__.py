"""`python -m shared.run`: see `shared/run/command.py`."""

from shared.run.command import app

if __name__ == "__main__":
    app(prog_name="python -m shared.run")
