"""The style sheets of Quarto's site without the rules that no page of it can use.

Quarto gives every page two whole Bootstraps, one for light and one for dark, and an icon font's two thousand names: more
than a megabyte, of which the course uses a quarter. A rule goes when it asks for a class or an id that stands on no page
and in no script. A script may put a name together, "bi-" and "search": that counts as used where it holds both parts.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

LIBRARIES = Path("site_libs")  # where Quarto puts styles and scripts, below the site
ATTRIBUTE = re.compile(r"""\b(?:class|id)=(?:"([^"]*)"|'([^']*)')""")
SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL)
WORD = re.compile(r"[A-Za-z_][\w-]*")
HOLDING = ("media", "supports", "layer", "container")  # at-rules that hold rules of this kind


def prune(folder: Path) -> None:
    """Prune the style sheets of a site that Quarto wrote into a folder."""
    sheets = sorted((folder / LIBRARIES).rglob("*.css"))
    if not sheets:
        return
    used = _names(folder)
    for sheet in sheets:
        sheet.write_text(pruned(sheet.read_text(encoding="utf-8"), used), encoding="utf-8")


def pruned(sheet: str, used: set[str]) -> str:
    """A style sheet without the rules whose classes and ids are not among the used names."""
    import tinycss2

    begun = [name for name in used if name.endswith(("-", "_"))]
    rules = tinycss2.parse_stylesheet(sheet, skip_whitespace=True)
    return tinycss2.serialize(list(_kept(rules, partial(_is_used, used=used, begun=begun))))


def _names(folder: Path) -> set[str]:
    """Every class and id of the pages, every word of the scripts."""
    names: set[str] = set()
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for values in ATTRIBUTE.findall(text):
            names.update("".join(values).split())
        for script in SCRIPT.findall(text):
            names.update(WORD.findall(script))
    for script in (folder / LIBRARIES).rglob("*.js"):
        names.update(WORD.findall(script.read_text(encoding="utf-8")))
    return names


def _is_used(name: str, used: set[str], begun: list[str]) -> bool:
    return name in used or any(name.startswith(first) and name[len(first) :] in used for first in begun)


def _kept(rules: Iterable, is_used: Callable[[str], bool]) -> Iterator:
    """The rules that can apply to something, in the order of the sheet."""
    import tinycss2

    for rule in rules:
        if rule.type == "qualified-rule":
            if any(all(map(is_used, names)) for names in _asked(rule.prelude)):
                yield rule
        elif rule.type == "at-rule" and rule.lower_at_keyword in HOLDING and rule.content is not None:
            rule.content = list(_kept(tinycss2.parse_rule_list(rule.content, skip_whitespace=True), is_used))
            if rule.content:
                yield rule
        else:
            yield rule


def _asked(prelude: list) -> list[list[str]]:
    """The classes and ids that each selector of a rule asks for; what stands in brackets, as in `:not(.a)`, is none."""
    asked: list[list[str]] = [[]]
    after_a_dot = False
    for token in prelude:
        if token == ",":
            asked.append([])
        elif token.type == "hash" or after_a_dot and token.type == "ident":
            asked[-1].append(token.value)
        after_a_dot = token == "."
    return asked
