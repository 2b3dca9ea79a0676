"""What stands between a filled notebook and its submission: conversion, the limit, the nine cells, HTML
reports.

Nothing here executes a notebook, and nothing here imports torch.
"""
