"""TeX of notebooks, brought to what the converter reads."""

import pytest

from checker.reading.prose.tex import MOST_EXPANDED, Macro, Names, Unread, prepared, unknown


@pytest.mark.parametrize(
    ("tex", "made"),
    [
        ("\\begin{aligned} a &= b \\\\[4pt] c \\end{aligned}", "\\begin{align*}a &= b \\\\ c \\end{align*}"),
        ("\\begin{align} [x](n) \\\\ [y] \\end{align}", "\\begin{align*}{}[x](n) \\\\ [y] \\end{align*}"),
        ("\\begin{alignedat}{2}a\\end{alignedat}", "\\begin{align*}a\\end{align*}"),
        ("\\begin{eqnarray*}a&=&b\\end{eqnarray*}", "\\begin{array}{rcl}a&=&b\\end{array}"),
        ("\\begin{gather}a\\end{gather}", "\\begin{array}{c}a\\end{array}"),
        ("\\begin{equation}a\\nonumber\\end{equation}", "a"),
        ("\\begin{array}{@{}l|r@{\\,}}a\\end{array}", "\\begin{array}{l|r}a\\end{array}"),
        ("\\begin{pmatrix*}[r]a\\end{pmatrix*}", "\\begin{pmatrix}a\\end{pmatrix}"),
        ("a \\\\ b", "\\begin{array}{c}a \\\\ b\\end{array}"),
        ("a &= b \\\\ &= c", "\\begin{align*}a &= b \\\\ &= c\\end{align*}"),
        ("\\operatorname*{arg\\,max}_x", "\\operatorname*{argmax}_x"),
        ("\\mathop{\\mathrm{tr}} A", "\\operatorname*{tr} A"),
        ("\\text{if $x$ is {a} \\_b}", "\\text{if }x\\text{ is a _b}"),
        ("\\text{a<b & c}", "\\text{a&lt;b &amp; c}"),
        ("a % all of it\n+ b", "a \n+ b"),
        ("\\require{cancel}\\ensuremath{x}", "x"),
    ],
)  # fmt: skip
def test_tex_is_written_as_the_converter_reads_it(tex, made):
    """Catches an environment that is shown as raw code or loses its columns, and words that are no TeX to it."""
    assert prepared(tex, Names()) == made
    assert unknown(made, True) == ""


@pytest.mark.parametrize(
    ("definition", "use", "made"),
    [
        ("\\newcommand{\\R}{\\mathbb{R}}", "\\R^n", "\\mathbb{R}^n"),
        ("\\newcommand\\a{\\alpha}", "\\a b", "\\alpha b"),
        ("\\newcommand{\\f}[1]{\\beta#1}", "\\f x", "\\beta x"),
        ("\\newcommand{\\n}[2][p]{#1|#2}", "\\n{x}+\\n[q]{y}", "p|x+q|y"),
        ("\\renewcommand{\\vec}[1]{\\mathbf{#1}}", "\\vec{x}", "\\mathbf{x}"),
        ("\\def\\d#1#2{#2#1}", "\\d ab", "ba"),
        ("\\DeclareMathOperator*{\\am}{arg\\,max}", "\\am_x", "\\operatorname*{argmax}_x"),
    ],
)
def test_a_macro_holds_on_the_whole_page(definition, use, made):
    """Catches macros that end with the formula that defines them, and one form of a definition that is not read."""
    names = Names()
    assert prepared(definition, names) == ""
    assert prepared(use, names) == made


def test_macros_that_double_come_to_an_end():
    """Catches a page that is never made: twenty definitions of two uses each come to a million."""
    doubled = "".join(f"\\def\\{chr(98 + n)}{{\\{chr(97 + n)}\\{chr(97 + n)}}}" for n in range(20))
    with pytest.raises(Unread, match="do not come to an end"):
        prepared(f"\\def\\a{{x}}{doubled}\\u", Names())
    with pytest.raises(Unread):
        prepared("\\x", Names(macros={"\\x": Macro(0, ["\\x"])}))
    names = Names(expanded=MOST_EXPANDED)
    with pytest.raises(Unread):
        prepared("\\def\\a{x}\\a", names)


def test_a_label_is_a_number_and_what_refers_to_it_has_the_same():
    """Catches labels that are shown as letters, and a number that another equation has."""
    names = Names()
    names.add("eq-named")
    assert prepared("a\\label{eq:one}", names) == "a\\qquad(2)"
    assert prepared("by \\eqref{eq:one}, \\ref{eq:one}", names) == "by \\text{(2)}, \\text{2}"
    assert names.words["eq-named"] == "Equation 1"
    assert prepared("a\\label{two}\\tag{7}\\\\b\\label{three}", names).count("qquad") == 1
    assert prepared("\\eqref{two}, \\ref{three}", names) == "\\text{(7)}, \\text{3}"


@pytest.mark.parametrize(
    ("tex", "reason"),
    [
        ("\\begin{tikzpicture}a\\end{tikzpicture}", "environment tikzpicture"),
        ("\\newenvironment{a}{b}{c}", "environment of its own"),
        ("\\label", "without what it is about"),
        ("\\text{a", "brace that is not closed"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(tex, reason):
    with pytest.raises(Unread, match=reason):
        prepared(tex, Names())


@pytest.mark.parametrize(
    ("tex", "what"), [("\\mysterious x", "the command \\mysterious"), ("x^", "what is no TeX"), ("\\frac{a}{b}", "")]
)
def test_a_command_that_the_converter_does_not_know_is_named(tex, what):
    assert unknown(tex, False) == what
