"""Peers: right results, and a clear word about those that are not there."""

import sys
import types

import numpy as np
import pytest

from tests.bench.test_ladders import SMALL
from tito.bench import peers
from tito.bench.ladders import EPS, WORKLOADS
from tito.bench.trial import Contender, Problem
from tito.errors import UsageError


def check(workload, peer):
    problem = Problem(WORKLOADS[workload], SMALL[workload])
    contender = Contender(peer.name, peer.function, "peer", {}, peer.prepare)
    problem.check(contender.call(contender.prepare(problem.inputs)), peer.result)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("library", peers.LIBRARIES)
def test_what_is_installed_is_right(library, workload):
    if not peers.installed(library):
        pytest.skip(f"{library} is not installed")
    for _, peer in peers.of([library], workload, threads=1):
        check(workload, peer)


def test_numpy_does_every_workload():
    assert all(peers.of(["numpy"], name, 1) for name in WORKLOADS)


class Tensor:
    """As much of a torch tensor as a peer uses."""

    def __init__(self, array):
        self.array = np.asarray(array)

    def __getitem__(self, key):
        return Tensor(self.array[key])

    @property
    def shape(self):
        return self.array.shape

    def numpy(self):
        return self.array


@pytest.fixture
def torch(monkeypatch):
    """A torch that computes with NumPy's peers."""
    spelled = {name: peer.function for name, peer in peers._numpy(1).items()}

    def lifted(name):
        return lambda *args: Tensor(spelled[name](*(a.array for a in args)))

    def layer_norm(x, shape, gamma, beta, eps):
        assert (shape, eps) == (gamma.shape, EPS)
        return lifted("layernorm")(x, gamma, beta)

    def conv2d(x, w, padding):
        assert padding == 1 and x.array.ndim == 4
        return Tensor(spelled["conv"](x.array[0], w.array)[None])

    def softmax(x, dim):
        assert dim == 1
        return lifted("softmax")(x)

    fake = types.ModuleType("torch")
    fake.threads = []
    fake.set_num_threads = fake.threads.append
    fake.from_numpy = Tensor
    fake.matmul, fake.relu, fake.softmax = lifted("gemm"), lifted("relu"), softmax
    fake._int_mm = lambda a, b: Tensor(a.array.astype(np.int32) @ b.array)
    functional = types.SimpleNamespace(layer_norm=layer_norm, conv2d=conv2d)
    fake.nn = types.SimpleNamespace(functional=functional)
    monkeypatch.setitem(sys.modules, "torch", fake)
    return fake


@pytest.mark.parametrize("workload", WORKLOADS)
def test_torch_gets_tensors_and_gives_an_array(torch, workload):
    [(library, peer)] = peers.of(["torch"], workload, threads=2)
    assert library == "torch" and torch.threads == [2]
    check(workload, peer)


def test_scipy_does_what_it_has(monkeypatch):
    """SciPy's BLAS stores columns: operands and result are transposed."""
    scipy = {name: types.ModuleType(name) for name in ("scipy.linalg.blas", "scipy.special")}

    def sgemm(alpha, a, b):
        assert a.flags.f_contiguous and b.flags.f_contiguous  # else SciPy copies them first
        return np.asfortranarray(alpha * (a @ b))

    scipy["scipy.linalg.blas"].sgemm = sgemm
    scipy["scipy.special"].softmax = lambda x, axis: peers._softmax(x)
    for name, module in scipy.items():
        monkeypatch.setitem(sys.modules, name, module)
    for workload in ("gemm", "softmax"):
        [(_, peer)] = peers.of(["scipy"], workload, 1)
        check(workload, peer)
    assert peers.of(["scipy"], "conv", 1) == []


@pytest.fixture
def only_numpy(monkeypatch):
    monkeypatch.setattr(peers, "installed", lambda name: name == "numpy")


def test_without_a_wish_the_installed_ones_are_taken(only_numpy):
    assert peers.choose(None) == ["numpy"]


def test_what_is_asked_for_is_taken_once(only_numpy):
    assert peers.choose("NumPy, numpy") == ["numpy"]
    assert peers.choose("") == []  # no peer at all is a wish too


def test_a_peer_that_is_not_installed_is_named_with_what_to_do(only_numpy):
    with pytest.raises(UsageError, match="torch is not installed") as error:
        peers.choose("numpy,torch")
    assert error.value.code == 2
    assert "pip install torch" in error.value.hint and "--peers numpy" in error.value.hint


def test_an_unknown_peer_is_no_missing_one(only_numpy):
    with pytest.raises(UsageError, match="no peer is called 'mkl'") as error:
        peers.choose("mkl")
    assert "numpy, scipy, torch" in error.value.hint
