"""Cells as Python."""

import pytest

from tito.forbid import python_source


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("x = 1", "x = 1"),
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if x:\n    !ls\n    y = 2", "if x:\n    pass\n    y = 2"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n%%capture out\nx = 1", "\n\nx = 1"),
        ("%%bash\nls", ""),
        ("x?\ny = 1", "pass\ny = 1"),
        ("x = 7 % 2", "x = 7 % 2"),
        ("s = '''\n%no magic\n'''", "s = '''\n%no magic\n'''"),
    ],
)
def test_magics_are_blanked_and_lines_stay(source, python):
    assert python_source(source) == python
