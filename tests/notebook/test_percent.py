"""The .py half of a pair: the same cells come back, or nothing is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tito.errors import UserError
from tito.notebook import Cell, Notebook, load, read_ipynb, read_py, write_ipynb, write_py

ROOT = Path(__file__).parents[2]
HEADER = "# ---\n# jupyter:\n#   jupytext:\n#     formats: ipynb,py:percent\n# ---\n\n"


def shape(cells):
    """What a pair has to keep; line ends at the edges of a cell are no content."""
    return [(c.kind, c.source.strip("\n"), kept(c.metadata)) for c in cells]


def kept(metadata):
    return {k: v for k, v in metadata.items() if k in ("nbgrader", "tags", "jupyter") and v}


def there_and_back(cells):
    return read_py(write_py(Notebook(cells))).cells


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("markdown", "```mermaid\ngraph TD\n    %% a comment\n    A --> B\n```"),
        ("markdown", "Line one\n\n# %%\n\nLine two"),
        ("markdown", "# %% [markdown]\n# %%"),
        ("markdown", "---\njupyter: no header\n---"),
        ("markdown", r"$\alpha$ and \\ and a lone \ "),
        ("markdown", 'she said """three""" quotes'),
        ("markdown", 'ends with a quote"'),
        ("markdown", ""),
        ("code", ""),
        ("code", "\n\n"),
        ("code", '"""\nonly a docstring\n"""'),
        ("code", "# + looks like a light marker\n# -\nq = 1"),
        ("code", "# copy of x\n# rm foo\n# cat, ls, echo\n# !important\n# %timeit in words"),
        ("code", "%matplotlib inline\n!ls\n%%not first"),
        ("code", "%%time\nx = 1"),
        ("code", "x = 1\n\x0c\ny = 'a\u2028b\x85c'"),
        ("code", "x = 1  \n\n\n\n\ny = 2\t"),
        ("code", "#| export\n#| forbid: blas\ndef f(): pass"),
        ("code", "s = 'ünï 🦀'"),
        ("raw", "raw text\n# %%"),
    ],
)
def test_cells_come_back(kind, source):
    cells = [Cell("markdown", "before"), Cell(kind, source), Cell("code", "after = 1")]
    assert shape(there_and_back(cells)) == shape(cells)


NASTY = [
    *("# %%", "# %% [markdown]", "# %% [raw]", "# %% title", "#%%", "# %%%%%% drawn", "    # %%"),
    *('"""', "'''", 'r"""', 'x = """', "\\", "# \\", "%%bash", "%%time", "!ls", "%time x", "? x"),
    *("# +", "# -", "# + [markdown]", "# In[1]:", "# <codecell>", "# ---", "---", "jupyter: x"),
    *("# cat x", "# rm y", "# !ls", "# %matplotlib", "# %%bash", "#", "# ", "", "", " ", "\t"),
    *("x = 1", "def f():", "    return 1", "#| export", "\x0c", "y = 'a\u2028b\x85'", "ü 🦀"),
    *("```", "<!-- #region -->", "# region", "# endregion", '# %% nbgrader={"a": 1}', "end\\"),
]
NBGRADER = st.fixed_dictionaries(
    {"grade_id": st.sampled_from(["a", "b-2", "relu_loops"]), "points": st.integers(0, 9)}
)
METADATA = st.fixed_dictionaries(
    {}, optional={"nbgrader": NBGRADER, "tags": st.just(["raises-exception"])}
)
CELL = st.builds(
    lambda kind, lines, metadata: Cell(kind, "\n".join(lines), metadata),
    st.sampled_from(["code", "code", "markdown", "raw"]),
    st.lists(st.sampled_from(NASTY), max_size=5),
    METADATA,
)


def test_metadata_that_is_there_but_empty_is_written_as_it_was():
    text = write_py(Notebook([Cell("code", "x = 1", {"tags": []})]))
    assert "# %% tags=[]\n" in text
    assert write_py(read_py(text)) == text


@settings(max_examples=150, deadline=None)
@given(st.lists(CELL, max_size=4))
@example([Cell("code", "%%bash")])  # Jupytext itself falls over this one
@example([Cell("code", "before = 1\n# %%\nafter = 2")])
@example([Cell("code", "%%writefile a.py\n# %%\nv = 1")])
@example([Cell("raw", "---\n# %%\n---", {"nbgrader": {"grade_id": "a", "points": 0}})])
def test_a_notebook_becomes_text_and_back_or_is_refused(cells):
    try:
        text = write_py(Notebook(cells))
    except UserError as error:
        assert error.message.startswith("cannot be written as .py")
        return
    again = read_py(text)
    assert shape(again.cells) == shape(cells)
    assert write_py(again) == text


@pytest.mark.parametrize(
    "source",
    ["before = 1\n# %%\nafter = 2", "%%writefile a.py\n# %%\nv = 1", "# %% [markdown]\nx"],
)
def test_a_cell_that_the_format_would_cut_is_refused_with_its_line(source):
    with pytest.raises(UserError, match=r"cannot be written as \.py") as caught:
        write_py(Notebook([Cell("code", "a"), Cell("code", source)], path=Path("a.ipynb")))
    error = caught.value
    assert (error.cell, str(error.path)) == ("cell 2", "a.ipynb")
    assert "# %%" in error.text


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ('x = """\n# %%\ny = 1\n# %% [markdown]\n# no cell\n"""', None),
        ("def f():\n    # %% indented\n    return 1", 9),
        ("# %%%%%% drawn by hand\nx = 1", 8),
    ],
)
def test_a_line_that_looks_like_a_marker_is_read_right_or_named(body, line):
    text = f"{HEADER}# %%\n{body}\n\n# %%\nz = 3\n"
    try:
        cells = read_py(text, Path("a.py")).cells
    except UserError as error:
        assert line == error.line and str(error.path) == "a.py"
        assert "# %%" in error.text
    else:
        assert [c.source for c in cells] == [body, "z = 3"]


PLAIN = (
    HEADER + "# %% [markdown]\n# # Title\n\n# %%\n#| default_exp ops\n\n# %%\n#| export\n"
    'def f():\n    return """two\nlines"""\n'
)


@pytest.mark.parametrize(
    "data",
    [
        PLAIN.encode(),
        PLAIN.encode("utf-8-sig"),
        PLAIN.encode("utf-16"),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\n", "\r").encode(),
        PLAIN[:60].replace("\n", "\r\n").encode() + PLAIN[60:].encode(),
        PLAIN.rstrip("\n").encode(),
        PLAIN.removeprefix(HEADER).encode(),
    ],
    ids=["lf", "bom", "utf16", "crlf", "cr", "mixed", "no-final-newline", "no-header"],
)
def test_every_editor_s_file_gives_the_same_cells(tmp_path, data):
    path = tmp_path / "a.py"
    path.write_bytes(data)
    notebook = load(path)
    assert [(c.kind, c.source) for c in notebook.cells] == [
        ("markdown", "# Title"),
        ("code", "#| default_exp ops"),
        ("code", '#| export\ndef f():\n    return """two\nlines"""'),
    ]
    assert notebook.default_exp == "ops"


def test_line_breaks_that_only_splitlines_knows_split_nothing(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(f'{HEADER}# %%\nx = 1\n\x0c\n# %%\ny = "a\u2028b\x85c"\n'.encode())
    assert [c.source for c in load(path).cells] == ["x = 1\n\x0c", 'y = "a\u2028b\x85c"']


HEADERS = {
    "none": "",
    "of ours": HEADER,
    "magics on": HEADER.replace("formats:", "comment_magics: true\n#     formats:"),
    "no jupytext": "# ---\n# jupyter:\n#   kernelspec:\n#     name: python3\n# ---\n\n",
    "not closed": "# ---\n# a thought\n\n",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_comments_are_never_taken_for_magics(header):
    source = "# copy of x\n# rm -rf y\n# !ls\n# %time\nx = 1"
    assert read_py(f"{header}# %%\n{source}\n").cells[-1].source == source


def test_cells_know_their_line_in_the_file():
    text = HEADER + "# %%\na = 1\n\n# %%\n\n\nb = 2\n"
    lines = text.split("\n")
    for cell in read_py(text).cells:
        first = cell.source.lstrip("\n").split("\n")[0]
        offset = len(cell.source) - len(cell.source.lstrip("\n"))
        assert lines[cell.line - 1 + offset] == first


def test_nbgrader_metadata_and_tags_come_back_and_other_metadata_does_not():
    nbgrader = {"grade": True, "grade_id": "a-test", "points": 2, "schema_version": 3}
    metadata = {"nbgrader": nbgrader, "tags": ["raises-exception"], "scrolled": True, "id": 3}
    (cell,) = there_and_back([Cell("code", "x", metadata)])
    assert cell.metadata == {"nbgrader": nbgrader, "tags": ["raises-exception"]}


def test_the_text_names_no_version_of_the_tool_that_wrote_it():
    text = write_py(Notebook([Cell("code", "x = 1")]))
    assert "version" not in text
    assert write_py(read_py(text)) == text


BUILD = """
import sys
from pathlib import Path
from tito.notebook import load, write_ipynb, write_py
notebook = load(Path(sys.argv[1]))
sys.stdout.buffer.write(write_ipynb(notebook).encode() + write_py(notebook).encode())
"""


def test_place_hash_seed_and_locale_change_no_byte(tmp_path):
    tags = 'tags=["b", "a"]'
    text = PLAIN + f'\n# %% nbgrader={{"points": 1, "grade_id": "t", "grade": true}} {tags}\n"ü"\n'
    outs = set()
    for seed, lang, place in (("0", "C", "a"), ("1", "de_DE.UTF-8", "b c"), ("2", "tr_TR", "ü")):
        path = tmp_path / place / "02_loops.py"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": lang, "PYTHONUTF8": "0"}
        run = subprocess.run(
            [sys.executable, "-c", BUILD, str(path)],
            cwd=ROOT,
            env=env,
            capture_output=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr.decode()
        outs.add(run.stdout)
    assert len(outs) == 1
    assert "ü".encode() in outs.pop()


def test_the_percent_file_and_its_notebook_hold_the_same():
    cells = read_py(PLAIN).cells
    again = read_ipynb(write_ipynb(Notebook(cells)).encode()).cells
    assert shape(again) == shape(cells)
