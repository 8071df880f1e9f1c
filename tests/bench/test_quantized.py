"""Workloads of bytes and of 4-bit weights: exact results, whose bytes count, and from where."""

import json
import types
from itertools import pairwise

import numpy as np
import pytest

from tests.bench import course
from tests.bench.reports import MACHINE, row
from tito.bench import run, turns
from tito.bench.export import to_json
from tito.bench.ladders import WORKLOADS
from tito.bench.results import Report, Table
from tito.bench.sizes import chosen
from tito.bench.table import text
from tito.bench.trial import Contender, Problem, attempt
from tito.bench.turns import Turns, in_turn, size_of
from tito.bench.workload import Kernel, arguments
from tito.errors import UsageError

INT8, Q4 = WORKLOADS["int8"], WORKLOADS["q4"]


def exact(a, b):
    return a.astype(np.int32) @ b.astype(np.int32)


def verdict(function, **options):
    return attempt(Contender("kernel", function, **options), Problem(INT8, (6, 40, 5)), 1).reason


def test_a_product_of_bytes_has_to_be_exact_and_whole():
    assert verdict(exact) is None
    assert "wrong result" in verdict(lambda a, b: exact(a, b) + (np.arange(5) == 3))
    assert "int32" in verdict(lambda a, b: exact(a, b).astype(np.float32))
    assert "int32" in verdict(lambda a, b: exact(a, b).astype(np.int64))


def test_a_peer_may_give_floats_and_is_held_to_their_rounding():
    floats = np.dtype(np.float32)
    assert verdict(lambda a, b: exact(a, b).astype(floats), result=floats) is None
    assert "wrong result" in verdict(lambda a, b: exact(a, b) * floats.type(1.01), result=floats)


def test_a_long_call_is_taken_where_the_workload_says_so(monkeypatch):
    """The float32 product that all others stand beside is measured at every size."""
    from tito.bench import trial

    monkeypatch.setattr(trial, "LONGEST_CALL", 1e-9)
    monkeypatch.setattr(trial, "_elsewhere", lambda *args: None)  # looks for so long only
    assert verdict(exact) is None
    gemm = Problem(WORKLOADS["gemm"], (6, 40, 5))
    assert "limit is 1e-09 s" in attempt(Contender("kernel", np.matmul), gemm, 1).reason


def test_four_bits_hold_the_weights_and_eight_the_vector_without_rounding():
    weights, x = Q4.inputs(96, 7)
    blocks = weights.reshape(7, -1, 32)
    low, high = blocks.min(axis=2), blocks.max(axis=2)
    steps = ((high - low) / 15).astype(np.float16).astype(np.float32)
    assert np.array_equal(low, low.astype(np.float16))
    codes = (blocks - low[..., None]) / steps[..., None]
    assert np.array_equal(codes, np.rint(codes)) and codes.min() == 0 and codes.max() == 15
    scales = np.abs(x.reshape(-1, 32)).max(axis=1) / np.float32(127)
    numbers = x.reshape(-1, 32) / scales[:, None]
    assert np.array_equal(numbers, np.rint(numbers))


def test_the_kernels_of_the_package_are_right_at_every_form_of_the_weights():
    quantized = pytest.importorskip("tinykernels.quantized")
    for workload, dims in ((Q4, (64, 37)), (INT8, (3, 21, 35))):
        problem = Problem(workload, dims)
        for kernel in workload.kernels:
            function = getattr(quantized, kernel.function)
            problem.check(function(*arguments(kernel, problem.inputs, workload.weights)))


def test_weights_are_packed_step_by_step_in_their_place(monkeypatch):
    module = types.SimpleNamespace(
        halve=lambda w: (w // 2, w % 2), join=lambda a, b: ("joined", a.size, b.size)
    )
    monkeypatch.setattr("tito.bench.workload.importlib.import_module", lambda name: module)
    w, x = np.arange(4), np.ones(3)
    made = arguments(Kernel("file.f", packed=("halve", "join")), (w, x), weights=0)
    assert made[0] == ("joined", 4, 4) and made[1] is x
    first, second, last = arguments(Kernel("file.f", packed=("halve",), spread=True), (w, x), 0)
    assert first.tolist() == [0, 0, 1, 1] and second.tolist() == [0, 1, 0, 1] and last is x


def test_sizes_whose_blocks_are_not_whole_are_refused():
    with pytest.raises(UsageError, match="q4 100x64: K must be a multiple of 32") as error:
        chosen([Q4], "100x64", 8 << 30)
    assert error.value.code == 2
    assert chosen([Q4], "96x100", 8 << 30) == [(Q4, (96, 100))]


def test_calls_take_copies_in_turn_that_no_cache_can_hold(monkeypatch):
    """All copies together are larger than the last cache, so the next one has been forgotten."""
    cache = types.SimpleNamespace(size=1000)
    monkeypatch.setattr(turns, "facts", lambda: types.SimpleNamespace(caches=[cache]))
    seen = []

    def kernel(weights, x):
        seen.append(weights.ctypes.data)
        return weights @ x

    w, x = np.ones((10, 10), np.float32), np.ones(10, np.float32)
    contender = in_turn(Contender("kernel", kernel))
    made = contender.prepare((w, x))
    for _ in range(14):
        assert contender.call(made).tolist() == [10.0] * 10
    assert len(set(seen)) == 7 and seen[:7] == seen[7:]  # 3 * 1000 bytes in pieces of 440
    assert all(one != other for one, other in pairwise(seen))
    assert size_of(made) == w.nbytes + x.nbytes  # of one call


def test_there_are_two_copies_at_least_and_not_too_many():
    small = Turns((np.ones(1),), 10**9)
    assert len({id(small.take()) for _ in range(200)}) == turns.MOST_COPIES
    large = Turns((np.ones(100),), 1)
    assert len({id(large.take()) for _ in range(10)}) == 2


def test_only_large_weights_come_from_memory():
    from tito.bench.child import contenders

    job = {"broken": {}, "threads": 1, "peers": ["numpy"]}
    for dims, cold in (((576, 1536), False), ((2048, 8192), True)):
        assert Q4.cold(*dims) is cold
        found = [c for c, _ in contenders(0, Q4, dims, job, lambda event, **values: None)]
        small = Q4.inputs(32, 4)
        assert {isinstance(c.prepare(small)[0], Turns) for c in found} == {cold}


def test_bytes_are_counted_in_every_form_of_weights():
    packed = types.SimpleNamespace(panels=np.ones(10, np.int32), sums=[np.ones(3, np.int8)], k=7)
    assert size_of((packed, "text", None, np.ones(2, np.float32))) == 40 + 3 + 8
    packed.itself = packed
    assert size_of(packed) > 0


ROWS = [
    {**row("matvec_q4", 2, 2, 2), "arguments": 3 * 2**14 + 4 * 2**9},
    {**row("numpy matmul", 8, 8, 8, library="numpy"), "arguments": 4 * 2**16 + 4 * 2**9},
    {**row("torch matmul", 4, 4, 4, library="torch"), "arguments": 4 * 2**16 + 4 * 2**9},
]


def report_of(workload, dims, rows):
    return Report.of(MACHINE, 1, ["numpy"], [Table.of(workload, dims, {"rows": rows})])


def test_all_stand_beside_numpys_float32_product():
    found = report_of(Q4, (512, 128), ROWS)
    [table] = found.tables
    assert table.baseline.name == "numpy matmul" and table.peer.name == "torch matmul"
    assert [table.bytes_a_weight(r) for r in table.rows] == [0.75, 4, 4]
    shown = " ".join(text(found).split())
    assert "from the caches" in shown and "NumPy's product is the base" in shown
    assert "matvec_q4 0.75 at 24.6 MB/s, numpy matmul 4 at 32.8 MB/s" in shown
    assert "matvec_q4 2 ms 2 ms 2 ms 0.0655" in shown and "4 (4-4)" in shown
    [result] = json.loads(to_json(found))["results"]
    assert result["baseline"] == "numpy matmul" and result["rows"][0]["bytes_a_weight"] == 0.75


def test_without_that_product_the_first_rung_is_the_base():
    [table] = report_of(Q4, (512, 128), ROWS[:1]).tables
    assert table.baseline.name == "matvec_q4"


def test_the_roof_of_weights_from_memory_is_memorys():
    """They would fit into a cache, but they were not there."""
    monkey = {**MACHINE, "peaks": {**MACHINE["peaks"], "holds": {"L2": 64 << 20}}}
    large = Table.of(Q4, (2048, 8192), {"rows": ROWS})
    found = Report.of(monkey, 1, ["numpy"], [large])
    assert large.level(found.machine) == "memory"
    assert large.limit(found.machine) == pytest.approx(20e9 * 2 * 2**24 / large.work.nbytes)
    assert "memory bandwidth" in text(found) and "from main memory" in " ".join(text(found).split())


def test_only_memory_is_a_roof_for_weights_of_a_few_bits():
    """The package's kernel may multiply bytes, of which a core does more than of floats."""
    found = report_of(Q4, (512, 128), ROWS)
    [table] = found.tables
    assert table.level(found.machine) == "L2"
    assert table.limit(found.machine) == pytest.approx(50e9 * 2 * 2**16 / table.work.nbytes)
    assert table.limit(found.machine) > found.machine.peaks.flops()


def test_pictures_show_the_roofs_that_are_roofs():
    pytest.importorskip("matplotlib")
    from tito.bench import plots

    _, _, weights = plots.draw(report_of(Q4, (512, 128), ROWS)).axes
    assert {t.get_text() for t in weights.texts} == {"L2", "memory"}  # and no peak
    _, _, products = plots.draw(report_of(INT8, (64, 64, 64), [row("gemm_int8", 1)])).axes
    assert not products.texts and products.get_title() == "no peak of int8 is known"
    assert products.get_ylabel() == "Gop/s"


def test_operations_on_bytes_are_no_flop_and_stand_under_no_float_peak():
    found = report_of(INT8, (64, 64, 64), [row("gemm_int8", 1)])
    [table] = found.tables
    assert table.unit == "op/s" and table.limit(found.machine) is None
    shown = text(found)
    assert "Gop/s" in shown and "FLOP" not in shown
    [result] = json.loads(to_json(found))["results"]
    assert (result["dtype"], result["unit"], result["roof"]) == ("int8", "op/s", None)


PACKAGE = """
    import numpy as np
    def int8_matmul(a, b):
        return a.astype(np.int32) @ b.astype(np.int32)
    def pack_k4(b):
        return [b.astype(np.float32)]
    def gemm_int8(a, b):
        if isinstance(b, list):
            return (a.astype(np.float32) @ b[0]).astype(np.int32)
        return (a.astype(np.int32) @ b.astype(np.int32)) | 1
    def pack_q4(w):
        return w, w, w
    def interleave_q4(nibbles, d, m):
        return [nibbles]
    def matvec_q4_rows(nibbles, d, m, x):
        return nibbles @ x * np.float32(1.001)
    def matvec_q4(packed, x):
        return packed[0] @ x
    """


def test_a_whole_measurement_checks_before_it_times(tmp_path):
    root = course.make(tmp_path / "course", quantized=PACKAGE)
    tasks = [(INT8, (12, 40, 8)), (Q4, (64, 40))]
    found = run.measure_all(root, tasks, ["numpy"], 1, machine=MACHINE)
    int8, q4 = ({r.name: r for r in table.rows} for table in found.tables)
    assert "wrong result" in int8["gemm_int8"].left_out
    assert int8["int8_matmul"].timed and int8["gemm_int8 prepacked"].timed
    assert int8["numpy float32 matmul"].timed
    assert "wrong result" in q4["matvec_q4_rows"].left_out
    assert q4["matvec_q4"].timed and q4["numpy matmul"].timed
    assert "matvec_q4_bytes" not in q4  # this package has none
    assert found.tables[1].bytes_a_weight(q4["matvec_q4"]) == 4
