"""Reading assembly: which blocks are innermost loops, and what is packed in them."""

import pytest

from tito.checks import all_code, inner_loops

X86 = """
\t.text
kernel:
\tpushq\t%rbp
\tvfmadd231ps\t%zmm0, %zmm1, %zmm2
.LBB0_1:
\txorl\t%eax, %eax
.LBB0_2:
\tvmovups\t(%rsi,%rax,4), %ymm1
\tvfmadd213ps\t(%rdi,%rax,4), %ymm0, %ymm1 ## a comment
\tvmovups\t%ymm1, (%rdi,%rax,4)
\taddq\t$8, %rax
\tcmpq\t%rax, %r8
\tjne\t.LBB0_2
\tvmaxps\t%xmm0, %xmm1, %xmm0
.LBB0_3:
\tvfmadd231ss\t(%rdi,%rax,4), %xmm0, %xmm1
\tcallq\t*%r14
\tincq\t%rax
\tjne\t.LBB0_3
\tjmp\t.LBB0_1
.LBB0_4:
\tvcvtps2pd\t%xmm1, %ymm1
\tvmulpd\t%ymm0, %ymm1, %ymm1
\tjl\t.LBB0_4
\tretq
"""
AARCH64 = """
kernel:
LBB0_2:
\tldp\tq1, q2, [x8, #-16]
\tfmla\tv1.4s, v0.4s, v3.4s
\tfcmgt\tv2.4s, v1.4s, v0.4s
\tsubs\tx9, x9, #8
\tb.ne\tLBB0_2
LBB0_3:
\tfmla.2d\tv1, v0, v3
\tfmadd\ts1, s0, s2, s1
\tcbnz\tx9, LBB0_3
\tret
"""


def test_a_loop_is_a_block_that_jumps_back_to_its_own_label():
    loops = inner_loops(X86)
    assert [len(loop.lines) for loop in loops] == [6, 4, 3]


def test_what_is_packed_in_x86_code():
    packed, scalar, double = inner_loops(X86)
    assert (packed.multiplies, packed.doubles, packed.calls, packed.bits) == (1, 0, 0, 256)
    assert (packed.stores, scalar.stores, double.stores) == (1, 0, 0)
    assert (scalar.multiplies, scalar.calls, scalar.bits) == (0, 1, 128)
    assert (double.multiplies, double.doubles, double.bits) == (1, 1, 256)


def test_what_is_packed_in_arm_code():
    packed, double = inner_loops(AARCH64)
    assert (packed.multiplies, packed.compares, packed.doubles, packed.bits) == (1, 1, 0, 128)
    assert (double.multiplies, double.doubles, double.bits) == (1, 1, 128)


def test_the_whole_text_has_no_labels_and_directives():
    code = all_code(X86)
    assert code.compares == 1 and code.multiplies == 3
    assert not any(line.startswith((".", "kernel")) for line in code.lines)


@pytest.mark.parametrize("text", ["", "no assembly at all", ".LBB0_1:\n\tjmp\t.LBB0_2\n"])
def test_without_a_loop_there_is_none(text):
    assert inner_loops(text) == []


def test_code_that_was_compiled_here():
    numba = pytest.importorskip("numba")
    numpy = pytest.importorskip("numpy")

    def add(x, y, factor):
        for i in range(len(x)):
            y[i] += factor * x[i]

    add = numba.njit(error_model="numpy", fastmath={"reassoc", "contract"})(add)
    add(numpy.ones(9, numpy.float32), numpy.ones(9, numpy.float32), numpy.float32(2))
    loops = inner_loops("\n".join(add.inspect_asm().values()))
    assert any(loop.multiplies for loop in loops)
    assert not any(loop.doubles or loop.calls for loop in loops)
