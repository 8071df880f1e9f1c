"""Windows: records laid out as Microsoft documents them. Nothing here was run on Windows."""

import ctypes
import struct

import pytest

from tito.machine import windows
from tito.machine.caches import Cache

KIB, MIB = 2**10, 2**20
UNIFIED, INSTRUCTIONS, DATA, TRACE = range(4)


def cache_record(level, kind, size, masks=(1,), groups=None, line=64):
    """A record of RelationCache; `groups` 0 is what systems before Windows 11 write."""
    count = len(masks) if groups is None else groups
    body = struct.pack("<BBHII18xH", level, 8, line, size, kind, count)
    pointer = "<Q" if struct.calcsize("P") == 8 else "<I"
    body += b"".join(struct.pack(pointer, mask) + struct.pack("<H6x", 0) for mask in masks)
    return struct.pack("<II", 2, 8 + len(body)) + body


def core_record():
    return struct.pack("<II", 0, 48) + bytes(40)


def test_the_caches_of_a_laptop():
    records = [
        core_record(),
        cache_record(1, DATA, 48 * KIB, (0b11,)),
        cache_record(1, INSTRUCTIONS, 32 * KIB, (0b11,)),
        cache_record(2, UNIFIED, 1280 * KIB, (0b11,)),
        cache_record(1, DATA, 32 * KIB, (0b1100,)),  # a slow core: the first one counts
        cache_record(3, UNIFIED, 12 * MIB, (0b1111,)),
    ]
    assert windows.parse_caches(b"".join(records)) == (
        Cache(1, "data", 48 * KIB, 64, 2),
        Cache(2, "unified", 1280 * KIB, 64, 2),
        Cache(3, "unified", 12 * MIB, 64, 4),
    )


@pytest.mark.parametrize(("groups", "cpus"), [(0, 8), (1, 8), (2, 72)])
def test_groups_of_cpus(groups, cpus):
    masks = (0xFF, 2**64 - 1 if struct.calcsize("P") == 8 else 2**32 - 1)
    if struct.calcsize("P") == 4 and groups == 2:
        cpus = 40
    record = cache_record(3, UNIFIED, 64 * MIB, masks, groups)
    assert windows.parse_caches(record)[0].shared_by == cpus


@pytest.mark.parametrize(
    "records",
    [
        b"",
        b"\x02",
        bytes(64),
        core_record(),
        cache_record(1, DATA, 0),
        cache_record(1, TRACE, 32 * KIB),
        struct.pack("<II", 2, 16) + bytes(8),
        struct.pack("<II", 2, 0) + cache_record(1, DATA, 32 * KIB),
        cache_record(1, DATA, 32 * KIB)[:39],
    ],
)
def test_what_is_no_cache_gives_none(records):
    assert windows.parse_caches(records) == ()


def test_a_line_of_0_is_unknown():
    assert windows.parse_caches(cache_record(1, DATA, KIB, line=0))[0].line is None


class Kernel32:
    """The few functions of the system that are called, on a machine with 4 GiB and AVX2."""

    records = cache_record(1, DATA, 32 * KIB) + cache_record(2, UNIFIED, MIB)

    def IsProcessorFeaturePresent(self, code):
        return int(code in (10, 39, 40))

    def GetLogicalProcessorInformationEx(self, relation, buffer, length):
        assert relation == 2
        length._obj.value = len(self.records)
        if buffer is None:
            return 0
        ctypes.memmove(buffer, self.records, len(self.records))
        return 1

    def GlobalMemoryStatusEx(self, status):
        assert status._obj.length == ctypes.sizeof(status._obj) == 64
        status._obj.total, status._obj.available = 4 * 2**30, 2**30
        return 1


def test_the_system_is_asked(monkeypatch):
    monkeypatch.setattr(windows, "_kernel32", Kernel32)
    assert windows.features() == ("sse2", "avx", "avx2")
    assert [cache.name for cache in windows.caches()] == ["L1", "L2"]
    assert windows.memory() == 4 * 2**30 and windows.free_memory() == 2**30


def test_a_system_that_refuses_tells_nothing(monkeypatch):
    class Refusing(Kernel32):
        def GetLogicalProcessorInformationEx(self, relation, buffer, length):
            length._obj.value = 48
            return 0

        def GlobalMemoryStatusEx(self, status):
            return 0

    monkeypatch.setattr(windows, "_kernel32", Refusing)
    assert windows.caches() == () and windows.memory() is None


@pytest.mark.skipif(hasattr(ctypes, "windll"), reason="this is Windows")
def test_elsewhere_nothing_is_known():
    assert windows.cpu() is None and windows.features() == () and windows.caches() == ()
    assert windows.memory() is None and windows.free_memory() is None
    assert windows.cores(4) == 4
