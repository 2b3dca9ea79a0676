"""The rules against keys, paths and output that nobody wants: each form, and what only looks like it."""

import pytest

from tests.checker.conftest import code, markdown

HEX = "0123456789abcdef0123456789abcdef01234567"
SECRETS = [
    ("a Hugging Face token", "hf_" + "aB3" * 10, "hf_" + "aB3" * 9),
    ("an OpenAI key", "sk-" + "a_-B" * 5, "sk-" + "a_-B" * 4 + "aaB"),
    ("a GitHub token", "ghp_" + "aB3" * 10, "ghx_" + "aB3" * 10),
    ("a GitHub token", "gho_" + "aB3" * 10, "ghp_" + "aB3" * 9),
    ("an AWS key", "AKIA" + "AB34" * 4, "AKIA" + "AB34" * 3 + "ABC"),
    ("a Google key", "AIza" + "aB_-x" * 7, "AIza" + "aB_-x" * 6 + "aB_"),
    ("a private key", "-----BEGIN RSA PRIVATE KEY-----", "BEGIN RSA PRIVATE KEY"),
    ("a private key", "-----BEGIN PRIVATE KEY-----", "A PRIVATE KEY"),
    ("a Weights & Biases key", f'wandb.login(key="{HEX}")', f'wandb.login(key="{HEX[:39]}")'),
    ("a Weights & Biases key", f"wandb.login('{HEX}')", f"wandb.login({HEX})"),
    ("a Weights & Biases key", f"wandb_key = '{HEX}'", f"wandb_key, {HEX}"),
]


@pytest.mark.parametrize(("name", "shown", "_"), SECRETS)
@pytest.mark.parametrize("kind", ["source", "output", "markdown"])
def test_a_key_is_found_and_called_by_its_name(good, told, kind, name, shown, _):
    """Catches a key that is overlooked in one place, or told as another, so that the wrong one is revoked."""
    if kind == "output":
        good["cells"][4]["outputs"][0]["text"] += shown + "\n"
    else:
        good["cells"].insert(4, markdown(shown) if kind == "markdown" else code(f"# {shown}", count=None))
    (finding,) = told("H001")
    assert finding.cell == 4 and finding.found == f"the cell shows {name}" and "revoke" in finding.advice


@pytest.mark.parametrize(("name", "_", "harmless"), SECRETS)
def test_what_is_too_short_for_a_key_is_none(good, told, name, _, harmless):
    """Catches `sk-learn` taken for a key."""
    good["cells"][4]["source"] += f"\n# {harmless}"
    assert told("H001") == []


def test_each_key_of_a_cell_is_told(good, told):
    good["cells"][4]["source"] += f"\n# {SECRETS[0][1]} {SECRETS[0][1]} {SECRETS[4][1]}"
    assert [finding.found for finding in told("H001")] == [f"the cell shows {SECRETS[n][0]}" for n in (0, 4)]


PATHS = [
    ("/home/ada/model", "/home/ada"),
    ("open('/Users/a.d-a_3/x')", "/Users/a.d-a_3"),
    ("/root/cache", "/root/cache"),
    (r"C:\Users\ada\x", r"C:\Users\ada"),
    (r"'c:\\Users\\ada'", r"c:\\Users\\ada"),
    ("/content/drive/MyDrive/course/x.pt", "/content/drive/MyDrive/course/x.pt"),
    ("/content/drive/" + "x" * 80, "/content/drive/" + "x" * 45),
]


@pytest.mark.parametrize(("text", "shown"), PATHS)
@pytest.mark.parametrize("kind", ["source", "output", "markdown"])
def test_a_path_of_a_machine_is_quoted(good, told, kind, text, shown):
    """Catches one system's paths passed over, and a line of the notebook quoted in the place of the path."""
    if kind == "output":
        good["cells"][4]["outputs"][0]["text"] += f"saved: {text}\n"
    else:
        good["cells"].insert(4, markdown(text) if kind == "markdown" else code(f"# {text}", count=None))
    (finding,) = told("H002")
    assert finding.cell == 4 and finding.found == f"the cell shows a path of your machine: {shown}"
    assert "relative" in finding.advice


@pytest.mark.parametrize(
    "text", ["models/home", "/homework/x", "https://x.org/users/ada", r"C:\temp", "/content/x", "D:/x"]
)
def test_what_is_no_path_of_a_person_is_none(good, told, text):
    good["cells"][4]["source"] += f"\n# {text}"
    assert told("H002") == []


def test_a_cell_that_is_shown_to_nobody_may_have_paths(good, told):
    """Catches a raw cell, which no page shows, told as one that tells a name."""
    good["cells"].insert(4, markdown("/home/ada") | {"cell_type": "raw"})
    assert told("H002") == []


@pytest.mark.parametrize(
    "line",
    [
        "!pip install transformers>=4.40",
        "  ! pip3 install torch>2",
        "%pip install -q --upgrade numpy torch>=2.1",
        "!python -m pip install peft[all]>=0.1",
        "!python3.11  -m pip  install trl>= 0.9",
    ],
)
def test_a_version_without_quotes_is_quoted(good, told, line):
    """Catches one way to call pip that is not known."""
    good["cells"][4]["source"] += f"\n{line}\n!ls"
    (finding,) = told("H003")
    assert (
        finding.cell == 4 and finding.found == f"a version is not quoted: {line.strip()}" and "quotes" in finding.advice
    )


@pytest.mark.parametrize(
    "line",
    [
        "!pip install 'torch>=2'",
        '%pip install "torch>=2" numpy',
        "!pip install torch==2.1  # >=2 is needed",
        "# !pip install torch>=2",
        "!pip list > 3",
        "print(1)  # pip install torch>=2",
        "!pip install torch\ny = x>=2",
    ],
)
def test_what_the_shell_reads_rightly_is_none(good, told, line):
    good["cells"][4]["source"] += f"\n{line}"
    assert told("H003") == []


def test_a_long_line_is_cut_where_it_is_quoted(good, told):
    good["cells"][4]["source"] += f"\n!pip install {'torch ' * 40}numpy>=2"
    (finding,) = told("H003")
    assert len(finding.found) == len("a version is not quoted: ") + 80


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("12%|█▏        | 12/100", True),
        ("100%|##########|", True),
        ("step 1\rstep 2", True),
        ("1% 2% 3% 4%", True),
        ("1% 2% 3%", False),
        ("z" * 20_000 + "12%|█▏        | 12/100", False),
        ("z" * 19_900 + "12%|█▏        | 12/100", True),
        ("accuracy 12% | baseline 10%", False),
    ],
)
def test_the_remains_of_a_progress_bar_are_told(good, told, text, is_one):
    """Catches a table with percentages taken for a bar, and a bar below the first lines of a long output."""
    good["cells"][4]["outputs"][0]["text"] += text
    findings = told("H004")
    assert [finding.cell for finding in findings] == [4] * is_one
    assert all("progress bar" in finding.found and "`tqdm.auto`" in finding.advice for finding in findings)


@pytest.mark.parametrize(("before", "is_read"), [(19_999, True), (20_000, False)])
def test_only_the_beginning_of_a_long_output_is_searched(good, told, before, is_read):
    """Catches a search through all of a huge output, and one that ends early."""
    good["cells"][4]["outputs"][0]["text"] = "z" * before + "\r"
    assert bool(told("H004")) is is_read


def test_a_bar_in_a_result_is_a_table(good, told):
    """Catches a data frame whose values have four percentages, which is no stream that was redrawn."""
    shown = {
        "output_type": "execute_result",
        "data": {"text/plain": "1% 2% 3% 4%"},
        "metadata": {},
        "execution_count": 3,
    }
    good["cells"][4]["outputs"].append(shown)
    assert told("H004") == []


@pytest.mark.parametrize(("size", "findings"), [(1_000_000, []), (1_000_001, ["1.0 MB"]), (1_050_000, ["1.1 MB"])])
def test_an_output_is_large_from_a_size_on(good, told, size, findings):
    """Catches a limit that is another, and a size in other units."""
    before = len(good["cells"][4]["outputs"][0]["text"])
    good["cells"][4]["outputs"][0]["text"] += "z" * (size - before)
    assert [finding.found for finding in told("H005")] == [f"the outputs of the cell take {mega}" for mega in findings]
    assert all(finding.cell == 4 and "Print less" in finding.advice for finding in told("H005"))


@pytest.mark.parametrize("line", ["import helpers_of_mine as h", "from helpers_of_mine.more import x", "import torch"])
def test_a_module_beside_the_notebook_is_told(line, good, told, tmp_path):
    """Catches a notebook that runs where its author has a file, and nowhere else; and a package taken for such a file."""
    good["cells"][2]["source"] += f"\n{line}"
    assert told("H006") == []
    (tmp_path / "helpers_of_mine.py").write_text("x = 1")
    assert [finding.cell for finding in told("H006")] == [2] * ("helpers" in line)


@pytest.mark.parametrize(
    ("file", "advice"),
    [
        ("mine.py", "Hand in mine.py too"),
        ("random.py", "Give it a name of its own"),
        ("mine/__init__.py", "A folder is not"),
    ],
)
def test_what_becomes_of_a_module_is_told(file, advice, good, told, tmp_path):
    """Catches a student who hands in a file that grading leaves, or who copies one that it takes."""
    good["cells"][2]["source"] += f"\nimport {file.partition('/')[0].removesuffix('.py')}"
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("x = 1")
    [finding] = told("H006")
    assert advice in finding.advice
