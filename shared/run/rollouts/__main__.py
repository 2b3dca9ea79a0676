"""`python -m shared.run.rollouts FILE`: a page of the completions that a run kept."""

from pathlib import Path
from typing import Annotated

import typer

from shared.engine.files import written_beside
from shared.rollouts import read_rollouts
from shared.run.rollouts.data import MOST
from shared.run.rollouts.page import page

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]})
def command(
    file: Annotated[Path, typer.Argument(help="What --log rollouts:FILE or rollout_log wrote.")],
    out: Annotated[Path | None, typer.Option(help="The page; default: FILE with .html behind its name.")] = None,
    most: Annotated[int, typer.Option(help="Completions that the page holds; of more a sample.", min=1)] = MOST,
) -> None:
    """Make one HTML page of a run's completions: by step, prompt and reward, to be searched; it needs no network."""
    out = out or file.with_suffix(".html")
    try:
        if out.exists() and out.samefile(file):
            raise ValueError(f"The page would take the place of {file} itself: name another with --out.")
        records = read_rollouts(file)
        out.parent.mkdir(parents=True, exist_ok=True)
        with written_beside(out) as written:
            written.write(page(records, file.name, most).encode())
    except (ValueError, OSError) as error:
        typer.secho(f"error  {error}", fg="red", err=True)
        raise typer.Exit(2) from error
    kept = f"a sample of {most:,} of {len(records):,}" if len(records) > most else f"{len(records):,}"
    typer.echo(
        f"{out}: {kept} completions of {len({record['step'] for record in records}):,} steps. Open it in a browser."
    )


if __name__ == "__main__":
    app(prog_name="python -m shared.run.rollouts")
