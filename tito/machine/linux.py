"""What Linux tells about the machine: /proc, /sys and the limits of a container (cgroups).

Every file may be missing (a container without /sys, another CPU): then nothing is known.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tito.machine import features as known
from tito.machine.caches import Cache, in_order

CPUS = Path("/sys/devices/system/cpu")
CGROUPS = Path("/sys/fs/cgroup")
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_NO_LIMIT = 2**60  # version 1 says "no limit" by a number near 2**63


def cpu() -> str | None:
    """The processor's name."""
    return parse_model(_text(Path("/proc/cpuinfo")))


def features() -> tuple[str, ...]:
    """Instruction sets that the kernel lets programs use."""
    return parse_features(_text(Path("/proc/cpuinfo")))


def caches() -> tuple[Cache, ...]:
    """The caches of a CPU that this process may run on."""
    folders = sorted(_cpu_folder().glob("cache/index*"))
    names = ("level", "type", "size", "coherency_line_size", "shared_cpu_list")
    entries = ({name: _text(folder / name).strip() for name in names} for folder in folders)
    return in_order(cache for entry in entries if (cache := parse_cache(entry)))


def memory() -> int | None:
    """Bytes that this process may use: the machine's memory, or less where a cgroup says so."""
    whole = parse_meminfo(_text(Path("/proc/meminfo")), "MemTotal")
    granted = [limit for limit, _ in _memory_limits()]
    return min((size for size in (whole, *granted) if size is not None), default=None)


def free_memory() -> int | None:
    """Bytes that can be had without pushing anything out."""
    free = parse_meminfo(_text(Path("/proc/meminfo")), "MemAvailable")
    left = [max(0, limit - used) for limit, used in _memory_limits()]
    return min((size for size in (free, *left) if size is not None), default=None)


def cores(allowed: int | None) -> int | None:
    """`allowed`, or fewer where a cgroup grants less CPU time than that."""
    quotas = []
    for folder in _cgroups("cpu"):
        period = _text(folder / "cpu.cfs_period_us")
        texts = (_text(folder / "cpu.max"), f"{_text(folder / 'cpu.cfs_quota_us')} {period}")
        quotas += [quota for text in texts if (quota := parse_quota(text))]
    counts = [math.ceil(quota) for quota in quotas]
    return min([*([allowed] if allowed else []), *counts], default=None)


def parse_model(cpuinfo: str) -> str | None:
    """The name in /proc/cpuinfo, which x86, ARM boards and MIPS spell differently."""
    match = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return match[1].strip() if match else None


def parse_features(cpuinfo: str) -> tuple[str, ...]:
    """From the line "flags" (x86) or "Features" (ARM) of /proc/cpuinfo."""
    match = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return known.in_order(match[1].split()) if match else ()


def parse_cache(entry: Mapping[str, str]) -> Cache | None:
    """A cache from the files of one index folder; None for instructions or nonsense.

    >>> parse_cache({"level": "2", "type": "Unified", "size": "1024K", "shared_cpu_list": "0,4"})
    Cache(level=2, kind='unified', size=1048576, line=None, shared_by=2)
    """
    kind = entry.get("type", "").lower()
    size = re.fullmatch(r"(\d+)([KMG]?)", entry.get("size", ""))
    level = entry.get("level", "")
    if kind not in ("data", "unified") or not size or not level.isdigit():
        return None
    line = entry.get("coherency_line_size", "")
    return Cache(
        level=int(level),
        kind=kind,
        size=int(size[1]) * _UNITS[size[2]],
        line=int(line) if line.isdigit() else None,
        shared_by=count_cpus(entry.get("shared_cpu_list", "")),
    )


def count_cpus(listed: str) -> int | None:
    """How many CPUs a list of the kernel names.

    >>> count_cpus("0-3,8-11"), count_cpus("5"), count_cpus("")
    (8, 1, None)
    """
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", listed):
        return None
    ends = [part.split("-") for part in listed.split(",")]
    return sum(int(pair[-1]) - int(pair[0]) + 1 for pair in ends)


def parse_meminfo(text: str, name: str) -> int | None:
    """One line of /proc/meminfo, in bytes."""
    match = re.search(rf"^{name}:\s*(\d+) kB$", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def parse_limit(text: str) -> int | None:
    """Bytes that a cgroup grants; None for "max" and for numbers that mean it."""
    word = text.strip()
    return int(word) if word.isdigit() and int(word) < _NO_LIMIT else None


def parse_quota(text: str) -> float | None:
    """CPUs' worth of time that a cgroup grants, from "quota period"; None for no limit.

    >>> parse_quota("150000 100000"), parse_quota("max 100000"), parse_quota("-1 100000")
    (1.5, None, None)
    """
    match = re.fullmatch(r"\s*(\d+)\s+(\d+)\s*", text)
    return int(match[1]) / int(match[2]) if match and int(match[2]) and int(match[1]) else None


def parse_cgroups(text: str, controller: str) -> list[str]:
    """Where this process stands in the trees of cgroups, from /proc/self/cgroup.

    Version 2 has one tree ("0::/user.slice"), version 1 one for each controller.

    >>> parse_cgroups("4:memory:/a/b\\n3:cpu,cpuacct:/\\n0::/c\\n", "memory")
    ['memory/a/b', 'c']
    """
    places = []
    for line in text.splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            places.append(path.strip("/"))
        elif controller in controllers.split(","):
            places.append(f"{controllers}/{path.strip('/')}".rstrip("/"))
    return places


def _memory_limits() -> list[tuple[int, int]]:
    """(bytes granted, bytes in use) of every cgroup that limits this process."""
    names = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
    found = []
    for folder in _cgroups("memory"):
        for limit, usage in names:
            granted = parse_limit(_text(folder / limit))
            if granted is not None:
                found.append((granted, parse_limit(_text(folder / usage)) or 0))
    return found


def _cgroups(controller: str) -> list[Path]:
    """The folders of the own cgroup and of all above it: the least limit counts."""
    places = parse_cgroups(_text(Path("/proc/self/cgroup")), controller)
    return [folder for place in places for folder in _upwards(CGROUPS / place)]


def _upwards(folder: Path) -> Iterator[Path]:
    while CGROUPS in (folder, *folder.parents):
        yield folder
        folder = folder.parent


def _cpu_folder() -> Path:
    try:
        allowed = min(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        allowed = 0
    return CPUS / f"cpu{allowed}"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
