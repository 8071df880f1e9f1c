"""A pair is kept in step by what it holds; nothing that somebody wrote is ever lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from tito.course import ModuleRef
from tito.errors import UserError
from tito.notebook import load
from tito.sync import State, _ago, build, check, clear, content_hash, ensure_in_step, saved, sync

PY = '''\
# %% [markdown]
r"""
# A module
$\\alpha$
"""

# %% nbgrader={"grade": false, "grade_id": "k", "locked": false, "solution": true}
def k(x):
    return x + 1

# %%
print(k(1))
'''


@pytest.fixture
def ref(tmp_path):
    folder = tmp_path / "01_k"
    folder.mkdir()
    (folder / "01_k.py").write_text(PY, encoding="utf-8")
    return ModuleRef("01_k", folder)


@pytest.fixture
def pair(ref):
    sync(ref)
    return ref


def edit_py(ref, old, new):
    ref.py.write_text(ref.py.read_text("utf-8").replace(old, new), encoding="utf-8")


def edit_ipynb(ref, change):
    document = json.loads(ref.ipynb.read_text("utf-8"))
    change(document)
    ref.ipynb.write_text(json.dumps(document, indent=1), encoding="utf-8")


def set_source(index, source):
    return lambda document: document["cells"][index].update(source=source)


def give_output(document, index=-1, text="2\n"):
    document["cells"][index]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": [text]}
    ]
    document["cells"][index]["execution_count"] = 7


def fingerprint(*paths):
    return [(p.read_bytes(), p.stat().st_mtime_ns) for p in paths]


def sources(path):
    return [(c.kind, c.source.strip("\n"), c.metadata) for c in load(path).cells]


def test_a_lone_py_makes_the_notebook(ref):
    outcome = sync(ref)
    assert outcome.state is State.ONLY_PY
    assert (outcome.read, outcome.written) == (ref.py, ref.ipynb)
    assert sources(ref.py) == sources(ref.ipynb)


def test_a_lone_notebook_makes_the_py(pair):
    before = sources(pair.ipynb)
    pair.py.unlink()
    assert sync(pair).written == pair.py
    assert sources(pair.py) == before
    assert sync(pair).state is State.IN_STEP


@pytest.mark.parametrize("newer", ["py", "ipynb"])
def test_an_unchanged_pair_is_not_touched_whatever_its_times(pair, newer):
    os.utime(getattr(pair, newer), (4e9, 4e9))
    before = fingerprint(pair.py, pair.ipynb)
    assert sync(pair).written is None
    assert fingerprint(pair.py, pair.ipynb) == before


@pytest.mark.parametrize("newer", ["py", "ipynb"])
def test_the_half_with_the_new_content_wins_whatever_the_times_say(pair, newer):
    edit_py(pair, "x + 1", "x + 2")
    os.utime(getattr(pair, newer), (4e9, 4e9))
    assert sync(pair).state is State.PY_CHANGED
    assert "x + 2" in load(pair.ipynb).by_id("k").source
    edit_ipynb(pair, set_source(1, "def k(x):\n    return x + 3"))
    os.utime(getattr(pair, newer), (4e9, 4e9))
    assert sync(pair).state is State.IPYNB_CHANGED
    assert "x + 3" in pair.py.read_text("utf-8")


@pytest.mark.parametrize("mtimes", [(1e9, 1e9), (1e9, 2e9), (2e9, 1e9), (4e9, 1e9)])
def test_both_changed_is_a_conflict_that_keeps_both(pair, mtimes):
    edit_py(pair, "x + 1", "x + 2")
    edit_ipynb(pair, set_source(1, "def k(x):\n    return x + 3"))
    for path, when in zip((pair.py, pair.ipynb), mtimes):
        os.utime(path, (when, when))
    before = fingerprint(pair.py, pair.ipynb)
    with pytest.raises(UserError) as caught:
        sync(pair)
    message = str(caught.value)
    assert caught.value.code == 1
    assert "conflict" in message and "-    return x + 2" in message
    assert "+    return x + 3" in message
    assert fingerprint(pair.py, pair.ipynb) == before
    assert (pair.folder / "01_k.py.orig").read_bytes() == before[0][0]
    assert (pair.folder / "01_k.ipynb.orig").read_bytes() == before[1][0]


def test_a_later_conflict_keeps_the_earlier_copies(pair):
    edit_ipynb(pair, set_source(1, "def k(x):\n    return x + 3"))
    for number in (4, 5):
        edit_py(pair, f"x + {number - 3 if number == 4 else 4}", f"x + {number}")
        with pytest.raises(UserError):
            sync(pair)
    assert "x + 4" in (pair.folder / "01_k.py.orig").read_text("utf-8")
    assert "x + 5" in (pair.folder / "01_k.py.orig2").read_text("utf-8")
    assert not (pair.folder / "01_k.ipynb.orig2").exists()


@pytest.mark.parametrize(("keep", "kept"), [("py", "x + 2"), ("ipynb", "x + 3")])
def test_a_conflict_is_ended_by_naming_the_half_to_keep(pair, keep, kept):
    edit_py(pair, "x + 1", "x + 2")
    edit_ipynb(pair, set_source(1, "def k(x):\n    return x + 3"))
    edit_ipynb(pair, give_output)
    sync(pair, keep=keep)
    assert kept in load(pair.py).by_id("k").source
    assert kept in load(pair.ipynb).by_id("k").source
    assert load(pair.ipynb).cells[-1].outputs
    assert sync(pair).state is State.IN_STEP
    assert "x + 3" in (pair.folder / "01_k.ipynb.orig").read_text("utf-8")


def test_halves_that_differ_and_were_never_synced_are_a_conflict(pair):
    edit_ipynb(pair, lambda d: d["metadata"].pop("tito"))
    edit_py(pair, "x + 1", "x + 2")
    with pytest.raises(UserError, match="never synced"):
        sync(pair)


def test_halves_alike_without_a_record_get_one_and_keep_everything_else(pair):
    edit_ipynb(pair, lambda d: d["metadata"].update(tito={"other": 1}, mine={"a": "ä"}))
    edit_ipynb(pair, give_output)
    assert sync(pair).state is State.UNRECORDED
    assert sync(pair).state is State.IN_STEP
    metadata = json.loads(pair.ipynb.read_text("utf-8"))["metadata"]
    assert metadata["mine"] == {"a": "ä"}
    assert metadata["tito"]["other"] == 1
    assert load(pair.ipynb).cells[-1].outputs


def test_outputs_and_foreign_data_survive_an_edit_of_the_py(pair):
    def run(document):
        give_output(document, -1)
        give_output(document, 1, "old answer\n")
        document["cells"][0]["attachments"] = {"a.png": {"image/png": "AAAA"}}
        document["cells"][1]["metadata"]["collapsed"] = True

    edit_ipynb(pair, run)
    assert sync(pair).state is State.IN_STEP
    edit_py(pair, "x + 1", "x + 2")
    edit_py(pair, "# %%\nprint", "# %%\nnew = 1\n\n# %%\nprint")
    sync(pair)
    cells = json.loads(pair.ipynb.read_text("utf-8"))["cells"]
    assert [bool(c.get("outputs")) for c in cells] == [False, True, False, True]
    assert cells[3]["execution_count"] == 7
    assert cells[1]["metadata"]["collapsed"] is True
    assert cells[0]["attachments"]
    assert content_hash(load(pair.py)) == content_hash(load(pair.ipynb))
    assert len({c["id"] for c in cells}) == 4


def test_the_output_of_an_edited_cell_without_id_is_kept(pair):
    edit_ipynb(pair, give_output)
    edit_py(pair, "print(k(1))", "print(k(2))")
    sync(pair)
    assert load(pair.ipynb).cells[-1].outputs


def test_a_moved_cell_takes_its_output_along(pair):
    edit_ipynb(pair, give_output)
    edit_py(pair, "\n# %%\nprint(k(1))\n", "")
    edit_py(pair, "# %% [markdown]", "# %%\nprint(k(1))\n\n# %% [markdown]")
    sync(pair)
    assert load(pair.ipynb).cells[0].outputs


def test_a_deleted_cell_with_an_output_leaves_a_copy_of_the_notebook(pair):
    edit_ipynb(pair, give_output)
    edit_py(pair, "\n# %%\nprint(k(1))\n", "")
    outcome = sync(pair)
    assert "01_k.ipynb.orig" in outcome.notes[0]
    assert b"print(k(1))" in (pair.folder / "01_k.ipynb.orig").read_bytes()


@pytest.mark.parametrize(
    ("half", "content"),
    [
        ("ipynb", "{not json"),
        ("ipynb", ""),
        ("ipynb", '{"nbformat": 4, "metadata": {}, "cells": []}'),
        ("ipynb", "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n"),
        ("py", ""),
        ("py", PY.replace("print(k(1))", "<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other")),
    ],
)
def test_a_broken_half_overwrites_nothing_and_is_not_overwritten(pair, half, content):
    getattr(pair, half).write_text(content, encoding="utf-8")
    before = fingerprint(pair.py, pair.ipynb)
    with pytest.raises(UserError, match="nothing was written"):
        sync(pair)
    assert fingerprint(pair.py, pair.ipynb) == before


def test_a_cell_that_the_py_cannot_hold_stops_the_sync_with_its_line(pair):
    edit_ipynb(pair, set_source(2, "a = 1\n# %%\nb = 2"))
    before = fingerprint(pair.py, pair.ipynb)
    with pytest.raises(UserError, match=r"cannot be written as \.py"):
        sync(pair)
    assert fingerprint(pair.py, pair.ipynb) == before


def test_line_ends_and_a_byte_order_mark_are_no_change(pair):
    pair.py.write_bytes(b"\xef\xbb\xbf" + pair.py.read_bytes().replace(b"\n", b"\r\n"))
    edit_ipynb(pair, lambda d: d["cells"][1].update(source="def k(x):\r\n    return x + 1"))
    before = fingerprint(pair.py, pair.ipynb)
    assert sync(pair).state is State.IN_STEP
    assert fingerprint(pair.py, pair.ipynb) == before


def test_a_write_protected_half_is_left_alone(pair):
    edit_py(pair, "x + 1", "x + 2")
    pair.ipynb.chmod(0o444)
    with pytest.raises(UserError, match="write-protected"):
        sync(pair)


def test_a_write_protected_notebook_still_makes_its_py(pair):
    pair.py.unlink()
    pair.ipynb.chmod(0o444)
    before = fingerprint(pair.ipynb)
    assert sync(pair).written == pair.py
    assert fingerprint(pair.ipynb) == before


def test_a_protected_notebook_without_a_record_is_left_and_told(pair):
    edit_ipynb(pair, lambda d: d["metadata"].pop("tito"))
    pair.ipynb.chmod(0o444)
    before = fingerprint(pair.ipynb)
    assert "write-protected" in sync(pair).notes[0]
    assert fingerprint(pair.ipynb) == before


def test_the_notebook_after_an_edit_is_the_one_a_fresh_build_gives(pair):
    edit_py(pair, "# %%\nprint", "# %%\nnew = 1\n\n# %%\nprint")
    sync(pair)
    assert pair.ipynb.read_text("utf-8") == build(load(pair.py))


def test_in_a_kit_cells_keep_their_ids(pair):
    kit = ModuleRef(pair.name, pair.folder, in_kit=True)
    before = [c.id for c in load(pair.ipynb).cells]
    edit_py(pair, "# %% [markdown]", "# %%\nnew = 1\n\n# %% [markdown]")
    sync(kit)
    assert [c.id for c in load(pair.ipynb).cells][1:] == before


BUILD = """
import sys, pathlib
from tito.course import ModuleRef
from tito.sync import sync
folder = pathlib.Path(sys.argv[1])
sync(ModuleRef("01_k", folder))
"""


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_builds_are_alike_at_other_paths_hash_seeds_and_locales(pair, tmp_path, seed):
    other = tmp_path / "ein anderer Ort" / "01_k"
    other.mkdir(parents=True)
    shutil.copy(pair.py, other)
    env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "PYTHONUTF8": "0"}
    subprocess.run([sys.executable, "-c", BUILD, str(other)], env=env, check=True)
    assert (other / "01_k.ipynb").read_bytes() == pair.ipynb.read_bytes()


def test_check_is_silent_for_a_pair_as_built(pair):
    assert check(pair) is None


def test_check_names_what_is_out_of_step(pair):
    edit_ipynb(pair, give_output)
    assert "holds outputs" in check(pair)
    assert clear(pair)
    assert check(pair) is None
    edit_py(pair, "x + 1", "x + 2")
    assert "the .py was changed" in check(pair)
    pair.ipynb.unlink()
    assert "only the .py" in check(pair)


def test_check_in_a_kit_accepts_a_notebook_alone_and_outputs(pair):
    kit = ModuleRef(pair.name, pair.folder, in_kit=True)
    edit_ipynb(pair, give_output)
    assert check(kit) is None
    pair.py.unlink()
    assert check(kit) is None


def test_a_reader_gets_the_half_in_step_and_makes_none(pair):
    edit_ipynb(pair, set_source(1, "def k(x):\n    return x + 3"))
    assert ensure_in_step(pair) == pair.py
    assert "x + 3" in pair.py.read_text("utf-8")
    pair.py.unlink()
    kit = ModuleRef(pair.name, pair.folder, in_kit=True)
    assert ensure_in_step(kit) == pair.ipynb
    assert not pair.py.exists()


def test_a_loose_file_is_read_as_it_is(pair, tmp_path):
    loose = tmp_path / "loose"
    shutil.copytree(pair.folder, loose)
    path = loose / "01_k.ipynb"
    (loose / "01_k.py").write_text(PY.replace("x + 1", "x + 9"), encoding="utf-8")
    before = path.read_bytes()
    assert ensure_in_step(ModuleRef("01_k", loose, given=path)) == path
    assert path.read_bytes() == before


def test_a_reader_stops_on_a_conflict(pair):
    edit_py(pair, "x + 1", "x + 2")
    edit_ipynb(pair, set_source(1, "def k(x):\n    return x + 3"))
    with pytest.raises(UserError, match="conflict"):
        ensure_in_step(pair)


def test_saved_names_the_file_and_its_time(pair):
    assert saved(pair.py).startswith(f"{pair.py}, saved ")
    assert "ago" in saved(pair.py)
    assert [_ago(s) for s in (0.6, 1.4, 30, 91)] == [
        *(" (1 second ago)", " (1 second ago)", " (30 seconds ago)", " (2 minutes ago)")
    ]
    os.utime(pair.py, (1e9, 1e9))
    assert "2001-09-09" in saved(pair.py)


def test_the_hash_sees_metadata_and_not_trailing_blank_lines(pair):
    notebook = load(pair.py)
    before = content_hash(notebook)
    notebook.cells[1].source += "\n\n"
    assert content_hash(notebook) == before
    notebook.cells[1].metadata["nbgrader"]["grade_id"] = "other"
    assert content_hash(notebook) != before


def test_the_hash_does_not_depend_on_the_order_of_metadata_keys(pair):
    notebook = load(pair.py)
    before = content_hash(notebook)
    keys = notebook.cells[1].metadata["nbgrader"]
    notebook.cells[1].metadata["nbgrader"] = dict(reversed(keys.items()))
    assert content_hash(notebook) == before


def test_text_that_no_encoding_knows_can_be_hashed(pair):
    notebook = load(pair.py)
    notebook.cells[2].source = "x = '\ud800'"
    assert content_hash(notebook)
