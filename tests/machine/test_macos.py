"""macOS: what sysctl and vm_stat print on a Mac of each kind. Nothing here was run on one."""

import subprocess

import pytest

from tito.machine import macos
from tito.machine.caches import Cache

INTEL = """\
hw.ncpu: 8
hw.memsize: 17179869184
hw.cachelinesize: 64
hw.l1icachesize: 32768
hw.l1dcachesize: 32768
hw.l2cachesize: 262144
hw.l3cachesize: 6291456
hw.cacheconfig: 8 2 2 8 0 0 0 0 0 0
hw.optional.sse2: 1
hw.optional.avx1_0: 1
hw.optional.avx2_0: 1
hw.optional.fma: 1
hw.optional.f16c: 1
hw.optional.avx512f: 0
machdep.cpu.brand_string: Intel(R) Core(TM) i5-0000U CPU @ 1.00GHz
"""
APPLE = """\
hw.ncpu: 8
hw.memsize: 8589934592
hw.cachelinesize: 128
hw.l1dcachesize: 65536
hw.l2cachesize: 4194304
hw.cacheconfig: 8 1 4 0 0 0 0 0 0 0
hw.perflevel0.l1icachesize: 196608
hw.perflevel0.l1dcachesize: 131072
hw.perflevel0.l2cachesize: 12582912
hw.perflevel0.cpusperl2: 4
hw.perflevel1.l1dcachesize: 65536
hw.perflevel1.l2cachesize: 4194304
hw.perflevel1.cpusperl2: 4
hw.optional.neon: 1
hw.optional.neon_fp16: 1
hw.optional.arm.FEAT_DotProd: 1
hw.optional.arm.FEAT_BF16: 0
machdep.cpu.brand_string: Apple M9
"""
VM_STAT = """\
Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               10000.
Pages active:                            200000.
Pages inactive:                           20000.
Pages speculative:                         1000.
Pages throttled:                              0.
"""


@pytest.fixture
def said(monkeypatch):
    """A function that sets what the system's programs print."""

    def say(sysctl, vm_stat=""):
        def run(command, **kwargs):
            text = {"/usr/sbin/sysctl": sysctl, "/usr/bin/vm_stat": vm_stat}[command[0]]
            return subprocess.CompletedProcess(command, 0, stdout=text)

        monkeypatch.setattr(macos.subprocess, "run", run)

    macos._sysctl.cache_clear()
    yield say
    macos._sysctl.cache_clear()


def test_a_mac_of_intel(said):
    said(INTEL)
    assert macos.cpu() == "Intel(R) Core(TM) i5-0000U CPU @ 1.00GHz"
    assert macos.features() == ("sse2", "avx", "f16c", "fma", "avx2")
    assert macos.memory() == 16 * 2**30
    assert macos.caches() == (
        Cache(1, "data", 32 * 1024, 64, 2),
        Cache(2, "unified", 256 * 1024, 64, 2),
        Cache(3, "unified", 6 * 2**20, 64, 8),
    )


def test_a_mac_of_apple_tells_of_its_fast_cores(said):
    said(APPLE, VM_STAT)
    assert macos.cpu() == "Apple M9"
    assert macos.features() == ("asimd", "asimdhp", "asimddp")
    assert macos.caches() == (
        Cache(1, "data", 128 * 1024, 128, 1),
        Cache(2, "unified", 12 * 2**20, 128, 4),
    )
    assert macos.free_memory() == 31000 * 16384


def test_an_older_system_on_apple_s_chips_has_no_levels(said):
    said("".join(line for line in APPLE.splitlines(True) if "perflevel" not in line))
    assert macos.caches() == (
        Cache(1, "data", 64 * 1024, 128, 1),
        Cache(2, "unified", 4 * 2**20, 128, 4),
    )


@pytest.mark.parametrize("text", ["", "sysctl: unknown oid 'hw'\n", "hw.memsize: many\n"])
def test_what_sysctl_does_not_say_is_unknown(said, text):
    said(text, text)
    assert (macos.cpu(), macos.features(), macos.caches()) == (None, (), ())
    assert macos.memory() is None and macos.free_memory() is None
    assert macos.cores(8) == 8


@pytest.mark.parametrize("error", [FileNotFoundError("sysctl"), subprocess.TimeoutExpired("s", 5)])
def test_no_sysctl_no_facts(said, monkeypatch, error):
    def fails(*args, **kwargs):
        raise error

    monkeypatch.setattr(macos.subprocess, "run", fails)
    assert macos.cpu() is None and macos.caches() == ()
