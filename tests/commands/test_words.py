"""How commands speak of paths and of themselves."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tito.commands import words


def test_paths_are_shown_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words.shown(tmp_path / "a" / "b.txt") == str(Path("a/b.txt"))
    assert words.shown(tmp_path.parent) == str(tmp_path.parent.resolve())


def test_quotes_only_where_needed():
    assert words.quoted("a b") == '"a b"' and words.quoted("ab") == "ab"


def test_columns_are_as_wide_as_they_need():
    assert words.columns([("a", "long", ""), ("bb", "x", "")]) == ["a   long", "bb  x"]


def environment(tmp_path, monkeypatch):
    """A .venv in a course folder, as the running Python."""
    scripts = tmp_path / "course" / ".venv" / "bin"
    scripts.mkdir(parents=True)
    for name in ("python", "tito"):
        (scripts / name).write_text("#!/bin/sh\n")
        (scripts / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(scripts / "python"))
    return scripts


def test_tito_is_called_by_path_where_its_environment_is_not_active(tmp_path, monkeypatch):
    if os.name == "nt":
        return
    scripts = environment(tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path / "course")
    assert words.call_tito() == ".venv/bin/tito"
    assert words.call_tito(tmp_path / "course" / "kit") == "../.venv/bin/tito"
    assert words.call_tito(tmp_path / "elsewhere" / "kit") == str(scripts / "tito")
    monkeypatch.setenv("PATH", str(scripts))
    assert words.call_tito() == "tito"


def test_without_a_script_the_module_is_run(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert words.call_tito() == f"{tmp_path / 'python'} -m tito"
