"""Names that a file of the package can have."""

from __future__ import annotations

import pytest

from tito.errors import UserError
from tito.export.target import check, file_of, packages_of


@pytest.mark.parametrize("target", ["loops", "simd.vec", "a.b_2.c", "_private"])
def test_dotted_lower_case_names_are_targets(target):
    assert check(target) == target


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("", "no target"),
        ("../../outside", "outside the package"),
        ("/etc/passwd", "outside the package"),
        ("a\\b", "outside the package"),
        ("..up", "outside the package"),
        ("simd.", "outside the package"),
        ("tinykernels.loops", "names the package itself"),
        ("random", "the name of a library"),
        ("simd.random", "the name of a library"),
        ("numba", "the name of a library"),
        ("class", "a word of Python"),
        ("Loops", "no module name"),
        ("__init__", "no module name"),
        ("two words", "no module name"),
        ("2loops", "no module name"),
        ("con", "no file name on Windows"),
    ],
)
def test_other_names_are_refused_with_the_reason(target, words):
    with pytest.raises(UserError, match=words):
        check(target)


def test_a_dotted_target_is_a_file_in_packages():
    assert str(file_of("a.b.c").as_posix()) == "a/b/c.py"
    assert packages_of("a.b.c") == ["a", "a.b"]
    assert packages_of("loops") == []
