"""Each exercise's own answer, beside what people try out and measure, takes no forbidden route."""

from pathlib import Path

import pytest

from tito.course import Course
from tito.forbid import SETS, find, read_package
from tito.notebook import Role, load
from tito.notebook.names import bound

ROOT = Path(__file__).parents[2]
BENCH = """
import functools, inspect, timeit
def time_of(f, *args): return timeit.timeit(lambda: f(*args), number=1)
def timed(f):
    @functools.wraps(f)
    def inner(*args): return f(*args)
    return inner
@timed
def run_reference(): return S(1)
kernels = {'mine': G, 'reference': S}
def measured():
    rows = []
    for name, f in kernels.items():
        rows.append((name, time_of(f, 1)))
    return rows
def check(g, reference=S): assert g(1) == reference(1)
def race(fs): return [time_of(f, 1) for f in fs]
def tried():
    race([S, G])
    help(S)
    print(inspect.getsource(S), functools.partial(S, 1))
    np.testing.assert_raises(ValueError, S, 1)
    results['reference'] = S(1)
class Wrong(ValueError): pass
results = {}
"""


MODULES = sorted(folder.name for folder in (ROOT / "modules").iterdir())


@pytest.fixture(scope="module")
def package():
    return read_package(ROOT / "tinykernels")


@pytest.mark.parametrize("module", MODULES)
def test_a_reference_beside_a_bench_is_honest(module, package):
    master = load(Course(ROOT).resolve(module).source)
    sources, given = {}, set()
    for cell in master.cells:
        if cell.role not in (Role.GIVEN, Role.SOLUTION):
            continue
        sources[cell.label] = cell.source
        if cell.role is Role.GIVEN:
            given.add(cell.label)
            continue
        directive = cell.directive("forbid")
        sets = [word for word in directive.words if word in SETS] if directive else []
        roots = sorted(bound(cell.source)[0])
        specs = [n for source in sources.values() for n in bound(source)[0] if n.endswith("_spec")]
        for tried in ("np.dot", *specs[-1:]):
            bench = BENCH.replace("S", tried).replace("G", roots[0])
            cells = {**sources, "bench": bench}
            found = find(cells, roots, sets, cell.label, specs, package, given, True)
            assert found == [], (roots, tried)
