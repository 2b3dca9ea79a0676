"""`checker explain`: what a finding means."""

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from checker.terminal import MARKS, UNREADABLE, complain


def explain_command(
    code: Annotated[str, typer.Argument(help="A finding's code, for instance S002; without one, all are listed.")] = "",
) -> None:
    """What a finding means, why it matters, and an example of wrong and right."""
    from checker.rules import READING, RULES

    rules = {rule.code: rule for rule in (READING, *RULES)}
    console = Console(highlight=False)
    if not code:
        for rule in rules.values():
            console.print(f"{rule.code}  {MARKS[rule.level]}  {rule.name}")
        return
    rule = rules.get(code.upper())
    if rule is None:
        complain(f"There is no finding {code}. There are {', '.join(rules)}.")
        raise typer.Exit(UNREADABLE)
    console.print(f"[bold]{rule.code}[/bold]  {rule.name}  ({rule.level})\n\n{escape(rule.why)}\n")
    console.print(f"[red]wrong[/red]\n{escape(rule.wrong)}\n\n[green]right[/green]\n{escape(rule.right)}")
