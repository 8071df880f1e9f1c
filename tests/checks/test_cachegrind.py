"""The cache model agrees with Valgrind's, which others wrote and many trust."""

import pytest

from tests.checks import cachegrind
from tests.checks.cachegrind import Counted


@pytest.mark.slow
def test_miss_ratios_of_three_loop_orders_agree_with_cachegrind():
    if reason := cachegrind.missing():
        pytest.skip(reason)
    found = cachegrind.compare()
    said = cachegrind.table(found)
    assert [each.order for each in found] == list(cachegrind.ORDERS)
    for each in found:
        assert each.apart <= cachegrind.AGREE, said
        # Else the ratios would be those of different work.
        assert each.references == pytest.approx(each.valgrind_references, rel=0.01), said


def test_a_model_that_is_off_is_seen():
    assert Counted("ijk", 100, 55, 100, 50).apart == pytest.approx(0.1)
    assert Counted("ijk", 100, 44, 100, 50).apart > cachegrind.AGREE


def test_what_cachegrind_prints_is_read():
    said = (
        "==7== I   refs:      9,000,000\n==7== \n"
        "==7== D   refs:      1,234,567  (1,000,000 rd   + 234,567 wr)\n"
        "==7== D1  misses:       56,789  (   50,000 rd   +   6,789 wr)\n"
        "==7== LLd misses:            3  (        2 rd   +       1 wr)\n"
    )
    assert cachegrind.read_summary(said) == (1_234_567, 56_789)
    with pytest.raises(RuntimeError, match="did not count"):
        cachegrind.read_summary("valgrind: Bad option")


@pytest.mark.parametrize("lacking", ["valgrind", "cc"])
def test_what_is_not_installed_is_named(monkeypatch, lacking):
    there = {"valgrind", "cc"} - {lacking}
    monkeypatch.setattr(cachegrind.shutil, "which", lambda name: name if name in there else None)
    assert ("valgrind" if lacking == "valgrind" else "C compiler") in cachegrind.missing()


def test_the_table_tells_how_much_worse_an_order_is():
    found = [Counted("ijk", 200, 100, 200, 96), Counted("ikj", 300, 6, 300, 6)]
    rows = [line.split() for line in cachegrind.table(found).splitlines()]
    assert rows[-2] == ["ijk", "100", "96", "50.0000%", "48.0000%", "4.17%", "16.00"]
