"""An export writes all its files or none, and only files that are its own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tito.export.plan as plan_module
from tests.export.modules import course, percent, write
from tito.errors import UserError
from tito.export import STUB_LINE, built_from, plan_export
from tito.export import write as write_plan
from tito.notebook import load, write_ipynb

LOOPS = percent("#| export\ndef f(x):\n    return x", target="loops")
VEC = percent("#| export\ndef v(x):\n    return x", target="simd.vec")
BROKEN = percent("#| export\ndef g(x):\n    return (x +", target="broken")


def export(of, *names, **kwargs):
    refs = [of.resolve(n) for n in names] if names else of.modules
    return write_plan(plan_export(of, refs, **kwargs))


def tree(of):
    paths = sorted(p for p in of.package.rglob("*") if p.is_file())
    return {p.relative_to(of.package).as_posix(): p.read_bytes() for p in paths}


def test_a_second_export_changes_nothing(tmp_path):
    of = course(tmp_path, loops_02=LOOPS, vec_08=VEC)
    assert set(export(of).changes.values()) == {"new"}
    before = tree(of)
    assert sorted(before) == ["loops.py", "simd/__init__.py", "simd/vec.py"]
    done = export(of)
    assert (done.changes, done.backups) == ({}, {})
    assert tree(of) == before


def test_the_notebook_gives_the_same_bytes_as_the_percent_file(tmp_path):
    of = course(tmp_path, loops_02=LOOPS)
    export(of)
    before = tree(of)
    ref = of.modules[0]
    ref.ipynb.write_text(write_ipynb(load(ref.py)), encoding="utf-8")
    ref.py.unlink()
    assert export(of).changes == {}
    assert tree(of) == before


def test_a_plan_writes_nothing(tmp_path):
    of = course(tmp_path, loops_02=LOOPS)
    plan = plan_export(of, of.modules)
    assert plan.changes == {of.package / "loops.py": "new"}
    assert tree(of) == {} and not (tmp_path / ".tito").exists()


def test_a_broken_module_changes_no_file_and_the_others_export(tmp_path):
    of = course(tmp_path, broken_01=BROKEN.replace("(x +", "x"))
    export(of)
    write(tmp_path, "broken_01", BROKEN)
    write(tmp_path, "loops_02", LOOPS)
    of = type(of)(tmp_path)
    before = tree(of)["broken.py"]
    with pytest.raises(UserError, match="never closed"):
        plan_export(of, of.modules)
    plan = plan_export(of, of.modules, keep_going=True)
    assert list(plan.failed) == ["01_broken"] and plan.modules == ["02_loops"]
    write_plan(plan)
    assert sorted(tree(of)) == ["broken.py", "loops.py"]
    assert tree(of)["broken.py"] == before


def test_two_modules_that_clash_both_stay_out(tmp_path):
    of = course(tmp_path, a_01=LOOPS, b_02=LOOPS, vec_08=VEC)
    plan = plan_export(of, of.modules, keep_going=True)
    assert sorted(plan.failed) == ["01_a", "02_b"]
    assert "target of 02_b" in str(plan.failed["01_a"])
    assert "target of 01_a" in str(plan.failed["02_b"])
    write_plan(plan)
    assert "loops.py" not in tree(of)


def test_a_module_that_is_not_asked_for_still_owns_its_names(tmp_path):
    of = course(tmp_path, a_01=LOOPS, b_02=LOOPS.replace("loops", "other"))
    with pytest.raises(UserError, match="f is a public name of 01_a"):
        plan_export(of, [of.resolve("02")])


def test_the_file_of_a_removed_target_goes_with_its_folder(tmp_path):
    of = course(tmp_path, vec_08=VEC, loops_02=LOOPS)
    export(of)
    (of.package / "simd" / "__pycache__").mkdir()
    write(tmp_path, "vec_08", VEC.replace("simd.vec", "vec"))
    done = export(of, "08")
    assert done.changes[of.package / "simd/vec.py"] == "removed"
    assert sorted(tree(of)) == ["loops.py", "vec.py"]
    assert not (of.package / "simd").exists()


def test_files_from_elsewhere_leave_each_other_s_exports(tmp_path):
    of = course(tmp_path, loops_02=LOOPS)
    export(of)
    for name in ("one", "two"):
        loose = tmp_path / f"{name}.py"
        loose.write_text(percent(f"#| export\ndef {name}():\n    return 1", target=name))
        export(of, str(loose))
    assert sorted(tree(of)) == ["loops.py", "one.py", "two.py"]


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("from tinykernels.two import b", "b"),
        ("import tinykernels.two", "tinykernels.two.b"),
        ("from tinykernels import two", "two.b"),
    ],
)
def test_modules_that_would_import_each_other_are_refused(tmp_path, line, use):
    one = percent(f"#| export\n{line}\n\n\ndef a():\n    return {use}", target="one")
    two = percent(
        "#| export\nfrom tinykernels.one import a\n\n\ndef b():\n    return a", target="two"
    )
    of = course(tmp_path, one_01=one, two_02=two)
    with pytest.raises(UserError, match=r"tinykernels\.one and tinykernels\.two would import each"):
        export(of)
    assert tree(of) == {}


def test_a_file_of_somebody_else_is_never_removed(tmp_path):
    of = course(tmp_path, vec_08=VEC)
    export(of)
    (of.package / "simd/mine.py").write_text("x = 1\n")
    (of.package / "__init__.py").write_text('"""Mine."""\n')
    write(tmp_path, "vec_08", VEC.replace("simd.vec", "vec"))
    export(of)
    assert sorted(tree(of)) == ["__init__.py", "simd/__init__.py", "simd/mine.py", "vec.py"]


def test_an_export_of_one_module_leaves_the_files_of_others(tmp_path):
    of = course(tmp_path, vec_08=VEC, loops_02=LOOPS)
    export(of)
    (tmp_path / "modules/08_vec/08_vec.py").write_text("# %%\nx = 1\n")
    assert export(of, "02").changes == {}
    assert sorted(export(of, "08").changes.values()) == ["removed", "removed"]


@pytest.mark.parametrize("first", [b"x = 1  # mine\n", b"caf\xe9 = 1\n"])
def test_a_foreign_file_is_kept_as_a_backup(tmp_path, first):
    of = course(tmp_path, loops_02=LOOPS)
    (of.package / "loops.py").write_bytes(first)
    ((path, copy),) = export(of).backups.items()
    assert path == of.package / "loops.py"
    assert copy.parent == tmp_path / ".tito/backups" and copy.read_bytes() == first


def test_an_edit_by_hand_of_our_own_file_is_kept_as_a_backup(tmp_path):
    of = course(tmp_path, loops_02=LOOPS)
    export(of)
    path = of.package / "loops.py"
    edited = path.read_bytes() + b"# my own line\n"
    path.write_bytes(edited)
    (copy,) = export(of).backups.values()
    assert copy.read_bytes() == edited
    assert b"my own line" not in path.read_bytes()


def test_a_stub_of_the_kit_is_replaced_without_a_backup(tmp_path):
    of = course(tmp_path, loops_02=LOOPS)
    stub = f'# Built by hand.\n{STUB_LINE}\n"""Not written yet."""\n'
    (of.package / "loops.py").write_text(stub)
    done = export(of)
    assert (list(done.changes.values()), done.backups) == (["changed"], {})


def test_a_download_with_a_blank_in_its_name_makes_a_file_of_ours(tmp_path):
    of = course(tmp_path)
    path = tmp_path / "02_loops (1).py"
    path.write_text(LOOPS)
    for expected in ("new", None):
        done = write_plan(plan_export(of, [of.resolve(str(path))]))
        assert done.changes.get(of.package / "loops.py") == expected
    assert built_from((of.package / "loops.py").read_text()) == "02_loops (1)"


def test_a_folder_at_the_target_is_refused(tmp_path):
    of = course(tmp_path, loops_02=LOOPS)
    (of.package / "loops.py").mkdir()
    with pytest.raises(UserError, match="a folder stands where"):
        plan_export(of, of.modules)


def test_a_write_that_fails_half_way_puts_everything_back(tmp_path, monkeypatch):
    of = course(tmp_path, loops_02=LOOPS, vec_08=VEC)
    export(of, "02")
    before = tree(of)
    write(tmp_path, "loops_02", LOOPS.replace("return x", "return -x"))
    real, calls = plan_module.write_atomic, []

    def full_disk(path, content):
        calls.append(path)
        if len(calls) == 2:
            raise OSError("no space left")
        return real(path, content)

    monkeypatch.setattr(plan_module, "write_atomic", full_disk)
    with pytest.raises(OSError, match="no space left"):
        export(of)
    assert tree(of) == before


def test_a_kit_cell_that_lost_its_directive_is_named(tmp_path):
    text = LOOPS.replace(
        "# %%\n#| export", '# %% nbgrader={"grade_id": "f_loops", "solution": true}\n#| export'
    )
    of = course(tmp_path, loops_02=text)
    ref = of.modules[0]
    of.released.mkdir(parents=True)
    (of.released / "02_loops.ipynb").write_text(write_ipynb(load(ref.py)))
    ref.ipynb.write_text(write_ipynb(load(ref.py)).replace("#| export", "# export"))
    of = type(of)(tmp_path)
    with pytest.raises(UserError, match="was handed out with #") as caught:
        plan_export(of, of.modules)
    assert caught.value.cell == "cell 2 (f_loops)"


SCRIPT = """
import sys
from pathlib import Path
from tito.course import Course
from tito.export import plan_export
of = Course(Path(sys.argv[1]))
for path, text in plan_export(of, of.modules).files.items():
    sys.stdout.buffer.write(f"{path.name}\\n{text}".encode())
"""


@pytest.mark.parametrize("source", ["py", "ipynb"])
def test_hash_seed_locale_and_place_change_no_byte(tmp_path, source):
    names = ", ".join(f"n{i}" for i in range(12))
    cells = [f"#| export\nfrom os import sep, path\nfrom tinykernels.a import {names}\nx = {names}"]
    cells += [f"#| export simd.s{i}\ndef ü{i}(): return sep, path, x" for i in range(3)]
    digests = set()
    for seed, lang, place in ((0, "C", "a"), (1, "de_DE.UTF-8", "a b"), (2, "tr_TR.UTF-8", "ü")):
        of = course(tmp_path / place, loops_02=percent(*cells, target="loops"))
        ref = of.modules[0]
        if source == "ipynb":
            ref.ipynb.write_text(write_ipynb(load(ref.py)), encoding="utf-8")
            ref.py.unlink()
        env = {**os.environ, "PYTHONHASHSEED": str(seed), "LC_ALL": lang, "LANG": lang}
        env["PYTHONPATH"] = str(Path(plan_module.__file__).parents[2])
        command = [sys.executable, "-c", SCRIPT, str(of.root)]
        out = subprocess.run(command, env=env, capture_output=True, check=False)
        assert out.returncode == 0, out.stderr.decode()
        out = out.stdout
        assert out.count(b"Built from") == 5
        digests.add(hashlib.sha256(out).hexdigest())
    assert len(digests) == 1


def test_the_memory_of_exports_survives_rubbish(tmp_path):
    of = course(tmp_path, loops_02=LOOPS)
    (tmp_path / ".tito").mkdir()
    (tmp_path / ".tito/exported.json").write_text("[")
    export(of)
    assert list(json.loads((tmp_path / ".tito/exported.json").read_text())) == ["loops.py"]
