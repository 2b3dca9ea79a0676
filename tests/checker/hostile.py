"""Hostile notebooks and zips, and the traces that the commands leave of them, for the tests of hostile files."""

import io
import json
import tempfile
import zipfile
from pathlib import Path

from rich.console import Console

from checker.checking.batch import check_all
from checker.checking.check import Report, check
from checker.checking.formats import as_json
from checker.checking.terminal import show
from checker.pages.rendering import index, render
from checker.reading.convert import to_markdown
from checker.reading.inventory import take
from checker.reading.notebook import read
from tests.checker.conftest import GOOD, code


def everything(path: Path) -> Report:
    """The report, after all that the commands make of one file was made and could be written down."""
    before = path.read_bytes()
    report = check(path)
    made = [as_json([report]), index([(report, "")])]
    show(report, Console(file=io.StringIO()))
    if report.status != "unreadable":
        with tempfile.TemporaryDirectory() as folder:
            made += [to_markdown(read(path)), render(path, Path(folder), "builtin", report=report).read_text("utf-8")]
    for text in made:
        text.encode()
    assert path.read_bytes() == before
    assert not [f for f in report.findings if "could not be applied" in f.found]
    return report


def notebook_of(*cells: dict) -> dict:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)}


def showing(**data: str) -> dict:
    """A code cell with one rich output."""
    cell = code("show()")
    cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
    return cell


def zip_of(path: Path, names: list[str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, json.dumps(GOOD))
    return path


def reports_on(*paths: Path) -> list[Report]:
    with tempfile.TemporaryDirectory() as scratch:
        return list(check_all(take(paths, Path(scratch)).entries))
