"""The training of a notebook without the notebook: `python -m shared.run TASK`, in one process or in many.

`command.py` is the command line, `options.py` what it makes of the settings, `session.py` a run from the first
measurement to the saved model, `loggers.py` where its records go, `challenge.py` how few completions reach a reward.
"""
