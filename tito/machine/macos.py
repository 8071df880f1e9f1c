"""What macOS tells about the machine, by `sysctl`.

Written from Apple's documentation and recorded output; never run on a Mac by its authors. What
`sysctl` does not answer is None or empty.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache

from tito.machine import features as known
from tito.machine.caches import Cache, in_order

# Apple's names in hw.optional -> ours. Those of ARM stand below "arm." since macOS 12.
_OPTIONAL = {
    "sse2": "sse2",
    "supplementalsse3": "ssse3",
    "sse4_1": "sse4_1",
    "sse4_2": "sse4_2",
    "avx1_0": "avx",
    "f16c": "f16c",
    "fma": "fma",
    "avx2_0": "avx2",
    "avx512f": "avx512f",
    "avx512cd": "avx512cd",
    "avx512bw": "avx512bw",
    "avx512dq": "avx512dq",
    "avx512vl": "avx512vl",
    "neon": "asimd",
    "AdvSIMD": "asimd",
    "arm.AdvSIMD": "asimd",
    "neon_fp16": "asimdhp",
    "arm.FEAT_FP16": "asimdhp",
    "arm.FEAT_DotProd": "asimddp",
    "arm.FEAT_I8MM": "i8mm",
    "arm.FEAT_BF16": "bf16",
    "arm.FEAT_SME": "sme",
}


def cpu() -> str | None:
    """The processor's name."""
    return parse(_sysctl()).get("machdep.cpu.brand_string") or None


def features() -> tuple[str, ...]:
    """Instruction sets that the system lets programs use."""
    return parse_features(parse(_sysctl()))


def caches() -> tuple[Cache, ...]:
    """The caches of a fast core."""
    return parse_caches(parse(_sysctl()))


def memory() -> int | None:
    """Bytes of memory."""
    return _number(parse(_sysctl()), "hw.memsize")


def free_memory() -> int | None:
    """Bytes on free, inactive and speculative pages: what can be had without swapping."""
    return parse_vm_stat(_output(("/usr/bin/vm_stat",)))


def cores(allowed: int | None) -> int | None:
    """macOS limits no process to fewer."""
    return allowed


def parse(text: str) -> dict[str, str]:
    """The lines "name: value" of sysctl."""
    lines = (line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return {name.strip(): value.strip() for name, value in lines}


def parse_features(values: dict[str, str]) -> tuple[str, ...]:
    """From hw.optional: a feature is there when it says 1."""
    there = [ours for name, ours in _OPTIONAL.items() if values.get(f"hw.optional.{name}") == "1"]
    return known.in_order(there)


def parse_caches(values: dict[str, str]) -> tuple[Cache, ...]:
    """Levels 1 to 3. Apple's own chips have two kinds of cores: perflevel0 are the fast ones."""
    fast = "hw.perflevel0."
    line = _number(values, "hw.cachelinesize")
    shared = _shared_by(values.get("hw.cacheconfig", ""))
    found = []
    for level, name in ((1, "l1dcachesize"), (2, "l2cachesize"), (3, "l3cachesize")):
        size = _number(values, fast + name) or _number(values, f"hw.{name}")
        cpus = _number(values, f"{fast}cpusper{name[:2]}") or (
            None if fast + name in values else shared.get(level)
        )
        if fast + name in values and level == 1:
            cpus = 1
        if size:
            found.append(Cache(level, "data" if level == 1 else "unified", size, line, cpus))
    return in_order(found)


def parse_vm_stat(text: str) -> int | None:
    """Bytes of free, inactive and speculative pages in what vm_stat prints."""
    page = re.search(r"page size of (\d+) bytes", text)
    counts = re.findall(r"^Pages (?:free|inactive|speculative):\s+(\d+)\.", text, re.MULTILINE)
    return int(page[1]) * sum(map(int, counts)) if page and counts else None


def _shared_by(config: str) -> dict[int, int]:
    """hw.cacheconfig lists how many CPUs share memory, then level 1, 2, 3; 0 ends the list."""
    counts = [int(word) for word in config.split() if word.isdigit()]
    return {level: count for level, count in enumerate(counts) if level and count}


def _number(values: dict[str, str], name: str) -> int | None:
    word = values.get(name, "")
    return int(word) if word.isdigit() and int(word) else None


@cache
def _sysctl() -> str:
    return _output(("/usr/sbin/sysctl", "hw", "machdep.cpu"))


def _output(command: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout
