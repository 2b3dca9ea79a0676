"""The findings that are left out: by the command line, or by a course in its pyproject.toml."""

import tomllib
from pathlib import Path

import typer

from checker.checking.terminal import UNREADABLE, complain

PROJECT = "pyproject.toml"


def silenced(codes: list[str]) -> list[str]:
    """These codes and those of the pyproject.toml, in capitals. One that does not exist is said."""
    from checker.rules import RULES

    known = {rule.code for rule in RULES}
    codes = [*codes, *configured_ignores()]
    for code in codes:
        if code.upper() not in known:
            complain(f"There is no finding {code} to ignore. There are {', '.join(sorted(known))}.")
            raise typer.Exit(UNREADABLE)
    return [code.upper() for code in codes]


def configured_ignores() -> list[str]:
    """The codes that `[tool.checker] ignore = [...]` silences, in the nearest pyproject.toml from here upwards."""
    candidates = (folder / PROJECT for folder in (Path.cwd(), *Path.cwd().parents))
    path = next((candidate for candidate in candidates if candidate.is_file()), None)
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8")) if path else {}
        codes = settings.get("tool", {}).get("checker", {}).get("ignore", [])
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            raise ValueError('`ignore` under [tool.checker] is not a list of codes, such as ["H002", "P009"]')
    except (OSError, ValueError, AttributeError) as error:
        problem = "[tool.checker] is not a table" if isinstance(error, AttributeError) else error
        complain(f"{path}: {problem}. Mend it, or run the checker elsewhere.")
        raise typer.Exit(UNREADABLE) from None
    return codes
