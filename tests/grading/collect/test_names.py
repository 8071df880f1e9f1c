"""Students' file names, kept on every system, no two alike."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tito.grading.collect.names import LONGEST_PATH, safe_name, safe_paths

BAD = re.compile(r'[<>:"\\|?*\x00-\x1f]')
PART = st.text(alphabet='aA.~: é\n*"', min_size=1, max_size=12) | st.sampled_from(
    ["con", "NUL.txt", "..", ".", "x" * 300, "a.ipynb", "A.ipynb", "\u0430"]
)


def test_ordinary_names_stay():
    for name in ("02_loops.ipynb", "my notes (1).txt", "data.csv"):
        assert safe_name(name) == name


def test_the_ending_stays():
    assert safe_name("schöne Lösung.ipynb").endswith(".ipynb")


@given(PART)
def test_every_name_is_safe(name):
    assert_safe(safe_name(name))


def assert_safe(name):
    assert name and len(name) <= 100 and name.isascii() and not BAD.search(name)
    assert name == name.strip(" ") and not name.endswith(".") and not name.startswith(".")
    assert "/" not in name
    assert name.split(".")[0].strip().lower() not in ("con", "nul", "aux", "prn")


@given(st.lists(st.lists(PART, min_size=1, max_size=9).map(tuple), unique=True, max_size=12))
def test_paths_are_safe_short_and_all_different(paths):
    kept = safe_paths(paths)
    assert set(kept) == set(paths)
    folded = [p.casefold() for p in kept.values()]
    assert len(set(folded)) == len(folded)
    for path in folded:
        assert len(path) <= LONGEST_PATH
        for part in path.split("/"):
            assert_safe(part)
        # no file where another needs a folder
        assert not any(other.startswith(path + "/") for other in folded)
