"""Facts of the machine: read, and None where they cannot be read."""

import sys
from dataclasses import fields

import numpy as np
import pytest

from tito.machine import blas, facts, hardware
from tito.machine.hardware import Facts, cpu_model, usable_cores


def test_this_machine_tells_something():
    known = facts()
    assert known.python.startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert known.numpy == np.__version__
    assert known.cores >= 1
    assert len(str(known).splitlines()) == len(fields(Facts))


def test_what_is_unknown_is_said_to_be():
    nothing = Facts(None, None, "Plan9", "3.13.0", None, None, None, None)
    assert "cpu           unknown" in str(nothing)


@pytest.mark.parametrize("system", ["linux", "darwin", "win32", "plan9"])
def test_no_system_crashes(monkeypatch, system):
    """None of the files and programs of the other systems is there, and that is no error."""
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.delattr(hardware.os, "sched_getaffinity", raising=False)
    if system != "linux":
        monkeypatch.setattr(hardware.platform, "processor", lambda: "")
    assert cpu_model() is None or isinstance(cpu_model(), str)
    assert usable_cores() >= 1


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
