"""The folders that student code may read: enough for Python, nothing of the course."""

import sys
from pathlib import Path

import pytest

from tito.grading.sandbox import readable_paths, view

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the view is used on Linux only")
CHECKOUT = Path(__file__).parents[3]


def covers(paths, wanted):
    """Whether a path or one of its parents is among the readable."""
    return any(path == wanted or path in wanted.parents for path in paths)


def test_checkout_home_and_root_are_not_readable():
    paths = readable_paths()
    for secret in (CHECKOUT, CHECKOUT / "modules", CHECKOUT / "tito", Path.home(), Path("/")):
        assert not covers(paths, secret.resolve()), secret


def test_packages_and_standard_library_are_readable():
    paths = readable_paths()
    for name in ("json", "ctypes", "numpy"):
        assert covers(paths, Path(__import__(name).__file__).resolve()), name


def test_exchange_of_a_prefix_is_not_readable(tmp_path, monkeypatch):
    """nbgrader's default, with everybody's hand-ins, is /usr/local/share/nbgrader/exchange."""
    for folder in ("lib", "share/nbgrader/exchange"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    paths = readable_paths()
    assert covers(paths, tmp_path / "lib")
    for prefix in (tmp_path, Path("/usr/local")):
        assert not covers(paths, prefix / "share/nbgrader/exchange")


def test_installed_reference_package_is_left_out_and_its_neighbours_stay(tmp_path, monkeypatch):
    packages = tmp_path / "lib" / "site-packages"
    for name in ("tinykernels", "tito", "neighbour", "tinykernels-1.0.dist-info"):
        (packages / name).mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    paths = readable_paths()
    assert covers(paths, packages / "neighbour")
    assert covers(paths, packages / "tinykernels-1.0.dist-info")
    for hidden in ("tinykernels", "tito"):
        assert not covers(paths, packages / hidden / "loops.py"), hidden
    assert packages in view.listed_folders(paths)


def test_reference_package_of_the_base_python_is_left_out(tmp_path, monkeypatch):
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    (packages / "tinykernels").mkdir(parents=True)
    (packages / "neighbour").mkdir()
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    paths = readable_paths()
    assert covers(paths, packages / "neighbour")
    assert not covers(paths, packages / "tinykernels")


def test_links_to_hidden_packages_are_left_out(tmp_path, monkeypatch):
    packages = tmp_path / "lib" / "site-packages"
    (packages / "tito").mkdir(parents=True)
    (packages / "other_name").symlink_to(packages / "tito")
    (packages / "whole").symlink_to(packages)
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    assert not [path for path in readable_paths() if path.name in ("other_name", "whole")]


def test_library_path_may_add_folders_but_no_home(tmp_path, monkeypatch):
    (tmp_path / "lib").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    places = (tmp_path / "lib", tmp_path, home, Path("relative"), Path("/"))
    monkeypatch.setenv("LD_LIBRARY_PATH", ":".join(map(str, places)))
    paths = readable_paths()
    assert tmp_path / "lib" in paths
    assert not {tmp_path, home, Path("relative"), Path("/")} & set(paths)


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
def test_hidden_package_cannot_be_imported_in_the_cage(child, tmp_path):
    packages = tmp_path / "site-packages"
    for name in ("tinykernels", "neighbour"):
        (packages / name).mkdir(parents=True)
        (packages / name / "__init__.py").write_text("answer = 42\n")
    answer = child(
        f"""
import sys
sys.path.append({str(packages)!r})
import sandbox
layers = sandbox.confine(world.scratch, sandbox.readable_paths(), None)
import neighbour
assert neighbour.answer == 42
if sandbox.is_isolating(layers):
    try:
        import tinykernels
    except (ImportError, OSError):
        pass
    else:
        raise AssertionError("the solutions can be imported")
else:
    raise OSError("no Landlock")
""",
        caged=False,
    )
    if answer.outcomes.startswith("refused: no Landlock"):
        pytest.skip("no Landlock here")
    assert answer.outcomes == "worked", answer.outcomes
