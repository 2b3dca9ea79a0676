"""The command that gets the course, where its address is set."""

from pathlib import Path

from markupsafe import Markup

from checker.reading.website import website


def clone(project: Path, sources: list[Path]) -> str:
    """The command; "" for a course that is public nowhere."""
    repository = website(project).repository
    command = Markup('<pre class="sourceCode"><code>git clone {} course\ncd course</code></pre>\n')
    return str(command.format(repository)) if repository else ""
