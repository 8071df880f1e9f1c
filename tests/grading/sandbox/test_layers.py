"""The layers together: names, order, what is missing, and the package on its own."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tito.grading.sandbox import available, is_isolating, landlock, layers, privileges, rlimits

PACKAGE = Path(layers.__file__).parent
ALL = {"namespaces", "tmpfs", "landlock", "capabilities", "rlimits", "seccomp"}
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="about Linux's layers")


def test_only_a_closed_file_system_is_isolation():
    assert is_isolating(["landlock7", "seccomp", "rlimits"])
    assert is_isolating(["landlock1"])
    assert is_isolating(["mounts"])
    assert not is_isolating(["seccomp", "rlimits", "capabilities"])
    assert not is_isolating([])


def test_package_imports_only_the_standard_library():
    for file in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 1 or node.module.split(".")[0] in sys.stdlib_module_names, file
                assert node.level < 2, f"{file.name} reaches out of the package"
            elif isinstance(node, ast.Import):
                for name in node.names:
                    assert name.name.split(".")[0] in sys.stdlib_module_names, file


@pytest.mark.parametrize("module", ["ctypes", "subprocess", "tempfile", "json", "numpy"])
def test_import_alone_loads_nothing_heavy(module):
    code = (
        f"import sys; before = set(sys.modules); sys.path.append({str(PACKAGE.parent)!r}); "
        f"import sandbox; assert {module!r} not in set(sys.modules) - before"
    )
    subprocess.run([sys.executable, "-I", "-c", code], check=True)


@LINUX
def test_available_names_what_a_child_gets(child):
    # The cage of these tests is the process itself: one of processes is for children.
    assert [n for n in available() if n != "pid namespace"] == child("pass").layers


@LINUX
def test_layers_can_be_left_out(child):
    answer = child("open('/etc/passwd').read()", without=ALL - {"rlimits"})
    assert answer.layers == ["rlimits"]
    assert answer.outcomes == "worked"
    assert child("pass", without=ALL).layers == []


@LINUX
def test_layer_that_is_missing_is_not_named(child):
    source = """
import sandbox, sandbox.landlock, sandbox.namespaces, sandbox.seccomp
def no_namespace(*_):
    raise PermissionError
sandbox.namespaces.call = no_namespace
sandbox.landlock.version = lambda: 0
sandbox.seccomp.MACHINES = {}
assert sandbox.confine(world.scratch, [], None, without=["capabilities"]) == ["rlimits"]
"""
    assert child(source, caged=False).outcomes == "worked"


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems_get_limits_at_most(child, platform):
    source = f"""
import os, sys, sandbox
sys.platform = {platform!r}
if sys.platform == "win32":
    sys.modules["resource"] = None
layers = sandbox.confine(world.scratch, sandbox.readable_paths(), None)
sys.platform = {sys.platform!r}
assert layers == ([] if {platform!r} == "win32" else ["rlimits"]), layers
assert os.getcwd() == os.path.realpath(world.scratch)
"""
    assert child(source, caged=False).outcomes == "worked"


def test_limits_are_taken_or_defaulted():
    class Partly:
        memory_bytes = 123 << 20

    wanted = rlimits.wanted(Partly())
    assert wanted["RLIMIT_AS"] == 123 << 20
    assert wanted["RLIMIT_FSIZE"] == rlimits.DEFAULTS["file_bytes"]
    assert wanted["RLIMIT_CPU"] == rlimits.DEFAULTS["cpu_seconds"]


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        ((1000, 2000), 10**6, (1000, 2000)),
        ((1000, 2000), 1500, (1000, 1500)),
        ((1000, -1), 500, (500, 500)),
        ((-1, -1), 500, (500, 500)),
    ],
)
def test_limits_are_never_raised(before, wanted, after):
    kept = []
    resource = SimpleNamespace(
        RLIM_INFINITY=-1,
        RLIMIT_FSIZE=1,
        getrlimit=lambda number: before,
        setrlimit=lambda number, values: kept.append(values),
    )
    rlimits.lower(resource, "RLIMIT_FSIZE", wanted)
    rlimits.lower(resource, "RLIMIT_UNKNOWN_HERE", wanted)
    assert kept == [after]


@LINUX
@pytest.mark.parametrize(("user", "kept"), [(None, 1 << 2), (65534, 0)])
def test_no_power_is_kept_but_roots_reading(child, user, kept):
    """An own namespace gives a plain user powers in it; they go too."""
    if os.geteuid() != 0:
        pytest.skip("starts as root")
    answer = child(
        f"""
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == {kept}, status["CapEff"]
assert int(status["NoNewPrivs"]) == 1
""",
        user=user,
    )
    assert answer.outcomes == "worked", answer.outcomes


def test_powers_that_cannot_be_dropped_are_not_called_dropped(monkeypatch):
    monkeypatch.setattr(privileges, "libc", lambda: SimpleNamespace(capset=lambda *_: -1))
    monkeypatch.setattr(privileges, "set_no_new_privileges", lambda: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    assert privileges.drop_capabilities() is None


@LINUX
def test_here_the_cage_has_walls():
    """Where the kernel has Landlock, the cage must use it: no quiet loss of isolation."""
    if landlock.version() == 0:
        pytest.skip("this kernel has no Landlock")
    assert is_isolating(available())
