"""The API reference: what the notebooks import from `shared`, from its docstrings, read by griffe without running it."""

import ast
import logging
from dataclasses import dataclass, field
from pathlib import Path

from checker.pages.markdown import to_html
from checker.pages.templates import style, template
from checker.reading.notebook import Notebook, read
from checker.reading.website import NOTEBOOK

PACKAGE = "shared"


@dataclass(frozen=True)
class Described:
    """A function, class or module: its name, its signature ("" for a module), its text and lists as HTML.

    lists: (heading, [(name, text)]), as the docstring's "Args:" and "Raises:".
    """

    name: str
    signature: str
    text: str
    lists: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)
    members: list["Described"] = field(default_factory=list)


def interface(project: Path, sources: list[Path]) -> str:
    """All public names of the modules that notebooks import; without griffe a sentence that says what is missing."""
    try:
        import griffe
    except ModuleNotFoundError:
        return '<p class="api">The reference is made by griffe, which is not installed: <code>pip install griffe</code>.</p>'
    logging.getLogger("griffe").setLevel(logging.CRITICAL)  # which warns of every docstring that has its own style
    root = griffe.load(
        PACKAGE,
        search_paths=[str(project)],
        try_relative_path=False,  # or it takes the package of the folder where it was started
        allow_inspection=False,
        docstring_parser="google",
        docstring_options={"returns_multiple_items": False, "returns_named_value": False},
    )
    notebooks = [read(project / source) for source in sources if source.suffix == NOTEBOOK]
    named = sorted({name for notebook in notebooks for name in imported(notebook)})
    modules = {module.path: module for name in named if (module := _module(root, name))}
    described = [_described(module) for _, module in sorted(modules.items())]
    return template("api.html.j2").render(modules=described, css=style("api.css"))


def imported(notebook: Notebook) -> set[str]:
    """The names that a notebook imports from `shared`: "shared.kl.k3", "shared.check"."""
    found = set()
    for cell in notebook.code_cells:
        try:
            tree = ast.parse(cell.source)
        except SyntaxError:  # of a magic: it imports nothing of ours
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _module(root, name: str):
    """The module that a dotted name is, or is in; None where there is none."""
    found = root
    for part in name.split(".")[1:]:
        if part not in found.members:
            return None
        inner = found.members[part]
        if not inner.is_module:
            return found
        found = inner
    return found


def _described(thing) -> Described:
    """A module, class or function of griffe's, with what is public in it."""
    text = ""
    lists = []
    for section in thing.docstring.parsed if thing.docstring else []:
        kind = section.kind.value
        if kind == "text":
            text += to_html(section.value, "text")[0]
        elif kind in ("parameters", "attributes", "returns", "yields", "raises"):
            title = {"parameters": "arguments"}.get(kind, kind)
            lists.append((title, [_item(one, kind) for one in section.value]))
    return Described(
        name=thing.path if thing.is_module else thing.name,
        signature=_signature(thing),
        text=text,
        lists=lists,
        members=[_described(member) for member in _members(thing)],
    )


def _item(item, kind: str) -> tuple[str, str]:
    """An entry of a docstring's list: its name, of an error its class, and its text as HTML. Types are in the signature."""
    name = str(item.annotation) if kind == "raises" else getattr(item, "name", "")
    return name or "", to_html(item.description, "text")[0]


def _members(thing) -> list:
    """The public functions and classes of a module that say what they are, in the order of the file."""
    if not thing.is_module:
        return []
    found = []
    for name, member in thing.members.items():
        if name.startswith("_") or (member.is_alias and not thing.is_init_module):
            continue
        if member.is_alias:  # what a package hands on from its own files
            if not member.target_path.startswith(f"{thing.path}."):
                continue
            member = member.final_target
        if (member.is_function or member.is_class) and member.docstring:
            found.append(member)
    return found


def _signature(thing) -> str:
    """The signature of a function or class, with an argument a line where that is long."""
    if thing.is_module:
        return ""
    written = thing.signature() if thing.is_function else f"class {thing.name}"
    if len(written) <= 88 or not thing.is_function:
        return written
    arguments = ",\n".join(f"    {parameter}" for parameter in _parameters(thing))
    returns = f" -> {thing.returns}" if thing.returns else ""
    return f"{thing.name}(\n{arguments},\n){returns}"


def _parameters(function) -> list[str]:
    """The parameters of a function as they are written, with the star before those that need their names."""
    shown = []
    starred = False
    for parameter in function.parameters:
        kind = parameter.kind.value
        if kind == "keyword-only" and not starred:
            shown.append("*")
        starred = starred or kind in ("keyword-only", "variadic positional")
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        text = f"{stars}{parameter.name}"
        if parameter.annotation is not None:
            text += f": {parameter.annotation}"
        if parameter.default is not None and not stars:
            text += f" = {parameter.default}"
        shown.append(text)
    return shown
