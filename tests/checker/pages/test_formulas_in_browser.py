"""The font of formulas in a real browser."""

from tests.checker.browser import NEEDED, browser

pytestmark = NEEDED


def test_sums_are_large_and_brackets_stretch(page, tmp_path):
    """Catches a font without its table for mathematics, and a policy that keeps it out."""
    text = page(
        {"cell_type": "markdown", "id": "f", "metadata": {}, "source": r"$$\left(\sum_i \frac{a}{b}\right) x$$"}
    )
    file = tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    heights = """
    return document.fonts.ready.then(() => {
      const height = (one) => one.getBoundingClientRect().height;
      const [open, sum] = [...document.querySelectorAll("math mo")];
      return [height(open), height(sum), height(document.querySelector("math mi")), document.fonts.size,
              [...document.fonts].every((font) => font.status === "loaded")];
    });
    """
    with browser(tmp_path / "profile") as running:
        running.show(file.as_uri())
        bracket, sign, letter, fonts, loaded = running.run(heights)
    assert fonts == 1 and loaded
    assert sign > 1.5 * letter and bracket > 1.8 * letter


def test_lines_of_an_alignment_meet_at_their_signs(page, tmp_path):
    """Catches left sides that stand in the middle of their column: the browser does not read MathML's own word for it."""
    text = page(
        {
            "cell_type": "markdown",
            "id": "f",
            "metadata": {},
            "source": "\\begin{align}abcdef &= 1 \\\\ g &= 2\\end{align}",
        }
    )
    file = tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    ends = """
    const end = (letter) => [...document.querySelectorAll("math mi")].find((one) => one.textContent === letter)
      .getBoundingClientRect().right;
    return document.fonts.ready.then(() => [end("f"), end("g")]);
    """
    with browser(tmp_path / "profile") as running:
        running.show(file.as_uri())
        first, second = running.run(ends)
    assert abs(first - second) < 3
