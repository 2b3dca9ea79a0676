"""The rules on what each section prints: what is enough, what is not, and what is asked for."""

import pytest

from tests.checker.conftest import HEADER, code, markdown


def printed(good, number: int, text: str) -> None:
    good["cells"][number]["outputs"] = code("", text)["outputs"]


RULES = {  # the section, what it has to print, what is asked for
    "P002": (2, "architecture or the number of parameters", "`parameter_summary(model)`"),
    "P003": (3, "three example prompts", "three rows"),
    "P004": (4, "good and bad cases", "right, wrong and odd ones"),
    "P006": (6, "fewer than three log lines", "every N steps"),
    "P008": (7, "five examples", "five held-out rows"),
}
ENOUGH = [
    *(
        ("P002", text)
        for text in ("12 params", "4 layers", "LlamaForCausalLM", "Model(\n", "1.5 M", "80k weights", "7B of them")
    ),
    ("P003", "a\n\nb\nc"),
    ("P004", "a reward 1.0\nb reward 0.0"),
    ("P006", "step 1 reward 0.1 loss 0.2\n" * 3),
    ("P008", "prompt a output 3\n" * 5),
]
TOO_LITTLE = [
    *(("P002", text) for text in ("", "it is small", "1.5 Mega", "done 12", "B")),
    *(("P003", text) for text in ("", "a\nb", "a\n\n  \nb\n")),
    *(("P004", text) for text in ("", "reward 1.0", "a reward 1.0\nb reward 1.0")),
    *(("P006", text) for text in ("", "step 1 reward 0.1 loss 0.2\n" * 2, "reward and loss\n" * 3)),
    *(("P008", text) for text in ("", "prompt a output 3\n" * 4)),
]


@pytest.mark.parametrize(("wanted", "text"), ENOUGH)
def test_what_is_printed_is_enough(good, told, wanted, text):
    """Catches one way to print it that is not known."""
    printed(good, RULES[wanted][0], text)
    assert told(wanted) == []


@pytest.mark.parametrize(("wanted", "text"), TOO_LITTLE)
def test_what_is_missing_is_told_with_what_to_print(good, told, wanted, text):
    printed(good, RULES[wanted][0], text)
    (finding,) = told(wanted)
    number, found, advice = RULES[wanted]
    assert finding.cell == number and finding.found.startswith(f"Cell {number} ")
    assert found in finding.found and advice in finding.advice


@pytest.mark.parametrize("wanted", [*RULES, "P005", "P007"])
def test_of_a_cell_that_was_not_run_other_rules_tell(good, told, wanted):
    """Catches a section that is told twice: it was not run, and it prints nothing; and one that is not there."""
    number = {"P005": 5, "P007": 7}.get(wanted) or RULES[wanted][0]
    good["cells"][number]["outputs"] = []
    assert told(wanted) != []
    good["cells"][number]["execution_count"] = None
    assert told(wanted) == []
    good["cells"].insert(number + 1, code("x", "?", None))
    assert told(wanted) != []
    assert {finding.cell for finding in told(wanted)} == {number}
    good["cells"].pop(number + 1)
    good["cells"][number] = markdown("Nothing.")
    assert told(wanted) == []


SHAPES = ["(32,)", "( 32 )", "(4, 8)", "[32]", "[4, 8]", "torch.Size([4, 8])", "shape: 32", "Shape is about 32"]
LOSSES = ["loss 0.1", "Loss: -0.1", "loss of the first batch: 3", "loss nan", "loss = NaN", "LOSS\n0"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_shape_and_a_loss_show_that_a_step_works(good, told, shape, loss):
    printed(good, 5, f"{shape} {loss}")
    assert told("P005") == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("", ["the shape of the advantages", "the initial loss"]),
        ("loss 0.1", ["the shape of the advantages"]),
        ("(32,)", ["the initial loss"]),
        ("shape of all of the many, 32; loss none", ["the shape of the advantages", "the initial loss"]),
        ("(1, 2, 3) loss", ["the shape of the advantages", "the initial loss"]),
        (
            "() [] (a, b) loss of the very first of all the batches: 3",
            ["the shape of the advantages", "the initial loss"],
        ),
    ],
)
def test_a_step_that_shows_neither_is_told_which(good, told, text, missing):
    """Catches the one told for the other, and a number far behind the word taken for a loss."""
    printed(good, 5, text)
    findings = told("P005")
    assert [finding.found for finding in findings] == [f"Cell 5 does not print {words}" for words in missing]
    for finding in findings:
        asked_for = "`tuple(advantages.shape)`" if "shape" in finding.found else "before any optimiser step"
        assert finding.cell == 5 and asked_for in finding.advice


@pytest.mark.parametrize(
    ("text", "missing"),
    [("", "baseline"), ("fine-tuned reward 0.9", "baseline"), ("baseline reward 0.1", "fine-tuned")],
)
def test_a_comparison_that_lacks_one_reward_is_told_which(good, told, text, missing):
    printed(good, 7, text)
    (finding,) = told("P007")
    assert (finding.cell, finding.found) == (7, f"Cell 7 does not print the {missing} reward")
    assert "on the held-out set" in finding.advice


def test_a_notebook_that_measures_prints_a_comparison_of_methods(good, told):
    """Catches a measurement that is asked for a baseline and five examples, and one that compares nothing."""
    good["cells"][0]["source"] = HEADER.replace("jupyter:", "course:\n  claim: measures\njupyter:")
    printed(good, 7, "held-out accuracy\nRLOO   0.79\nGRPO   0.81\n")
    assert told("P007") == [] and told("P008") == []
    printed(good, 7, "held-out accuracy\nRLOO   0.79\n")
    (finding,) = told("P007")
    assert finding.cell == 7 and "held-out comparison of methods" in finding.found and "two methods" in finding.advice


PARTS = {
    "success": [
        "It was a success.",
        "The baseline is beaten.",
        "held-out",
        "heldout",
        "It improves.",
        "reward rises",
        "reward went up",
    ],
    "dynamics and reward hacking": [
        "dynamics",
        "No hacking.",
        "The curve",
        "Entropy fell.",
        "the KL is small",
        "a plateau",
    ],
    "group size": ["The group size", "G = 8", "g=2", "All groups", "a group"],
}


@pytest.mark.parametrize(("part", "words"), [(part, words) for part, ways in PARTS.items() for words in ways])
def test_an_analysis_speaks_of_three_things(good, told, part, words):
    """Catches one way to speak of a part that is not known, and a part that is told though it is there."""
    others = [part_ for part_ in PARTS if part_ != part]
    good["cells"][8]["source"] = f"# Cell 8: Analysis\n{words}"
    (finding,) = told("P009")
    assert finding.cell == 8 and finding.found == f"the analysis does not speak of: {', '.join(others)}"
    assert "paragraph on each" in finding.advice
    good["cells"][8]["source"] += "".join(f"\n{PARTS[other][0]}" for other in others)
    assert told("P009") == []


def test_an_analysis_may_go_on_in_further_cells(good, told):
    """Catches a part in a further cell that is not read, code that counts as analysis, and a missing cell told twice."""
    good["cells"][8]["source"] = "# Cell 8: Analysis\nIt worked, and gklb."
    good["cells"].append(code("success = dynamics = group", count=None))
    (finding,) = told("P009")
    assert finding.found.endswith("success, dynamics and reward hacking, group size")
    good["cells"] += [markdown("A success."), markdown("The dynamics, and the group size.")]
    assert told("P009") == []
    del good["cells"][8:]
    assert told("P009") == []
