"""The command line: exit codes, help, and no traceback for a mistake of whoever types."""

from __future__ import annotations

import errno
import importlib
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tito import __version__, cli
from tito.errors import UsageError, UserError

ROOT = Path(__file__).parents[1]
ALL = [*([name] for name in cli.COMMANDS), *(["grade", name] for name in cli.GRADE)]
ENTRIES = [*cli.COMMANDS.values(), *cli.GRADE.values()]


def tito(*args, **env):
    return subprocess.run(
        [sys.executable, "-m", "tito", *args],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def command(monkeypatch):
    """Make `tito status` run the given function."""

    def install(run):
        module = types.ModuleType("tito.commands.student")
        module.status = run
        monkeypatch.setitem(sys.modules, "tito.commands.student", module)

    return install


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e[0])
def test_every_command_in_the_parser_is_there(entry):
    module, function = entry[0].split(":")
    assert callable(getattr(importlib.import_module(f"tito.commands.{module}"), function))


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_has_help_with_an_example(words, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([*words, "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert f"Example: tito {' '.join(words)}" in out
    assert f"usage: tito {' '.join(words)}" in out


def test_the_help_of_tito_names_every_command(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    out = capsys.readouterr().out
    for name in (*cli.COMMANDS, "grade"):
        assert f"\n    {name} " in out


def test_the_version(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"tito {__version__}\n"


@pytest.mark.parametrize("args", [["nonsense"], ["export", "--nonsense"], ["grade"], ["new"]])
def test_wrong_usage_exits_2(args, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(args)
    assert stop.value.code == 2
    assert "usage: tito" in capsys.readouterr().err


def test_tito_alone_says_what_there_is_and_exits_2(capsys):
    assert cli.main([]) == 2
    assert "tito start" in capsys.readouterr().err


@pytest.mark.parametrize("code", [0, 1])
def test_the_exit_code_is_the_command_s(command, code):
    command(lambda args: code)
    assert cli.main(["status"]) == code


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (UserError("broken", path="a.py", line=3, hint="mend it"), 1, "tito: a.py:3: broken"),
        (UsageError("no such file", path="b.py"), 2, "tito: b.py: no such file"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (PermissionError(13, "Permission denied", "c.py"), 1, "tito: c.py: Permission denied"),
        (OSError(errno.ENOSPC, "disk full"), 1, "tito: disk full\n  try: make room"),
    ],
)
def test_a_mistake_of_the_user_is_one_message_without_a_traceback(
    command, capsys, error, code, words
):
    def run(args):
        raise error

    command(run)
    assert cli.main(["status"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err and "Traceback" not in err


@pytest.mark.parametrize("error", [ZeroDivisionError(), OSError("no file to name")])
def test_a_bug_of_ours_keeps_its_traceback(command, error):
    def run(args):
        raise error

    command(run)
    with pytest.raises(type(error)):
        cli.main(["status"])


def test_a_terminal_without_unicode_survives():
    code = (
        "import sys, types, tito.cli as cli\n"
        "module = types.ModuleType('tito.commands.student')\n"
        "module.status = lambda args: print('kernel \\u2713 f\\u00fcr') or 0\n"
        "sys.modules['tito.commands.student'] = module\n"
        "sys.exit(cli.main(['status']))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stdout.strip()) == (0, b"kernel ? f?r")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes differ there")
def test_a_reader_that_stops_early_is_no_error():
    code = (
        "import sys, types, tito.cli as cli\n"
        "module = types.ModuleType('tito.commands.student')\n"
        "module.status = lambda args: [print('x' * 99) for _ in range(9999)] and 0\n"
        "sys.modules['tito.commands.student'] = module\n"
        "sys.exit(cli.main(['status']))\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    run.stdout.readline()
    run.stdout.close()
    assert run.stderr.read() == b""
    run.stderr.close()
    assert run.wait() == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.skipif(sys.platform == "win32", reason="pipes differ there")
def test_a_failure_stays_a_failure_when_nobody_reads_to_the_end(unbuffered):
    code = (
        "import sys, types, tito.cli as cli\n"
        "module = types.ModuleType('tito.commands.student')\n"
        "module.status = lambda args: sys.stdin.read() or print('wrong') or 1\n"
        "sys.modules['tito.commands.student'] = module\n"
        "sys.exit(cli.main(['status']))\n"
    )
    pipe = subprocess.PIPE
    run = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    run.stdout.close()
    run.stdin.close()
    assert run.stderr.read() == b""
    run.stderr.close()
    assert run.wait() == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_ctrl_c_inside_exec_has_its_exit_code_too(tmp_path):
    code = (
        "import os, signal, sys, types, tito.cli as cli\n"
        # Whoever starts the tests in the background makes them ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "module = types.ModuleType('tito.commands.student')\n"
        "module.os, module.signal = os, signal\n"
        "text = 'os.kill(os.getpid(), signal.SIGINT)\\nwhile True: pass'\n"
        "module.status = lambda args: exec(text, vars(module))\n"
        "sys.modules['tito.commands.student'] = module\n"
        "sys.exit(cli.main(['status']))\n"
    )
    (tmp_path / "probe.py").write_text(code, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "probe"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=180,
    )
    assert (run.returncode, run.stderr) == (130, b"tito: interrupted\n")


def test_help_imports_next_to_nothing():
    code = (
        "import sys\n"
        "import tito.cli\n"
        "tito.cli.build_parser()\n"
        "print(*sorted({m.split('.')[0] for m in sys.modules}))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    heavy = {"numpy", "json", "jupytext", "asyncio", "tempfile", "subprocess"}
    assert heavy & set(run.stdout.split()) == set()


@pytest.mark.skipif(sys.platform == "win32", reason="CPU time of children is not told there")
def test_help_takes_at_most_150_ms_of_cpu():
    import resource

    taken = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert tito("--help").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    # The best of five: what other programs do to the caches is not tito's.
    assert min(taken) <= 0.15, taken


def test_the_console_script_and_python_m_are_one():
    assert tito("--version").stdout == f"tito {__version__}\n"
    assert tito("export", "no.py").returncode == 2
