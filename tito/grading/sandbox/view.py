"""What student code must read: Python, its packages and libraries, and the machine's facts.

Never a whole environment or home: the course tree may lie beside or above its `.venv`, and a
package of reference solutions may be installed among the others.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from glob import glob
from pathlib import Path

# The course's own packages hold solutions and hidden tests; S gets its share in the staging folder.
HIDDEN_PACKAGES = ("tinykernels", "tito")

# Of a prefix (an environment, /usr, a conda folder). Not "share" as a whole: nbgrader's default
# exchange, with everybody's hand-ins, is /usr/local/share/nbgrader.
PREFIX_FOLDERS = (
    "lib",
    "lib64",
    "etc/fonts",
    "share/fonts",
    "share/fontconfig",
    "share/zoneinfo",
)
SYSTEM = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/usr/share/fontconfig",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/usr/share/terminfo",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/fonts",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/mime.types",
    "/dev/urandom",
    "/dev/random",
)
# What NumPy, Numba, psutil and module 01 ask about the machine, and the C library about itself.
MACHINE = (
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/vmstat",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/self/maps",
    "/proc/self/stat",
    "/proc/self/statm",
    "/proc/self/status",
    "/proc/self/limits",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage",
)
WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")


def readable_paths() -> list[Path]:
    """Files and folders that any student code may read; only such as exist.

    Where a folder holds a package that must stay hidden, its other entries stand here one by one.
    Ask in the process to be confined, or in one with the same interpreter.
    """
    hidden = set(_hidden())
    trees = _outermost(path for path in _candidates() if _harmless(path))
    kept = [part for tree in trees for part in _without(tree, hidden)]
    return [*kept, *(Path(path) for path in MACHINE if os.path.exists(path))]


def listed_folders(readable: Iterable[Path]) -> list[Path]:
    """Import folders of which only some entries are readable: imports must list them."""
    readable = {Path(path) for path in readable}
    parents = {path.parent for path in readable}
    return [folder for folder in _import_folders() if folder in parents - readable]


def _candidates() -> Iterator[Path]:
    """Folders of the interpreter, its packages and its libraries, links followed."""
    places = [os.path.join(prefix, name) for prefix in _prefixes() for name in PREFIX_FOLDERS]
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    places += [*_package_folders(), *SYSTEM, *filter(os.path.isabs, libraries)]
    for place in places:
        path = Path(place).resolve()
        if os.path.exists(path):
            yield path


def _prefixes() -> set[str]:
    return {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}


def _package_folders() -> list[str]:
    """Where this interpreter finds modules that are not the user's own."""
    standard = os.path.dirname(os.__file__)
    packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return [standard, *site.getsitepackages(), *packages, *user]


def _import_folders() -> list[Path]:
    places = [*sys.path, *_package_folders()]
    return list(dict.fromkeys(_resolved(place) for place in places if os.path.isabs(place)))


@lru_cache(maxsize=256)
def _resolved(place: str) -> Path:
    """The folder behind links; a warm parent looks once for all its forks."""
    return Path(place).resolve()


def _harmless(path: Path) -> bool:
    """Not a home or above one (a strange LD_LIBRARY_PATH, a prefix of "/")."""
    home = Path(os.path.expanduser("~")).resolve()
    return path != home and path not in home.parents


def _hidden() -> Iterator[Path]:
    """Copies of the course's packages, also where this interpreter does not look for any."""
    folders = _import_folders()
    for prefix in {*_prefixes(), "/usr", "/usr/local"}:
        folders += map(Path, glob(os.path.join(prefix, "lib*", "python3*", "*-packages")))
    for folder in folders:
        for name in HIDDEN_PACKAGES:
            path = folder / name
            if os.path.exists(path):
                yield path.resolve()


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """The paths that lie below no other."""
    found = set(paths)
    return sorted(path for path in found if not found.intersection(path.parents))


def _without(tree: Path, hidden: set[Path]) -> Iterator[Path]:
    """The tree, or, if something hidden lies in it, its parts that hold nothing hidden."""
    if tree in hidden:
        return
    if not any(tree in path.parents for path in hidden):
        yield tree
        return
    for entry in sorted(tree.iterdir()):
        if not entry.is_symlink():
            yield from _without(entry, hidden)
        elif not any(path == entry.resolve() or entry.resolve() in path.parents for path in hidden):
            yield entry
