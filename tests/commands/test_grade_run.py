"""tito grade run, as an instructor calls it: table, JSON, CSV, exit codes."""

import csv
import io
import json
import zipfile

import pytest

from tito.cli import main

pytestmark = pytest.mark.usefixtures("any_engine")

MASTER = """\
# %% [markdown]
# # Areas

# %% nbgrader={"grade": false, "grade_id": "area", "locked": false, "schema_version": 3, "solution": true, "task": false}
def area(w, h):
    ### BEGIN SOLUTION
    return w * h
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "area-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
assert area(2, 3) == 6, "a 2 by 3 field"
### BEGIN HIDDEN TESTS
assert area(0, 7) == 0, "an empty field"
### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": true, "grade_id": "why", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Because.
"""  # noqa: E501 (a cell's metadata stands on one line)


def notebook(body):
    """A hand-in whose `area` has this body."""
    meta = {"grade": False, "grade_id": "area", "solution": True, "locked": False}
    source = f"def area(w, h):\n    {body}\n"
    cell = {"cell_type": "code", "id": "a", "metadata": {"nbgrader": meta}, "source": source}
    cell |= {"outputs": [], "execution_count": None}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def course(tmp_path):
    """A class of four: right, wrong, an empty file, nothing; and the master beside them."""
    (tmp_path / "fields.py").write_text(MASTER)
    (tmp_path / "README.md").write_text("not a hand-in")
    for student, body in {"ann": "return w * h", "bob": "return w + h"}.items():
        (tmp_path / student).mkdir()
        (tmp_path / student / "fields.ipynb").write_text(notebook(body))
    (tmp_path / "cy").mkdir()
    (tmp_path / "cy" / "fields.ipynb").write_text("")
    (tmp_path / "dee").mkdir()
    return tmp_path


def grade_run(course, *options):
    return main(["grade", "run", str(course), "--master", str(course / "fields.py"), *options])


def test_the_table_names_everybody_and_the_code_says_one_was_not_graded(course, capsys):
    assert grade_run(course) == 1
    out = capsys.readouterr().out
    lines = {line.split()[0]: line for line in out.split("\n") if line.strip()}
    assert "3/3" in lines["ann"]
    assert "0/3" in lines["bob"] and "a 2 by 3 field" in lines["bob"]
    assert "broken: the file is empty" in lines["cy"]
    assert "missing: no notebook" in lines["dee"]
    assert "2 of 4 hand-ins graded" in out and "up to 2 more points in each come by hand" in out
    assert "README" not in out
    assert out.rstrip().split("\n")[-1].startswith("next: tito grade run")


def test_what_to_type_next_can_be_typed_where_names_hold_blanks(course, capsys):
    spaced = course / "hand ins"
    (course / "ann").rename(spaced)
    main(["grade", "run", str(spaced), "--master", str(course / "fields.py")])
    last = capsys.readouterr().out.rstrip().split("\n")[-1]
    assert f'tito grade run "{spaced}" --master' in last


def test_all_graded_is_zero_whatever_the_points(course, capsys):
    for student in ("cy", "dee"):
        for file in (course / student).iterdir():
            file.unlink()
        (course / student).rmdir()
    assert grade_run(course) == 0
    assert "0/3" in capsys.readouterr().out


def test_json_on_stdout_is_all_there_is(course, capsys):
    assert grade_run(course, "--json") == 1
    document = json.loads(capsys.readouterr().out)
    found = {s["student"]: s for s in document["submissions"]}
    assert [found[s]["status"] for s in ("ann", "bob", "cy", "dee")] == [
        "graded",
        "graded",
        "broken",
        "missing",
    ]
    assert found["ann"]["points_exact"] == "3" and found["ann"]["max_points"] == 3
    assert found["cy"]["points"] == 0 and found["cy"]["max_points"] == 3
    why = next(c for c in found["ann"]["cells"] if c["id"] == "why")
    assert (why["status"], why["points"], why["max_points"]) == ("manual", None, 2)


def test_json_and_csv_to_files_leave_the_table(course, capsys, tmp_path):
    target, sheet = tmp_path / "out" / "r.json", tmp_path / "out" / "r.csv"
    grade_run(course, "--json", str(target), "--csv", str(sheet), "-j", "1")
    assert json.loads(target.read_text())["version"] == 1
    lines = list(csv.DictReader(io.StringIO(sheet.read_text("utf-8-sig"))))
    assert {r["student"]: r["area-test"] for r in lines}["ann"] == "3"
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbf")  # else Excel spoils the umlauts
    assert "ann" in capsys.readouterr().out


def test_a_zip_and_a_single_notebook(course, capsys, tmp_path):
    packed = tmp_path / "all.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("eve/fields.ipynb", notebook("return h * w"))
    master = str(course / "fields.py")
    assert main(["grade", "run", str(packed), "--master", master]) == 0
    assert "eve" in capsys.readouterr().out
    single = str(course / "bob" / "fields.ipynb")
    assert main(["grade", "run", single, "--master", master]) == 0
    assert "area-test: failed, 0 of 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["nowhere", "--master", "{m}"],
        ["{c}", "--master", "nowhere.py"],
        ["{c}"],
        ["{c}", "--master", "{m}", "-j", "0"],
        ["{c}", "--master", "{m}", "--json", "--csv"],
    ],
)
def test_wrong_usage_is_two(course, capsys, words):
    places = {"c": course, "m": course / "fields.py"}
    assert main(["grade", "run", *(w.format(**places) for w in words)]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("tito: ") and "Traceback" not in captured.err
    assert captured.out == ""


def test_an_empty_folder_is_no_success(course, capsys, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["grade", "run", str(empty), "--master", str(course / "fields.py")]) == 1
    assert "no hand-ins" in capsys.readouterr().err


def test_a_master_with_bad_points_stops_before_anybody_is_graded(course, capsys):
    (course / "fields.py").write_text(MASTER.replace('"points": 3', '"points": -3'))
    assert grade_run(course, "--json") == 1
    captured = capsys.readouterr()
    assert "area-test" in captured.err and captured.out == ""
