"""A planted leak of each kind is found; what students may see anyway is none."""

from __future__ import annotations

import base64
import gzip
import io
import json
import tarfile
import zipfile
import zlib

import pytest

from tests.release.sample import HIDDEN, RUBRIC, SOLUTION, master, nbgrader
from tito import strip
from tito.errors import UserError
from tito.notebook import Cell, Notebook, write_ipynb
from tito.release import leaks


def secrets(notebook=None, **options):
    notebook = notebook or master()
    return leaks.secrets_of(notebook, strip.student_version(notebook), "02_demo", **options)


def found(files, allowed=frozenset(), **options):
    files = {k: v.encode() if isinstance(v, str) else v for k, v in files.items()}
    return leaks.scan(files, secrets(**options), set(allowed))


def zipped(text):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/answers.txt", text)
    return buffer.getvalue()


def tarred(text):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("answers.txt")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def in_output(text):
    notebook = strip.student_version(master())
    notebook.cells[1].outputs = [{"output_type": "stream", "name": "stdout", "text": [text]}]
    return write_ipynb(notebook, outputs=True)


def in_metadata(text):
    notebook = strip.student_version(master())
    notebook.cells[1].metadata["jupyter"] = {"note": text}
    return write_ipynb(notebook)


def reflowed(text):
    """Another layout, other comments between the tokens."""
    return text.replace("\n", "  # a remark\n\n\n").replace("(", "( ").replace(" = ", "=")


CARRIERS = {
    "as it is": lambda t: t,
    "another layout": reflowed,
    "commented out": lambda t: "\n".join("# " + line for line in t.split("\n")),
    "in a string of Python": lambda t: f"ANSWER = {t!r}",
    "in a docstring": lambda t: f'"""\n{t}\n"""',
    "in JSON": lambda t: json.dumps({"kept": [1, {"cell": t}]}),
    "in JSON within JSON": lambda t: json.dumps({"kept": json.dumps({"cell": t})}),
    "in an output": in_output,
    "in metadata": in_metadata,
    "UTF-16": lambda t: t.encode("utf-16"),
    "behind binary data": lambda t: b"\x89PNG\x00\xff\xfe" + t.encode(),
    "base64": lambda t: "DATA = '" + base64.b64encode(t.encode()).decode() + "'",
    "base64 for web addresses": lambda t: base64.urlsafe_b64encode(t.encode()),
    "base64 in lines": lambda t: base64.encodebytes(t.encode()),
    "base64 twice": lambda t: base64.b64encode(base64.b64encode(t.encode())),
    "hex": lambda t: t.encode().hex(),
    "zip": zipped,
    "zip behind a picture": lambda t: b"\x89PNG....." + zipped(t),
    "zip in base64 in JSON": lambda t: json.dumps({"x": base64.b64encode(zipped(t)).decode()}),
    "tar": tarred,
    "gzip": lambda t: gzip.compress(t.encode()),
    "zlib in base64": lambda t: base64.b64encode(zlib.compress(t.encode())),
}


@pytest.mark.parametrize("secret", [SOLUTION, HIDDEN, RUBRIC], ids=["solution", "hidden", "rubric"])
@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_planted_leak_is_found(carrier, secret):
    planted = CARRIERS[carrier](secret)
    leaked = found({"modules/03/other.bin": planted})
    assert leaked, f"not found: {carrier}"
    assert {leak.file for leak in leaked} == {"modules/03/other.bin"}
    cells = {SOLUTION: "(weigh)", HIDDEN: "(weigh-hidden)", RUBRIC: "(reflect-1)"}
    assert all(cells[secret] in leak.origin for leak in leaked)


def test_a_marks_scheme_is_a_secret():
    task = Cell(
        "markdown",
        f"Do it.\n### BEGIN MARK SCHEME\n{RUBRIC}\n### END MARK SCHEME",
        {"nbgrader": {"task": True, "grade_id": "t", "points": 1, "schema_version": 3}},
    )
    notebook = Notebook([task])
    assert leaks.scan({"a": RUBRIC.encode()}, secrets(notebook), set())


def test_a_hidden_region_within_a_visible_test_is_a_secret():
    cell = Cell(
        "code",
        f"assert weigh\n### BEGIN HIDDEN TESTS\n{HIDDEN}\n### END HIDDEN TESTS",
        nbgrader(grade=True, solution=False, grade_id="t", points=1),
    )
    assert leaks.scan({"a": HIDDEN.encode()}, secrets(Notebook([cell])), set())


def test_a_solution_cell_without_markers_is_a_secret_as_a_whole():
    cell = Cell("code", SOLUTION, nbgrader(grade=False, solution=True, grade_id="s"))
    assert leaks.scan({"a": SOLUTION.encode()}, secrets(Notebook([cell])), set())


def test_the_student_version_itself_leaks_nothing():
    student = strip.student_version(master())
    assert found({"modules/02/02.ipynb": write_ipynb(student)}) == []


def test_eleven_tokens_are_no_leak_and_twelve_are():
    words = leaks.tokens(SOLUTION)
    assert found({"a.py": " ".join(words[2:13])}) == []
    assert [leak.tokens for leak in found({"a.py": " ".join(words[2:14])})] == [12]


def test_comments_between_few_tokens_hide_nothing():
    words = leaks.tokens(SOLUTION)
    assert found({"a.py": " # a remark\n".join(words)})
    assert found({"a.py": "\n# a remark\n".join(words)})


def test_what_the_own_given_code_holds_is_no_secret():
    notebook = master()
    notebook.cells[1].source += "\n" + SOLUTION
    assert leaks.scan({"a.py": SOLUTION.encode()}, secrets(notebook), set()) == []


def test_a_comment_in_given_code_does_not_excuse_a_leak():
    notebook = master()
    notebook.cells[1].source += "\n" + CARRIERS["commented out"](SOLUTION)
    assert leaks.scan({"a.py": SOLUTION.encode()}, secrets(notebook), set())


def test_solved_modules_may_show_solutions_but_no_hidden_tests_or_rubrics():
    assert found({"a.py": SOLUTION}, solutions=False) == []
    assert found({"a.py": HIDDEN}, solutions=False)
    assert found({"a.py": RUBRIC}, solutions=False)


def test_a_leak_names_file_place_and_origin():
    (leak,) = found({"kit.ipynb": in_output(SOLUTION)})
    error = str(leak.as_error())
    assert error.startswith("kit.ipynb:cell 2 outputs: gives away ")
    assert "02_demo cell 4 (weigh)" in error
    assert "tests/leaks_allowed" in error


def test_check_lists_every_leak():
    with pytest.raises(UserError) as error:
        leaks.check({"a": SOLUTION.encode(), "b": HIDDEN.encode()}, secrets(), set())
    assert str(error.value).count("gives away") == 2


def test_the_reviewed_list_lets_a_run_pass(tmp_path):
    path = tmp_path / "leaks_allowed"
    path.write_text(f"# a remark\n\nreason: told in the lecture\n{SOLUTION}\n")
    allowed = leaks.allowed_runs(path)
    assert found({"a": SOLUTION}, allowed) == []
    assert found({"a": HIDDEN}, allowed)


@pytest.mark.parametrize(
    "text, words",
    [
        (SOLUTION, "begins with its reason"),
        (f"reason:\n{SOLUTION}", "begins with its reason"),
        ("reason: too short to count\nfor i in range(n):", "allows nothing"),
    ],
)
def test_an_entry_without_reason_or_effect_is_an_error(tmp_path, text, words):
    path = tmp_path / "leaks_allowed"
    path.write_text("\n" + text + "\n")
    with pytest.raises(UserError, match=words) as error:
        leaks.read_allowed(path)
    assert error.value.line == 2


def test_no_list_allows_nothing(tmp_path):
    assert leaks.allowed_runs(tmp_path / "leaks_allowed") == set()


def test_what_cannot_be_searched_is_refused(monkeypatch):
    monkeypatch.setattr(leaks, "MAX_BYTES", 1000)
    with pytest.raises(UserError, match="too deep or too large") as error:
        found({"bomb.zip": zipped("a" * 5000)})
    assert error.value.path == "bomb.zip"


def test_a_damaged_archive_is_searched_as_it_is():
    assert found({"a.gz": b"\x1f\x8b broken " + SOLUTION.encode()})


def test_tokens_are_the_same_in_every_quoting():
    plain = leaks.tokens("f(a, 'one two')")
    assert plain == leaks.tokens('f(a, "one two")') == leaks.tokens('f(a,\\n \\\\"one two\\\\")')


def test_comments_end_where_python_says():
    assert leaks.without_comments("a = '# no'  # yes\nb").rstrip() == "a = '# no'  \nb"
    assert leaks.without_comments("%magic  # yes").rstrip() == "%magic"
