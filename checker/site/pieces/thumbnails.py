"""Pictures made small for the gallery: a card is a few hundred pixels wide, a notebook's figure more than a thousand."""

import base64
import io

WIDTH = 480  # pixels: twice what a card has for it, for sharp screens
COLOURS = 32  # of a drawing; it has few
PNG = "data:image/png;base64,"


def thumbnail(address: str, width: int = WIDTH) -> str:
    """A PNG in a `data:` address, made at most `width` pixels wide; any other as it is, all without Pillow."""
    try:
        from PIL import Image
    except ImportError:  # it comes with matplotlib, which the checker alone does not need
        return address
    if not address.startswith(PNG):
        return address
    with Image.open(io.BytesIO(base64.b64decode(address.removeprefix(PNG)))) as picture:
        height = round(picture.height * width / picture.width)
        small = picture.convert("RGB")
        if picture.width > width:
            small = small.resize((width, height))
        out = io.BytesIO()
        drawn = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2)  # a thin line keeps its colour
        drawn.save(out, "PNG", optimize=True)
    made = PNG + base64.b64encode(out.getvalue()).decode()
    return min(address, made, key=len)
