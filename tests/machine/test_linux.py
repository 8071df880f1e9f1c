"""Linux: texts as several machines and containers write them."""

import doctest

import pytest

from tito.machine import linux
from tito.machine.caches import Cache

X86 = """\
processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Some Server CPU @ 2.00GHz
flags\t\t: fpu sse2 ssse3 sse4_1 avx fma avx2 rdtscp avx512f avx512_4fmaps

processor\t: 1
model name\t: Another CPU
flags\t\t: fpu
"""
ARM = """\
processor\t: 0
BogoMIPS\t: 108.00
Features\t: fp asimd evtstrm aes asimdhp cpuid asimddp
CPU implementer\t: 0x41

Hardware\t: BCM2835
Model\t\t: Small Board 4 Rev 1.4
"""
MEMINFO = "MemTotal:       16384000 kB\nMemFree:   100 kB\nMemAvailable:    8192000 kB\n"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without any file; returns a function that writes some."""

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    real = linux._text
    monkeypatch.setattr(linux, "CPUS", tmp_path / "cpus")
    monkeypatch.setattr(linux, "CGROUPS", tmp_path / "cgroups")
    monkeypatch.setattr(linux.os, "sched_getaffinity", lambda pid: {2, 3}, raising=False)
    monkeypatch.setattr(
        linux,
        "_text",
        lambda path: real(tmp_path / path.relative_to("/") if path.parts[1] == "proc" else path),
    )
    write.root = tmp_path
    return write


def index(machine, number, **entry):
    folder = machine.root / "cpus" / "cpu2" / "cache" / f"index{number}"
    folder.mkdir(parents=True)
    for name, text in entry.items():
        (folder / name).write_text(text + "\n")


def test_a_machine_without_its_files_tells_nothing(machine):
    assert linux.cpu() is None
    assert linux.features() == ()
    assert linux.caches() == ()
    assert linux.memory() is None and linux.free_memory() is None
    assert linux.cores(4) == 4 and linux.cores(None) is None


@pytest.mark.parametrize(
    ("text", "name", "features"),
    [
        (
            X86,
            "Some Server CPU @ 2.00GHz",
            ("sse2", "ssse3", "sse4_1", "avx", "fma", "avx2", "avx512f"),
        ),
        (ARM, "Small Board 4 Rev 1.4", ("asimd", "asimdhp", "asimddp")),
        ("", None, ()),
    ],
)
def test_the_processor(machine, text, name, features):
    machine(proc__cpuinfo=text)
    assert linux.cpu() == name
    assert linux.features() == features


def test_caches_of_a_cpu_that_this_process_may_use(machine):
    index(machine, 0, level="1", type="Data", size="48K", coherency_line_size="64")
    index(machine, 1, level="1", type="Instruction", size="32K", coherency_line_size="64")
    index(machine, 2, level="2", type="Unified", size="2048K", shared_cpu_list="2,14")
    index(machine, 3, level="3", type="Unified", size="33M", shared_cpu_list="0-11,14")
    assert linux.caches() == (
        Cache(1, "data", 48 * 1024, 64, None),
        Cache(2, "unified", 2 * 2**20, None, 2),
        Cache(3, "unified", 33 * 2**20, None, 13),
    )


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"level": "1", "type": "Data", "size": ""},
        {"level": "1", "type": "Data", "size": "lots"},
        {"level": "one", "type": "Data", "size": "32K"},
        {"level": "1", "type": "", "size": "32K"},
    ],
)
def test_a_cache_that_says_nonsense_is_none(entry):
    assert linux.parse_cache(entry) is None


def test_lines_and_lists_that_say_nonsense_are_unknown():
    entry = {"level": "2", "type": "Unified", "size": "1M", "coherency_line_size": "?"}
    assert linux.parse_cache({**entry, "shared_cpu_list": "0-"}) == Cache(2, "unified", 2**20)


def test_memory_of_a_machine_without_limits(machine):
    machine(proc__meminfo=MEMINFO, proc__self__cgroup="0::/user.slice\n")
    machine(**{"cgroups__user.slice__memory.max": "max\n"})
    assert linux.memory() == 16384000 * 1024
    assert linux.free_memory() == 8192000 * 1024


def test_the_least_limit_of_all_cgroups_above_counts(machine):
    machine(proc__meminfo=MEMINFO, proc__self__cgroup="0::/box/job\n")
    machine(
        **{
            "cgroups__box__memory.max": "2000000000\n",
            "cgroups__box__memory.current": "500000000\n",
            "cgroups__box__job__memory.max": "max\n",
        }
    )
    assert linux.memory() == 2000000000
    assert linux.free_memory() == 1500000000


def test_limits_of_version_1(machine):
    """Inside a container the path is the host's, and its own limits stand at the top."""
    machine(
        proc__meminfo=MEMINFO,
        proc__self__cgroup="5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n",
    )
    machine(
        **{
            "cgroups__memory__memory.limit_in_bytes": "1000000000\n",
            "cgroups__memory__memory.usage_in_bytes": "1000000001\n",
            "cgroups__cpu,cpuacct__cpu.cfs_quota_us": "150000\n",
            "cgroups__cpu,cpuacct__cpu.cfs_period_us": "100000\n",
        }
    )
    assert linux.memory() == 1000000000
    assert linux.free_memory() == 0
    assert linux.cores(8) == 2


def test_version_1_says_no_limit_by_a_large_number(machine):
    machine(proc__meminfo=MEMINFO, proc__self__cgroup="5:memory:/\n4:cpu:/\n")
    machine(
        **{
            "cgroups__memory__memory.limit_in_bytes": "9223372036854771712\n",
            "cgroups__cpu__cpu.cfs_quota_us": "-1\n",
            "cgroups__cpu__cpu.cfs_period_us": "100000\n",
        }
    )
    assert linux.memory() == 16384000 * 1024
    assert linux.cores(8) == 8
    machine(proc__meminfo="")
    assert linux.memory() is None


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("max 100000", 8), ("50000 100000", 1), ("200000 100000", 2), ("2000000 100000", 8)],
)
def test_a_quota_of_cpu_time_counts_as_so_many_cores(machine, quota, cores):
    machine(proc__self__cgroup="0::/\n")
    machine(**{"cgroups__cpu.max": quota})
    assert linux.cores(8) == cores


def test_the_examples_run():
    assert doctest.testmod(linux).failed == 0
