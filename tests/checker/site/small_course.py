"""A small course on disk: five pages, two notebooks, and all that a site takes from beside them."""

import base64
import copy
import json
from pathlib import Path

import yaml

from tests.checker.conftest import GOOD, markdown

FIRST, SECOND = Path("notebooks") / "first.ipynb", Path("notebooks") / "second.ipynb"
PAGES = [Path("index.qmd"), FIRST, SECOND, Path("docs") / "glossary.qmd", Path("docs") / "formulas.qmd"]
PAGES.append(Path("docs") / "references.qmd")
# The smallest picture there is: one pixel.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ADDRESS, REPOSITORY = "https://owner.github.io/course", "https://github.com/owner/course"
TEXTS = {
    "index.qmd": "---\ntitle: Begin here\nsubtitle: For beginners\ndescription: All of it.\nbody-classes: landing\n---\n"
    "Go to [the formulas](docs/formulas.qmd#loss) or [the first](notebooks/first.ipynb).\n\n"
    "![dots](a%20picture.png)\n\n# Where to go\n\n## Deeper\n\n### Deepest\n\n::: {#gallery}\nHere they stand.\n:::\n",
    "docs/glossary.qmd": "---\ntitle: Glossary\n---\n\n# Ratio\n\nA quotient.\n\n# Reward hacking\n\nA trick.\n",
    "docs/formulas.qmd": "---\ntitle: Formulas\n---\n\n# Loss\n\n$$L = 2$$ {#eq-loss}\n\n$$M = 3$$ {#eq-mean}\n\n"
    "See @eq-loss in [second](../notebooks/second.ipynb).\n\n# Rates\n\n$$r = 4$$ {#eq-rate}\n\n"
    "Used in [second](../notebooks/second.ipynb).\n",
    "docs/references.qmd": "---\ntitle: References\n---\n\n::: {#references}\n:::\n",
    "404.qmd": "---\ntitle: Nothing here\n---\n\nBack to [the first page](index.qmd).\n",
    "notebooks/chapters.yml": "first: {teaches: t, measured: dots counted right, before: '0.25', after: '0.97'}\n",
    "references.yaml": "references:\n  - id: shao2024\n    author:\n      - {family: Shao, given: Zhihong}\n"
    "      - {family: Wang, given: Peiyi}\n      - {family: Zhu, given: Qihao}\n    issued: {year: 2024}\n"
    "    title: A title\n    container-title: Journal\n    URL: https://example.org/shao\n",
    "notebooks/questions/second.yml": "- question: Why $2$?\n  options:\n"
    "    - {text: For `two`, why: It is., right: true}\n    - {text: For three, why: It is not.}\n",
}


def notebook(title: str, said: str, builds_on: list[str], picture: bool = False) -> dict:
    """A notebook's JSON: its header, a sentence in its first section, and a picture as the result."""
    made = copy.deepcopy(GOOD)
    course = {"minutes": 3, "level": "first steps", "builds-on": builds_on, "goals": ["to count"]}
    header = {"title": title, "description": f"About {title}.", "course": course}
    made["cells"][0] = markdown(f"---\n{yaml.safe_dump(header)}---")
    made["cells"][1] = markdown(f"# Cell 1: Plan\n{said}")
    if picture:
        data = {"image/png": base64.b64encode(PICTURE).decode(), "text/plain": "<Figure>"}
        made["cells"][7]["outputs"].append({"output_type": "display_data", "metadata": {}, "data": data})
    return made


def small_course(project: Path, public: bool = True) -> Path:
    """Write the course into a folder that is not there yet."""
    for name, text in TEXTS.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    (project / "a picture.png").write_bytes(PICTURE)
    second = notebook("The second", "A ratio by Shao et al. 2024.", ["first", "elsewhere"])
    made = {FIRST: notebook("The first", "Count the dots.", [], picture=True), SECOND: second}
    made[SECOND.parent / "student" / SECOND.name] = notebook("The second", "To fill in: größer.", ["first"])
    for path, content in made.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    listed = [page.as_posix() for page in PAGES]
    contents = [listed[0], {"section": "Notebooks", "contents": listed[1:3]}, *listed[3:]]
    website = {"title": "The course", "description": "For all.", "sidebar": {"contents": contents}}
    if public:
        website |= {"site-url": ADDRESS, "repo-url": REPOSITORY, "image": "/docs/shown/a.png"}
        (project / "docs" / "shown").mkdir()
        (project / "docs" / "shown" / "a.png").write_bytes(PICTURE)
    (project / "_quarto.yml").write_text(yaml.safe_dump({"website": website}), encoding="utf-8")
    return project
