"""Pictures made small: at most so wide, of few colours, never larger than they were, and PNG alone."""

import base64
import io
import sys

import pytest
from PIL import Image, ImageDraw

from checker.site.pieces import thumbnails
from checker.site.pieces.thumbnails import PNG, thumbnail


def address(picture: Image.Image) -> str:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


def opened(made: str) -> Image.Image:
    assert made.startswith("data:image/png;base64,")
    picture = Image.open(io.BytesIO(base64.b64decode(made.partition(",")[2])))
    assert picture.format == "PNG"
    return picture


@pytest.mark.parametrize(("size", "made"), [((400, 100), (200, 50)), ((100, 60), (100, 60)), ((201, 201), (200, 200))])
def test_a_picture_keeps_its_form(size, made):
    """Catches a picture that is pulled in one direction, and a small one that is made larger."""
    assert opened(thumbnail(address(Image.effect_noise(size, 64)), 200)).size == made


def test_a_picture_for_a_card_has_few_colours():
    """Catches a landing page that carries every colour of every figure."""
    small = opened(thumbnail(address(Image.effect_noise((600, 100), 64).convert("RGB"))))
    assert small.width == thumbnails.WIDTH and 16 < len(small.convert("RGB").getcolors(5000)) <= 32


def test_a_narrow_picture_of_many_colours_is_packed_too():
    """Catches the larger of two pictures, and one that takes more bytes than its colours need."""
    one = address(Image.radial_gradient("L").resize((300, 200)).convert("RGB"))
    made = thumbnail(one)
    assert len(made) < len(one)
    assert len(made) < len(address(opened(made)))  # which Pillow packs as it does unasked


def test_a_thin_line_keeps_its_colour():
    """Catches two lines that look alike on the landing page: where colours are counted by their area, few are left for them."""
    colours = [(200, 0, 0), (0, 140, 0), (0, 0, 220), (200, 140, 0), (150, 0, 150)]
    picture = Image.linear_gradient("L").resize((960, 400)).convert("RGB")
    for number, colour in enumerate(colours):
        ImageDraw.Draw(picture).line((0, 40 + 80 * number, 960, 60 + 80 * number), colour, 3)
    there = [colour for _, colour in opened(thumbnail(address(picture))).convert("RGB").getcolors(100)]
    for colour in colours:
        assert min(sum(abs(a - b) for a, b in zip(colour, found)) for found in there) < 60, colour


def test_what_is_small_already_stays_as_it_is():
    """Catches a picture that grows by being made small."""
    one = address(Image.new("1", (8, 8)))
    assert thumbnail(one) == one


@pytest.mark.parametrize("other", ["", "data:image/svg+xml;base64,PHN2Zy8+", "https://example.org/a.png"])
def test_what_is_no_png_in_the_page_stays_as_it_is(other):
    assert thumbnail(other) == other


def test_without_pillow_a_picture_stays_as_it_is(monkeypatch):
    """Catches a report that ends where only the checker is installed."""
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert thumbnail(f"{PNG}no picture") == f"{PNG}no picture"


def test_a_transparent_picture_can_be_shown_small():
    """Catches a mode of colours that has no small form."""
    noise = Image.effect_noise((300, 90), 64).convert("RGBA")
    assert opened(thumbnail(address(noise), 200)).size == (200, 60)
