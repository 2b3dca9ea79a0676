"""The checker as one zip for the browser's Python: what stands between a notebook and its report.

Of the rooms of `checker/` those from a file to the report, and the packages that these import, all in pure Python.
"""

import io
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOMS = ("reading", "outputs", "rules", "checking")
PACKAGES = ("latex2mathml", "markdown_it", "mdit_py_plugins", "mdurl", "yaml")
KINDS = (".py", ".yml", ".txt")
CHECKER = Path(__file__).parents[2]


def bundle() -> bytes:
    """The zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, file in sorted(_files()):
            # An entry of no file's has the same date each time: the same files make the same bytes.
            archive.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _files() -> Iterator[tuple[str, Path]]:
    """(name in the zip, file) of everything that is packed."""
    yield "checker/__init__.py", CHECKER / "__init__.py"
    rooms = [CHECKER / room for room in ROOMS]
    packages = [Path(find_spec(name).origin).parent for name in PACKAGES]
    for packed, above in (*((room, CHECKER.parent) for room in rooms), *((one, one.parent) for one in packages)):
        for file in packed.rglob("*"):
            if file.suffix in KINDS:
                yield file.relative_to(above).as_posix(), file
    for described in packages[0].parent.glob(f"{PACKAGES[0]}-*.dist-info/METADATA"):  # it asks for its own version
        yield described.relative_to(packages[0].parent).as_posix(), described
