"""The command that gets the course."""

import yaml

from checker.site.pieces.cloning import clone


def test_the_command_is_code_that_can_be_copied(tmp_path):
    """Catches an address that ends the element, a command in capitals, and one for a course that is public nowhere."""
    settings = {"title": "Course", "sidebar": {"contents": ["index.qmd"]}}
    (tmp_path / "_quarto.yml").write_text(yaml.safe_dump({"website": settings}), encoding="utf-8")
    assert clone(tmp_path, []) == ""
    settings["repo-url"] = "https://example.org/a<b"
    (tmp_path / "_quarto.yml").write_text(yaml.safe_dump({"website": settings}), encoding="utf-8")
    lines = "git clone https://example.org/a&lt;b course\ncd course"
    assert clone(tmp_path, []) == f'<pre class="sourceCode"><code>{lines}</code></pre>\n'
