"""`checker explain`: what a finding means."""

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from checker.checking.terminal import MARKS, UNREADABLE, complain
from checker.rules import READING, RULES

KNOWN = [rule.code for rule in (READING, *RULES)]
ONLY_ASKED = (
    "The checker asks and does not assert: it was wrong too often, or seen too seldom to know, on notebooks that it had"
    " not been made with (benchmarks/method_rules). A question is no finding: it counts for nothing. Where the answer is"
    " what you want, leave the code as it is."
)


def explain_command(
    code: Annotated[
        str, typer.Argument(help=f"A finding's code: {', '.join(KNOWN)}. Without one, all are listed.")
    ] = "",
) -> None:
    """Explain a finding: its meaning, why it matters, and an example of wrong and right."""
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
    asks = ONLY_ASKED if rule.level == "question" else rule.asks
    if asks:
        console.print(f"[cyan]asks[/cyan]   {escape(asks)}\n")
    console.print(f"[red]wrong[/red]\n{escape(rule.wrong)}\n\n[green]right[/green]\n{escape(rule.right)}")
