"""Where in the package a directive sends a cell: checked names, paths, package folders."""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import PurePosixPath

from tito.errors import UserError

PACKAGE = "tinykernels"
_PART = re.compile(r"[a-z_][a-z0-9_]*")
# A file of such a name would be found instead of the library when it is run as a script.
_LIBRARIES = {"numpy", "numba", "llvmlite", "scipy", "matplotlib", "jupytext", "nbformat", "pytest"}
_WINDOWS = {"con", "prn", "aux", "nul", *(f"{p}{n}" for p in ("com", "lpt") for n in range(1, 10))}


def check(target: str) -> str:
    """The target, e.g. "simd.vec"; UserError where no file of the package can have that name."""
    if not target:
        raise UserError("no target is named", hint="write e.g. #| default_exp loops")
    parts = target.split(".")
    if "/" in target or "\\" in target or "" in parts:
        raise UserError(
            f"the target {target!r} lies outside the package",
            hint="write a dotted name below tinykernels, e.g. simd.vec",
        )
    if parts[0] == PACKAGE:
        raise UserError(
            f"the target {target!r} names the package itself",
            hint=f"write {'.'.join(parts[1:]) or 'a name below it'}: it stands below {PACKAGE}",
        )
    for part in parts:
        if why := _problem(part):
            raise UserError(f"the target {target!r} cannot be used: {why}")
    return target


def _problem(part: str) -> str | None:
    if not _PART.fullmatch(part) or (part.startswith("__") and part.endswith("__")):
        return f"{part!r} is no module name of lower-case letters, digits and _"
    if keyword.iskeyword(part):
        return f"{part!r} is a word of Python"
    if part in sys.stdlib_module_names or part in _LIBRARIES:
        return f"{part!r} is the name of a library, which the file could hide"
    if part in _WINDOWS:
        return f"{part!r} is no file name on Windows"
    return None


def file_of(target: str) -> PurePosixPath:
    """The target's file, relative to the package: "simd.vec" -> simd/vec.py."""
    *folders, name = target.split(".")
    return PurePosixPath(*folders, f"{name}.py")


def packages_of(target: str) -> list[str]:
    """The sub-packages that hold the target: "a.b.c" -> ["a", "a.b"]."""
    parts = target.split(".")[:-1]
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def import_name(target: str) -> str:
    return f"{PACKAGE}.{target}"
