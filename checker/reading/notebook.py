"""Read a notebook file into one small record, or say in a sentence why it cannot be read.

Only the standard library is needed. A notebook is of format 4, which Jupyter has saved since 2015. Whatever the JSON
holds, the record's fields have the types they claim.
"""

import json
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

RENAMED = ".ipynb.txt"  # what browsers make of a notebook's name
MAX_FILE_BYTES = 200_000_000
MAX_TEXT = 200_000  # characters of one output that rules look at
OUTPUT_TYPES = ("stream", "display_data", "execute_result", "error")
CHECK_RECORD = "application/vnd.tiny-grpo.check+json"  # what a check writes beside the line that it prints
LANGUAGE_KEYS = {
    "language",
    "languageId",
    "kernel",
    "kernelName",
}  # of a cell: SoS, VS Code, Polyglot, Azure, Snowflake
SKIPPED = "skip-execution"  # the tag of a cell that nbclient does not run
OTHER_KERNELS = {"ir": "R", "xr": "R", "julia": "Julia"}  # by the beginning of a kernel's name
RICH = ("image/", "text/html", "application/", "video/", "audio/")


class Unreadable(Exception):
    """The file is not a notebook; the message says what it is and what to do."""


@dataclass(frozen=True)
class Output:
    """One output of a code cell.

    kind: "stream", "result" or "error".    text: what it shows as text, "" for none.
    data: a result's content by MIME type.    error: an error's type and message, "" where they were not saved.
    """

    kind: str
    text: str = ""
    data: dict[str, str] = field(default_factory=dict)
    error: str = ""

    @property
    def mime(self) -> str:
        """The richest type, "" for streams and errors."""
        rich = [mime for mime in self.data if mime.startswith(RICH)]
        return rich[0] if rich else next(iter(self.data), "")

    @property
    def image(self) -> bool:
        return any(mime.startswith("image/") for mime in self.data)

    @property
    def size(self) -> int:
        return max(len(self.text), sum(map(len, self.data.values())))


@dataclass(frozen=True)
class Cell:
    """One cell.

    number: its place in the file, from 0.      count: a code cell's execution count, None when never run.
    flaw: what makes it no cell of format 4, "" for nothing; the other fields are then the nearest that makes
        sense.
    attachments: the pictures attached to it by name, as `data:` addresses.
    in_python: False where its metadata name another language.
    skipped: its metadata say that it is not to be run.
    """

    number: int
    kind: str
    source: str
    count: int | None = None
    outputs: tuple[Output, ...] = field(default=())
    flaw: str = ""
    attachments: dict[str, str] = field(default_factory=dict, compare=False)
    in_python: bool = True
    skipped: bool = False

    @property
    def is_code(self) -> bool:
        return self.kind == "code"

    @property
    def text_output(self) -> str:
        """The text that the cell prints, at most the first MAX_TEXT characters of each output; what is
        displayed ends its line.
        """
        return "".join(map(printed, self.outputs))


def printed(output: Output) -> str:
    """The beginning of an output's text; what is displayed ends its line."""
    text = output.text[:MAX_TEXT]
    return text if output.kind == "stream" or not text or text.endswith("\n") else text + "\n"


@dataclass(frozen=True)
class Notebook:
    """A notebook file: its path and cells."""

    path: Path
    cells: tuple[Cell, ...]

    @property
    def code_cells(self) -> Iterator[Cell]:
        return (cell for cell in self.cells if cell.is_code)


def read(path: Path) -> Notebook:
    """The notebook in a file.

    Raises:
        Unreadable: it is missing, too large, not UTF-8, not JSON, or not a notebook.
    """
    return notebook_of(parse(path), path)


def notebook_of(content: dict, path: Path = Path()) -> Notebook:
    """The record of a notebook whose JSON, in format 4, is there already."""
    return Notebook(path, tuple(_cells(content)))


def parse(path: Path) -> dict:
    """The notebook's JSON in format 4. Raises Unreadable like `read`."""
    if path.suffix.lower() == ".py":
        raise Unreadable("This is a Python program and no notebook. Give the .ipynb file that Jupyter saves.")
    return _in_python(_with_cells(_in_format_4(_decoded(read_bytes(path)))))


def read_bytes(path: Path) -> bytes:
    """The bytes of a regular file of bearable size.

    Raises Unreadable for anything else, a pipe without waiting for it.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise Unreadable("This is a folder. Give the notebook in it.")
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("This is a device or a pipe, not a file. Give the notebook itself.")
        if status.st_size > MAX_FILE_BYTES:
            raise Unreadable(
                f"The file is larger than {MAX_FILE_BYTES // 1_000_000} MB. Clear the outputs (Kernel,"
                " Restart & Clear Output), run again with less printed, and save."
            )
        return path.read_bytes()
    except FileNotFoundError as error:
        raise Unreadable("There is no such file.") from error
    except OSError as error:
        raise Unreadable(f"The file cannot be opened: {error.strerror or error}.") from error


def _decoded(data: bytes) -> dict:
    if not data.strip():
        raise Unreadable("The file is empty. Save the notebook in Jupyter and hand in that file.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"The file is not UTF-8 text (byte {error.start}): it is not a notebook, or an editor saved it in"
            " another encoding. Save it again in Jupyter."
        ) from error
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype", "<html")):
        raise Unreadable("This is a web page and no notebook. Download or give the .ipynb file itself.")
    try:
        return json.loads(text)
    except RecursionError as error:
        raise Unreadable("The JSON is nested too deeply to be a notebook.") from error
    except ValueError as error:
        line = getattr(error, "lineno", None)
        # Looked for only now: a text in a valid notebook may hold such a line.
        for number, content in enumerate(text.splitlines(), 1):
            if content.startswith(("<<<<<<< ", ">>>>>>> ")):
                raise Unreadable(
                    f"Line {number} is a merge-conflict marker ({content[:20]}...): two versions were merged"
                    " and not sorted out. Choose one version and save the notebook again."
                ) from error
        where = f" (line {line})" if line else ""
        raise Unreadable(f"The file is not valid JSON{where}: {error}. Save the notebook again in Jupyter.") from error


def _in_format_4(content: object) -> dict:
    """The same, once it is known that it is a notebook of format 4."""
    if not isinstance(content, dict) or not content.keys() & {"nbformat", "cells", "worksheets"}:
        raise Unreadable("The file is JSON, but not a notebook. Hand in the .ipynb file that Jupyter saves.")
    major = content.get("nbformat")
    if major == 4 and isinstance(content.get("cells"), list):
        return content
    found = f"says it has format {major!r}" if "nbformat" in content else "does not say which notebook format it has"
    lacks = "" if isinstance(content.get("cells"), list) else " and has no list of cells"
    raise Unreadable(f"The file {found}{lacks}; expected a notebook of format 4. Open it in Jupyter and save it again.")


def _with_cells(content: dict) -> dict:
    """The same, once it is known that its cells are cells."""
    for number, cell in enumerate(content["cells"]):
        if not isinstance(cell, dict):
            raise Unreadable(
                f"What stands at place {number + 1} of the file is not a cell but {type(cell).__name__}. Save the notebook"
                " again in Jupyter."
            )
    return content


def _in_python(content: dict) -> dict:
    """The same, once it is known that its code is Python, or that the file does not say."""
    kernel = _part(content, "kernelspec")
    # A kernel may be called anything; what begins so is R's or Julia's own, and some files say no more.
    by_kernel = OTHER_KERNELS.get(str(kernel.get("name")).partition("-")[0])
    for language in (kernel.get("language"), _part(content, "language_info").get("name"), by_kernel):
        if isinstance(language, str) and language and "python" not in language.lower():
            raise Unreadable(
                f"The notebook says that it is written in {language:.30}, and this course's are in Python. Choose a Python"
                " kernel in Jupyter (Kernel, Change Kernel) and save, or hand in the notebook in Python."
            )
    return content


def _part(content: dict, name: str) -> dict:
    """A part of the notebook's metadata; {} where it is not there or is no dict."""
    metadata = content.get("metadata")
    part = metadata.get(name) if isinstance(metadata, dict) else None
    return part if isinstance(part, dict) else {}


def _cells(content: dict) -> Iterator[Cell]:
    for number, cell in enumerate(content["cells"]):
        kind = cell.get("cell_type")
        count = cell.get("execution_count")
        outputs = cell.get("outputs")
        metadata = cell.get("metadata") if isinstance(cell.get("metadata"), dict) else {}
        tags = metadata.get("tags")
        yield Cell(
            number,
            kind if kind in ("code", "markdown") else "raw",
            joined(cell.get("source")),
            count if isinstance(count, int) and not isinstance(count, bool) else None,
            tuple(map(_output, outputs)) if kind == "code" and isinstance(outputs, list) else (),
            _flaw(kind, cell.get("source"), outputs),
            _attachments(cell.get("attachments")),
            all(map(_is_python, _languages(metadata))),
            isinstance(tags, list) and SKIPPED in tags,
        )


def _languages(metadata: dict) -> Iterator[str]:
    """The names of languages and kernels in a cell's metadata, and in the parts of it that are an editor's own."""
    for part in (metadata, *metadata.values()):
        for key in LANGUAGE_KEYS & part.keys() if isinstance(part, dict) else ():
            if isinstance(part[key], str) and part[key]:
                yield part[key].lower()


def _is_python(language: str) -> bool:
    """True for a name such as python, Python3, ipython or pyodide, and for SoS, whose cells are Python."""
    return "py" in language or language == "sos"


def _attachments(attached: object) -> dict[str, str]:
    """Pictures by name as `data:` addresses; what is not a picture in base64 is left out."""
    found = {}
    for name, forms in attached.items() if isinstance(attached, dict) else ():
        for mime, encoded in forms.items() if isinstance(forms, dict) else ():
            if re.fullmatch(r"image/[a-z+]{1,10}", mime) and re.fullmatch(r"[A-Za-z0-9+/=\s]+", joined(encoded)):
                found[name] = f"data:{mime};base64," + re.sub(r"\s", "", joined(encoded))
    return found


def _flaw(kind: object, source: object, outputs: object) -> str:
    """The fault for which Jupyter cannot show a cell; "" for none. The schema asks for more, but people lose
    nothing by that.
    """
    if kind not in ("code", "markdown", "raw"):
        return f"its cell_type is {kind!r:.40}"
    if not isinstance(source, str) and not (isinstance(source, list) and all(isinstance(line, str) for line in source)):
        return "its source is not text"
    if kind == "code" and not isinstance(outputs, list):
        return "it has no list of outputs"
    if kind == "code" and not all(isinstance(o, dict) and o.get("output_type") in OUTPUT_TYPES for o in outputs):
        return "one of its outputs is of no known type"
    return ""


def joined(text: object) -> str:
    """Text that is stored as a string or a list of strings; newlines normalised, surrogates replaced."""
    if isinstance(text, list):
        text = "".join(part for part in text if isinstance(part, str))
    if not isinstance(text, str):
        return ""
    text = text.replace("\r\n", "\n")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _output(output: object) -> Output:
    if not isinstance(output, dict):
        return Output("result")
    kind = output.get("output_type")
    if kind == "stream":
        return Output("stream", joined(output.get("text")))
    if kind == "error":
        traceback = output.get("traceback")
        lines = [line for line in traceback if isinstance(line, str)] if isinstance(traceback, list) else []
        named = ": ".join(part for part in (joined(output.get("ename")), joined(output.get("evalue"))) if part)
        return Output("error", joined("\n".join(lines)) or named or ": ", error=named)
    shown = output.get("data")
    if not isinstance(shown, dict):
        return Output("result")
    data = {joined(mime): _content(mime, value) for mime, value in shown.items()}
    return Output("result", data.get("text/plain", ""), data)


def _content(mime: str, value: object) -> str:
    """The content of an output under a MIME type: text, and of a check's record its JSON."""
    return json.dumps(value) if mime == CHECK_RECORD and isinstance(value, dict) else joined(value)


def dump(notebook: dict) -> str:
    """JSON as Jupyter writes it, a text's lines one below the other, the same every time."""
    cells = [cell | {"source": joined(cell["source"]).splitlines(True)} for cell in notebook["cells"]]
    return json.dumps(notebook | {"cells": cells}, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
