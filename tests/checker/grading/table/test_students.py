"""The points of a correction, as people and spreadsheets write them."""

import pytest

from checker.grading.table.students import number


@pytest.mark.parametrize(
    ("written", "points"), [("", 0.0), ("2", 2.0), ("1,5", 1.5), ("'-1.5", -1.5), ("'-1,5", -1.5), ("+0.5", 0.5)]
)
def test_a_correction_is_a_number_however_a_spreadsheet_keeps_it(written, points):
    """Catches a class that cannot be graded since a cell with "-1.5" was saved as text, with a mark before it."""
    assert number(written) == points
