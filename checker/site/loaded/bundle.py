"""The checker as one zip for the browser's Python: what stands between a notebook and its report, and PyYAML.

Of the rooms of `checker/` those from a file to the report, which need nothing else; PyYAML in pure Python.
"""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOMS = ("reading", "outputs", "rules", "checking")
KINDS = (".py", ".yml")
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
    import yaml

    yield "checker/__init__.py", CHECKER / "__init__.py"
    pyyaml = Path(yaml.__file__).parent
    for packed, above in (*((CHECKER / room, CHECKER.parent) for room in ROOMS), (pyyaml, pyyaml.parent)):
        for file in packed.rglob("*"):
            if file.suffix in KINDS:
                yield file.relative_to(above).as_posix(), file
