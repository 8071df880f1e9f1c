"""Which instruction set a CPU's features stand for."""

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
    assert widest(flags.split()) == found


def test_this_machine_has_one_of_them():
    assert instruction_set() in INSTRUCTION_SETS


def test_what_cannot_be_read_is_generic(monkeypatch):
    monkeypatch.setattr(instructions, "features", lambda: ())
    assert instruction_set.__wrapped__() == "generic"


def test_what_the_system_and_numpy_tell_counts(monkeypatch):
    monkeypatch.setattr(instructions, "features", lambda: tuple(HASWELL.split()))
    assert instruction_set.__wrapped__() == "avx2"
