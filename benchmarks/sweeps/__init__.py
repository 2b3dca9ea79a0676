"""Sweeps behind the chapters that compare methods over several seeds: one file a chapter, one JSON file beside it.

`measuring.py` is what several of them measure.
"""
