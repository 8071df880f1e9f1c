"""Sealed boxes: they do the work that is counted, on the vectors they are named for."""

import numpy as np
import pytest

from tito.machine import boxes, hardware

pytest.importorskip("numba")

WIDTHS = boxes.widths(hardware.features())
if not WIDTHS:
    pytest.skip("no vectors are known for this CPU", allow_module_level=True)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_chain_counts_in_the_sum(dtype, fused):
    """A turn makes x/2 + 1/2 of each number: 0, 1/2, 3/4, ..."""
    lanes = WIDTHS[-1] // (8 * np.dtype(dtype).itemsize)
    box = boxes.multiply_add(dtype, WIDTHS[-1], fused)
    assert [box(turns) for turns in (0, 1, 2)] == [
        0,
        *(lanes * boxes.CHAINS * x for x in (0.5, 0.75)),
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_every_number_is_read(width):
    array = boxes.aligned("int32", 3 * boxes.UNROLL * width // 8)
    array[:] = np.arange(array.size)
    assert boxes.read(width)(array, 2) == 2 * array.sum()


@pytest.mark.parametrize("width", WIDTHS)
def test_every_number_is_copied(width):
    source = boxes.aligned("int32", 3 * boxes.UNROLL * width // 8)
    source[:] = np.arange(source.size)
    target = np.zeros_like(source)
    boxes.copy(width)(source, target, 1)
    np.testing.assert_array_equal(target, source)


def test_an_array_may_lie_anywhere():
    """A load that takes its vector's alignment for granted would end the process here."""
    room = boxes.aligned("int32", boxes.UNROLL * WIDTHS[-1] // 8 + 4)
    assert boxes.read(WIDTHS[-1])(room[1:], 1) == room.size - 1


def test_compiled_code_uses_vectors_of_that_width():
    registers = {128: "xmm", 256: "ymm", 512: "zmm"}
    if hardware.platform.machine().lower() not in ("x86_64", "amd64"):
        pytest.skip("names of x86")
    for width in WIDTHS:
        assembly = next(iter(boxes.multiply_add("float32", width).inspect_asm().values()))
        fused = [line for line in assembly.splitlines() if "vfmadd" in line and "ps" in line]
        assert len(fused) >= boxes.CHAINS, "each chain is a multiply-add of its own"
        assert all(registers[width] in line for line in fused)


@pytest.mark.parametrize("nbytes", [4, 64, 1000])
def test_arrays_begin_on_a_line(nbytes):
    array = boxes.aligned("int32", nbytes)
    assert array.ctypes.data % boxes.LINE == 0
    assert array.nbytes == nbytes and (array == 1).all()


@pytest.mark.parametrize(
    ("features", "machine", "widths"),
    [
        ("sse2", "x86_64", (128,)),
        ("sse2 avx", "AMD64", (128, 256)),
        ("sse2 avx fma avx2 avx512f", "x86_64", (128, 256, 512)),
        ("asimd sve", "arm64", (128,)),
        ("asimd", "aarch64", (128,)),
        ("", "riscv64", ()),
    ],
)
def test_a_width_that_the_cpu_lacks_is_not_run(features, machine, widths):
    assert boxes.widths(tuple(features.split()), machine) == widths
