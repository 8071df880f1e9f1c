"""What Windows tells about the machine, by ctypes and the registry.

Written from Microsoft's documentation of GetLogicalProcessorInformationEx,
IsProcessorFeaturePresent and GlobalMemoryStatusEx; never run on Windows by its authors. What
cannot be asked is None or empty.
"""

from __future__ import annotations

import ctypes
import struct

from tito.machine import features as known
from tito.machine.caches import Cache, in_order

# The numbers of IsProcessorFeaturePresent (winnt.h).
_PRESENT = {
    10: "sse2",
    36: "ssse3",
    37: "sse4_1",
    38: "sse4_2",
    39: "avx",
    40: "avx2",
    41: "avx512f",
    19: "asimd",
    43: "asimddp",
    46: "sve",
    47: "sve2",
}
_RELATION_CACHE = 2
_KINDS = {0: "unified", 2: "data"}  # 1 holds instructions, 3 is a trace cache


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX; lengths in bytes."""

    _fields_ = [
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("page_total", ctypes.c_uint64),
        ("page_available", ctypes.c_uint64),
        ("virtual_total", ctypes.c_uint64),
        ("virtual_available", ctypes.c_uint64),
        ("extended", ctypes.c_uint64),
    ]


def cpu() -> str | None:
    """The processor's name, from the registry."""
    try:
        import winreg

        path = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
            return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip() or None
    except (ImportError, OSError):
        return None


def features() -> tuple[str, ...]:
    """Instruction sets that the system lets programs use. Windows has no number for FMA."""
    kernel = _kernel32()
    if kernel is None:
        return ()
    there = [name for code, name in _PRESENT.items() if kernel.IsProcessorFeaturePresent(code)]
    return known.in_order(there)


def caches() -> tuple[Cache, ...]:
    """The caches, as the system lists them."""
    return parse_caches(_relations())


def memory() -> int | None:
    """Bytes of memory."""
    status = _memory_status()
    return int(status.total) if status else None


def free_memory() -> int | None:
    """Bytes that can be had without pushing anything out."""
    status = _memory_status()
    return int(status.available) if status else None


def cores(allowed: int | None) -> int | None:
    """Limits of a job object are not read: the same number."""
    return allowed


def parse_caches(records: bytes) -> tuple[Cache, ...]:
    """From SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX records of the relation "cache".

    A record: relation and size of the record (4 bytes each), level, associativity (1, 1), line
    (2), size of the cache, kind (4, 4), reserved (18), number of groups (2; 0 on old systems,
    which means 1), then for each group the mask of its CPUs (8 or 4) and padding.
    """
    found, at = [], 0
    while at + 8 <= len(records):
        relation, length = struct.unpack_from("<II", records, at)
        if length < 8:
            break
        record = records[at : at + length]
        at += length
        if relation == _RELATION_CACHE and len(record) >= 40:
            found.append(_parse_cache(record))
    return in_order(cache for cache in found if cache)


def _parse_cache(record: bytes) -> Cache | None:
    level, _, line, size, kind = struct.unpack_from("<BBHII", record, 8)
    if kind not in _KINDS or not size:
        return None
    (groups,) = struct.unpack_from("<H", record, 38)
    # A group: its mask, as long as a pointer, its number, and six bytes unused.
    pointer = struct.calcsize("P")
    masks = [record[at : at + pointer] for at in range(40, len(record), pointer + 8)]
    cpus = sum(int.from_bytes(mask, "little").bit_count() for mask in masks[: groups or 1])
    return Cache(level, _KINDS[kind], size, line or None, cpus or None)


def _relations() -> bytes:
    kernel = _kernel32()
    if kernel is None:
        return b""
    length = ctypes.c_uint32(0)
    kernel.GetLogicalProcessorInformationEx(_RELATION_CACHE, None, ctypes.byref(length))
    if not length.value:
        return b""
    buffer = ctypes.create_string_buffer(length.value)
    if not kernel.GetLogicalProcessorInformationEx(_RELATION_CACHE, buffer, ctypes.byref(length)):
        return b""
    return buffer.raw[: length.value]


def _memory_status() -> _MemoryStatus | None:
    kernel = _kernel32()
    if kernel is None:
        return None
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    return status if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _kernel32() -> ctypes.CDLL | None:
    """The system's library; None elsewhere."""
    windll = getattr(ctypes, "windll", None)
    return windll.kernel32 if windll else None
