"""Bytes that are no notebook, and notebooks that were saved elsewhere."""

import json

import pytest

from tests.grading.judge.samples import CLAMP, as_file, hand_in
from tito.errors import UserError
from tito.grading.judge.submission import nothing_of, read_submission

GOOD = as_file(hand_in())


@pytest.mark.parametrize(
    "data, reason",
    [
        (b"", "empty"),
        (b"   \n", "empty"),
        (GOOD[: len(GOOD) // 2], "ends too early"),
        (b"<html><head></head><body>Please log in</body></html>", "web page"),
        (b"[1, 2]", "JSON list"),
        (b"null", "not a notebook"),
        (b'"text"', "not a notebook"),
        (b'{"nbformat": 4, "metadata": {}}', "no list of cells"),
        (b'{"nbformat": 4, "metadata": {}, "cells": []}', "no cells"),
        (as_file(hand_in(), nbformat=12), "format 12"),
        (b'{\n<<<<<<< HEAD\n "cells": [],\n=======\n>>>>>>> theirs\n}', "unfinished merge"),
        (GOOD.replace(b"null", b"NaN", 1), "NaN"),
        (GOOD.replace(b"null", b"-Infinity", 1), "Infinity"),
        (bytes(range(256)) * 40, "binary"),
        (b'{"a":' * 30000, "too deep"),
        (b"[" * 100000, "too deep"),
        ("naïve".encode("latin-1").join([b'{"cells": [], "x": "', b'"}']), "not UTF-8"),
        (GOOD.decode().encode("utf-16"), "UTF-16"),
        (GOOD.replace(json.dumps(CLAMP).encode(), b"[5]"), "source of cell 3 is no text"),
    ],
)
def test_each_broken_file_has_one_line_for_its_owner(data, reason):
    with pytest.raises(UserError, match=reason) as caught:
        read_submission(data)
    assert "\n" not in caught.value.message and caught.value.message


def test_a_byte_order_mark_is_read_past():
    assert read_submission(b"\xef\xbb\xbf" + GOOD).cells[2].source == CLAMP


def test_format_3_is_upgraded():
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Title"},
        {"cell_type": "code", "input": CLAMP, "outputs": [], "metadata": {}},
    ]
    old = {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}
    found = read_submission(json.dumps(old).encode())
    assert [c.source for c in found.cells] == ["## Title", CLAMP]
    assert "format 3" in found.notes[0]


OTHER_CODE = {"cell_type": "code", "source": "x = 1", "input": "x = 1"}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (
            {"nbformat": 4, "cells": [OTHER_CODE]},
            "none of its cells belongs to 05_x: another file?",
        ),
        (
            {"nbformat": 3, "worksheets": [{"cells": [OTHER_CODE]}]},
            "none of its cells belongs to 05_x: another file? "
            "(the notebook is in format 3 and was upgraded)",
        ),
        (
            {"nbformat": 4, "cells": [{**OTHER_CODE, "source": " "}]},
            "there is nothing in the notebook",
        ),
        (
            {"nbformat": 3, "worksheets": []},
            "there is nothing in the notebook (the notebook is in format 3 and was upgraded)",
        ),
    ],
)
def test_why_no_cell_is_the_modules(document, reason):
    found = read_submission(json.dumps({"metadata": {}, **document}).encode())
    assert nothing_of(found, "05_x") == reason


@pytest.mark.parametrize(
    "kernel, info",
    [
        ({"name": "conda-env-lab-py", "display_name": "Python [conda env:lab]"}, "python"),
        ({"name": "python2", "language": "python"}, None),
        ({"name": "go-env", "display_name": "Python (go)", "language": "python"}, None),
        ({"name": "r-project", "display_name": "r project"}, "python"),
        ({}, None),
        (None, None),
        ("text", "python"),
        ({"name": 7, "display_name": None, "language": []}, None),
        ({"name": "bash", "display_name": "Bash", "language": "bash"}, None),
        ({"name": "python3", "language": "Python 3"}, "ipython"),
    ],
)
def test_python_is_graded_whatever_its_kernel_is_called(kernel, info):
    own = hand_in()
    own.metadata = {"kernelspec": kernel, "language_info": {"name": info} if info else None}
    assert read_submission(as_file(own)).cells


@pytest.mark.parametrize(
    "kernel, info, shown",
    [
        ({"name": "julia-1.10", "display_name": "Julia 1.10", "language": "python"}, None, "Julia"),
        ({"name": "ir", "display_name": "R", "language": "R"}, "R", "for R,"),
        ({"name": "xcpp17", "display_name": "C++17"}, None, "C"),
        ({"name": "python3"}, "octave", "Octave"),
        ({"name": "brandnew", "language": "brandnew"}, None, "brandnew"),
        ({"name": "x", "language": "two\nlines"}, None, "for two lines,"),
    ],
)
def test_another_language_is_refused_with_words(kernel, info, shown):
    own = hand_in()
    own.metadata = {"kernelspec": kernel, "language_info": {"name": info} if info else {}}
    with pytest.raises(UserError, match="only Python is graded") as caught:
        read_submission(as_file(own))
    assert shown in caught.value.message


def test_a_shell_notebook_that_holds_shell_is_refused():
    own = hand_in("for f in *; do echo $f; done", "if [ -f x ]; then cat x; fi")
    own.cells = own.cells[2:3] + own.cells[5:6]
    own.metadata = {"kernelspec": {"name": "bash", "language": "bash"}}
    with pytest.raises(UserError, match="bash"):
        read_submission(as_file(own))
