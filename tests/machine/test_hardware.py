"""Facts of the machine: read, and None or empty where they cannot be read."""

import json
import sys
from dataclasses import asdict, fields

import numpy as np
import pytest

from tito.machine import blas, facts, features, hardware
from tito.machine.caches import Cache, in_order, size_text
from tito.machine.hardware import Facts


def test_this_machine_tells_something():
    known = facts()
    assert known.python.startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert known.numpy == np.__version__
    assert known.cores >= 1
    assert len(str(known).splitlines()) == len(fields(Facts))
    assert list(known.caches) == list(in_order(known.caches))
    json.dumps(asdict(known))


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_linux_tells_all():
    known = facts()
    assert known.cpu and known.features
    assert known.memory > 2**20
    assert hardware.free_memory() <= known.memory


def test_what_is_unknown_is_said_to_be():
    nothing = Facts(None, None, "Plan9", "3.13.0", None, None, None, None)
    text = str(nothing)
    assert "cpu           unknown" in text
    assert "caches        unknown" in text
    assert "memory        unknown" in text


def test_what_is_known_reads_well():
    known = Facts(
        cpu="Some CPU",
        cores=8,
        system="Linux x86_64",
        python="3.13.0",
        numpy="2.5.0",
        blas="openblas",
        blas_core="Haswell",
        blas_threads=8,
        caches=(Cache(1, "data", 48 * 1024, 64, 1), Cache(2, "unified", 3 * 2**19, 64, 2)),
        features=("avx", "avx2"),
        memory=16 * 2**30,
    )
    lines = str(known).splitlines()
    assert "caches        L1 48 KiB, L2 1.5 MiB (shared by 2)" in lines
    assert "features      avx avx2" in lines
    assert "memory        16 GiB" in lines


@pytest.mark.parametrize("system", ["linux", "darwin", "win32", "plan9"])
def test_no_system_crashes(monkeypatch, system):
    """None of the files and programs of the other systems is there, and that is no error."""
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.delattr(hardware.os, "sched_getaffinity", raising=False)
    known = facts()
    assert known.cores >= 1
    assert known.cpu is None or isinstance(known.cpu, str)
    if system != sys.platform and system != "linux":
        assert known.caches == () and known.memory is None


def test_what_numpy_found_completes_what_the_system_says(monkeypatch):
    """Windows has no number for FMA; NumPy asks the CPU."""
    monkeypatch.setattr(sys, "platform", "plan9")
    monkeypatch.setattr(hardware, "numpy_features", lambda: {"avx2", "fma"})
    assert hardware.features() == ("fma", "avx2")


def test_numpy_and_the_system_agree():
    if sys.platform == "linux":
        known = [f for f in hardware._reader().features() if f in features._NUMPY.values()]
        assert set(known) >= features.numpy_features() - {"sse2"}


def test_a_level_is_told_once():
    first, second = Cache(1, "data", 48 * 1024), Cache(1, "data", 32 * 1024)
    assert in_order([Cache(2, "unified", 2**20), first, second]) == (
        first,
        Cache(2, "unified", 2**20),
    )


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1280 * 1024, "1.25 MiB"), (2**31, "2 GiB")],
)
def test_sizes(size, text):
    assert size_text(size) == text


def test_a_blas_that_cannot_be_asked_is_left_alone(monkeypatch):
    monkeypatch.setattr(blas, "_library", lambda: None)
    assert blas.core() is None and blas.threads() is None
    with blas.one_thread():
        pass
    monkeypatch.setattr(np, "show_config", lambda mode: {})
    assert blas.name() is None


@pytest.mark.skipif(blas.threads() is None, reason="NumPy has no OpenBLAS that tells its threads")
def test_one_thread_is_given_back_also_after_an_exception():
    before = blas.threads()
    with pytest.raises(ZeroDivisionError), blas.one_thread():
        assert blas.threads() == 1
        1 / 0  # noqa: B018
    assert blas.threads() == before
