"""The list of papers: each with its authors, where it appeared, and the notebooks that name it."""

import re

from checker.pages.templates import style
from checker.site.pieces.references import references
from tests.checker.site.small_course import PAGES, small_course

OTHER = """
  - id: ng1999
    author: [{family: Ng}]
    issued: {year: 1999}
    title: Another & one
"""


def test_a_paper_leads_to_itself_and_to_the_notebooks_that_name_it(tmp_path):
    """Catches a paper without its address, a notebook that does not name it, a link that is wrong from `docs`."""
    project = small_course(tmp_path / "project")
    with open(project / "references.yaml", "a", encoding="utf-8") as file:
        file.write(OTHER)
    html = references(project, PAGES)
    ng, shao = re.findall(r'<section class="level2" id="\w+">.*?</section>', html, re.DOTALL)
    assert 'id="ng1999"' in ng and "<h2>Ng 1999</h2>" in ng and "<i>Another &amp; one</i>" in ng and "<a " not in ng
    assert "Named in" not in ng
    assert 'id="shao2024"' in shao and "<h2>Shao et al. 2024</h2>" in shao and "Journal" in shao
    assert "Zhihong Shao, Peiyi Wang, Qihao Zhu (2024)" in shao
    links = re.findall(r'<a href="([^"]+)">(.*?)</a>', shao)
    assert links == [("https://example.org/shao", "A title"), ("../notebooks/second.html", "The second")]
    assert style("references.css") in html


def test_a_paper_is_found_where_a_cell_begins_with_it(tmp_path):
    """Catches cells that are run together: the name is then within a longer word."""
    project = small_course(tmp_path / "project")
    notebook = project / "notebooks" / "second.ipynb"
    text = notebook.read_text(encoding="utf-8").replace("A ratio by Shao et al. 2024.", "")
    notebook.write_text(text.replace('"# Cell 8: Analysis', '"Shao et al. 2024 say'), encoding="utf-8")
    assert "Named in" in references(project, PAGES)
