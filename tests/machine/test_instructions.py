"""Which instruction set a CPU's flags stand for."""

import pytest

from tito.machine import INSTRUCTION_SETS, instruction_set, instructions
from tito.machine.instructions import widest

ZEN5 = "fpu sse2 avx avx2 fma avx512f avx512bw avx512cd avx512dq avx512vl avx512_vnni"
HASWELL = "fpu sse2 avx avx2 fma bmi2"
KNIGHTS = "fpu sse2 avx avx2 fma avx512f avx512cd avx512er avx512pf"  # half of AVX-512
SANDY = "fpu sse2 avx"
ARM = "fp asimd sve sve2"


@pytest.mark.parametrize(
    ("flags", "found"),
    [(ZEN5, "avx512"), (HASWELL, "avx2"), (KNIGHTS, "avx2"), (SANDY, "generic"), (ARM, "generic")],
)
def test_the_widest_set_that_is_there_whole(flags, found):
    assert widest(frozenset(flags.split())) == found


def test_this_machine_has_one_of_them():
    assert instruction_set() in INSTRUCTION_SETS


@pytest.mark.parametrize("system", ["linux", "darwin", "win32", "sunos5"])
def test_what_cannot_be_read_is_generic(system, monkeypatch):
    def fails(*args, **kwargs):
        raise OSError("not here")

    monkeypatch.setattr(instructions.sys, "platform", system)
    monkeypatch.setattr(instructions.Path, "read_text", fails)
    monkeypatch.setattr(instructions.subprocess, "run", fails)
    assert instruction_set.__wrapped__() == "generic"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("hw.optional.avx2_0: 1\nhw.optional.avx512f: 0\n", "avx2"),
        ("hw.optional.avx2_0: 1\nhw.optional.avx512f: 1\n", "avx512"),
        ("hw.optional.neon: 1\n", "generic"),
    ],
)
def test_a_mac_is_asked_by_sysctl(said, found, monkeypatch):
    class Done:
        stdout = said

    monkeypatch.setattr(instructions.sys, "platform", "darwin")
    monkeypatch.setattr(instructions.subprocess, "run", lambda *a, **k: Done)
    assert instruction_set.__wrapped__() == found
