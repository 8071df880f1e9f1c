"""Names of students' files, made such that every system can keep them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from tito.grading.roster import is_device, readable

LONGEST_NAME, LONGEST_PATH, DEEPEST = 80, 120, 6
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}")


def safe_name(name: str) -> str:
    """The name itself where every system takes it, else a readable part, a hash, the ending.

    >>> safe_name("my notes.txt"), safe_name("nul.txt")
    ('my notes.txt', 'nul~54ab89d2b5.txt')
    """
    return name if _is_safe(name) else _marked(name)


def _is_safe(name: str) -> bool:
    return (
        0 < len(name) <= LONGEST_NAME
        and name.isascii()
        and name.isprintable()
        and not re.search(r'[<>:"/\\|?*~]', name)
        and name == name.strip(" ")
        and not name.startswith(".")
        and not name.endswith(".")
        and not is_device(name)
    )


def _marked(name: str) -> str:
    text = unicodedata.normalize("NFC", name)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    stem, dot, ending = text.rpartition(".")
    ending = dot + ending if stem and _ENDING.fullmatch(dot + ending) else ""
    return f"{readable(text.removesuffix(ending))}~{digest}{ending.lower()}"


def safe_paths(paths: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """A path to keep each file under, no two alike even where case does not count.

    Files keep their folders where that stays short; no file lies where another needs a folder.
    """
    kept: dict[tuple[str, ...], str] = {}
    taken: set[str] = set()
    for parts in paths:
        path = "/".join(safe_name(p) for p in parts)
        if len(parts) > DEEPEST or len(path) > LONGEST_PATH:
            path = _marked("/".join(parts))
        number = 2
        while _clashes(path.casefold(), taken):
            path = _marked("/".join((*parts, str(number))))
            number += 1
        kept[parts] = path
        taken.add(path.casefold())
    return kept


def _clashes(path: str, taken: set[str]) -> bool:
    above = path.split("/")[:-1]
    folders = {"/".join(above[: n + 1]) for n in range(len(above))}
    return path in taken or bool(folders & taken) or any(t.startswith(path + "/") for t in taken)
