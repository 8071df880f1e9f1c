"""The filter's program, run by a small interpreter for both machines."""

import errno
import re
import sys
from pathlib import Path

import pytest

from tito.grading.sandbox import bpf, seccomp, syscalls

PID = 4321
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
MACHINES = pytest.mark.parametrize("machine", list(seccomp.MACHINES))


def decide(machine, name_or_number, *arguments, arch=None):
    """What the filter answers to a call: "allow", "kill" or an errno."""
    own, column = seccomp.MACHINES[machine]
    number = name_or_number
    if isinstance(number, str):
        number = syscalls.NUMBERS[number][column]
        assert number is not None, f"{machine} has no {name_or_number}"
    words = {bpf.NUMBER: number, bpf.MACHINE: own if arch is None else arch}
    for index in range(6):
        value = arguments[index] if index < len(arguments) else 0
        words[16 + 8 * index] = value & 0xFFFFFFFF
    result = run(seccomp.program(machine, PID), words)
    if result == bpf.ALLOW:
        return "allow"
    return "kill" if result == bpf.KILL else result & 0xFFFF


def run(program, words):
    """Interpret classic BPF as linux/filter.h describes it."""
    at, loaded = 0, 0
    while True:
        step = program[at]
        assert 0 <= step.yes < 256 and 0 <= step.no < 256
        at += 1
        if step.code == bpf.RETURN:
            return step.value
        if step.code == bpf.LOAD:
            loaded = words[step.value]
        elif step.code == bpf.MASK:
            loaded &= step.value
        else:
            holds = {
                bpf.EQUAL: loaded == step.value,
                bpf.ABOVE: loaded > step.value,
                bpf.ANY_BIT: bool(loaded & step.value),
            }[step.code]
            at += step.yes if holds else step.no


@MACHINES
def test_processes_are_refused_and_threads_allowed(machine):
    pthread = 0x003D0F00  # what glibc's pthread_create asks for
    assert decide(machine, "clone", pthread) == "allow"
    assert decide(machine, "clone", 17) == errno.EPERM  # SIGCHLD: a fork
    assert decide(machine, "clone", 0x4111) == errno.EPERM  # a vfork
    assert decide(machine, "clone", pthread | 0x40000000) == errno.EPERM  # own network
    assert decide(machine, "clone3") == errno.ENOSYS
    assert decide(machine, "execve") == errno.EPERM


@MACHINES
def test_signals_reach_only_itself(machine):
    for call in ("kill", "tgkill"):
        assert decide(machine, call, PID, 9, 9) == "allow"
        for other in (0, 1, PID + 1, -PID, -1):
            assert decide(machine, call, other, 9, 9) == errno.EPERM, (call, other)


@MACHINES
@pytest.mark.parametrize("call", ["prlimit64", "sched_setaffinity"])
def test_settings_of_itself_only(machine, call):
    assert [decide(machine, call, who) for who in (0, PID)] == ["allow", "allow"]
    assert decide(machine, call, PID + 1) == errno.EPERM


@MACHINES
def test_priority_of_itself_only(machine):
    assert decide(machine, "setpriority", 0, 0, 5) == "allow"
    assert decide(machine, "setpriority", 0, 1, 5) == errno.EPERM
    assert decide(machine, "setpriority", 1, 0, 5) == errno.EPERM  # the group
    assert decide(machine, "setpriority", 2, 0, 5) == errno.EPERM  # the user


@MACHINES
def test_socket_pairs_are_local_streams(machine):
    closed, no_wait = 0o2000000, 0o4000
    assert decide(machine, "socketpair", 1, 1 | closed | no_wait) == "allow"
    assert decide(machine, "socketpair", 1, 5) == "allow"
    assert decide(machine, "socketpair", 1, 2) == errno.EPERM  # datagrams can be sent elsewhere
    assert decide(machine, "socketpair", 2, 1) == errno.EPERM
    assert decide(machine, "socket", 1, 1) == errno.EPERM


@MACHINES
def test_emptying_while_opening_for_reading_is_refused(machine):
    assert decide(machine, "openat", -100, 0, 0o1000) == errno.EACCES
    assert decide(machine, "openat", -100, 0, 0o1000 | 0o2000000) == errno.EACCES
    for flags in (0, 0o1101, 0o1102, 0o2000000):
        assert decide(machine, "openat", -100, 0, flags) == "allow", oct(flags)


@MACHINES
def test_dangerous_options_are_refused_and_others_allowed(machine):
    assert decide(machine, "prctl", 15) == "allow"  # the thread's name
    assert decide(machine, "prctl", 1) == errno.EPERM
    assert decide(machine, "fcntl", 3, 1030) == "allow"  # F_DUPFD_CLOEXEC
    assert decide(machine, "fcntl", 3, 8) == errno.EPERM
    assert decide(machine, "ioctl", 1, 0x5413) == "allow"  # the terminal's size
    assert decide(machine, "ioctl", 1, 0x5412) == errno.EPERM


@MACHINES
def test_modes_are_feigned_and_labels_unsupported(machine):
    assert decide(machine, "fchmodat") == 0
    assert decide(machine, "setxattr") == errno.EOPNOTSUPP


@MACHINES
def test_ordinary_calls_pass(machine):
    names = {"x86_64": {"read": 0, "mmap": 9, "futex": 202, "exit_group": 231, "unlink": 87}}
    names["aarch64"] = {"read": 63, "mmap": 222, "futex": 98, "exit_group": 94, "unlinkat": 35}
    for name, number in names[machine].items():
        assert decide(machine, number) == "allow", name


@MACHINES
def test_unknown_calls_are_not_implemented(machine):
    assert decide(machine, syscalls.NEWEST) == "allow"
    for number in (syscalls.NEWEST + 1, 1000, 0x3FFFFFFF):
        assert decide(machine, number) == errno.ENOSYS


def test_calls_of_another_machine_end_the_process():
    assert decide("x86_64", "kill", PID, arch=0x40000003) == "kill"  # 32-bit calls
    assert decide("x86_64", 0x40000000 | 59) == errno.EPERM  # x32


def test_every_rule_has_a_number_and_every_number_a_rule():
    assert set(seccomp.rules(PID)) == set(syscalls.NUMBERS)


@MACHINES
def test_program_fits_the_kernel(machine):
    program = seccomp.program(machine, PID)
    assert len(program) <= 4096
    assert len(bpf.encode(program)) == 8 * len(program)


@MACHINES
def test_numbers_are_those_of_the_kernels_headers(machine):
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip(f"no {header} here")
    pattern = r"#\s*define __NR(?:3264)?_(\w+)\s+(\d+)"
    known = {name: int(number) for name, number in re.findall(pattern, header.read_text())}
    column = seccomp.MACHINES[machine][1]
    for name, numbers in syscalls.NUMBERS.items():
        if name in known:
            assert numbers[column] == known[name], name
    ours = {name for name, numbers in syscalls.NUMBERS.items() if numbers[column] is not None}
    newer_than_some_headers = {number for number in range(451, syscalls.NEWEST + 1)}
    missing = {name for name in ours - set(known)}
    assert all(syscalls.NUMBERS[name][column] in newer_than_some_headers for name in missing)


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")
def test_filter_alone_stops_what_needs_it(child):
    answer = child(
        "import os; os.fork()", without=["namespaces", "landlock", "rlimits", "capabilities"]
    )
    if answer.layers == []:
        pytest.skip("no seccomp here")
    assert answer.layers == ["seccomp"]
    assert answer.outcomes.startswith("refused")
