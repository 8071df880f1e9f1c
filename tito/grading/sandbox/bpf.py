"""The four instructions of classic BPF that a seccomp filter here is made of.

Every rule ends in a verdict on each of its paths, so that rules can simply be chained.
Constants from linux/bpf_common.h, linux/filter.h and linux/seccomp.h.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
ABOVE = 0x25  # BPF_JMP | BPF_JGT | BPF_K
ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
MASK = 0x54  # BPF_ALU | BPF_AND | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K

ALLOW = 0x7FFF0000
KILL = 0x80000000  # the whole process

# Offsets in struct seccomp_data.
NUMBER, MACHINE = 0, 4


class Instruction(NamedTuple):
    """One instruction; `yes` and `no` are how many instructions to skip on either outcome."""

    code: int
    value: int
    yes: int = 0
    no: int = 0


Program = list[Instruction]


def fail(errno: int) -> int:
    """The verdict: the call is not made and returns this errno (0: it pretends to have worked)."""
    return 0x00050000 | errno


def verdict(value: int) -> Program:
    """End with this verdict."""
    return [Instruction(RETURN, value)]


def load_argument(index: int) -> Program:
    """Load the low 32 bits of an argument: those that the kernel reads of an int."""
    return [Instruction(LOAD, 16 + 8 * index)]


def if_equal(value: int, then: Program) -> Program:
    """Run `then` if the loaded value is this one."""
    return [Instruction(EQUAL, value, no=len(then)), *then]


def if_above(value: int, then: Program) -> Program:
    """Run `then` if the loaded value is greater."""
    return [Instruction(ABOVE, value, no=len(then)), *then]


def if_any_bit(bits: int, then: Program) -> Program:
    """Run `then` if the loaded value has one of these bits."""
    return [Instruction(ANY_BIT, bits, no=len(then)), *then]


def only(argument: int, values: Iterable[int], errno: int) -> Program:
    """Allow the call if the argument is one of these values, else fail."""
    allowed = [step for value in values for step in if_equal(value, verdict(ALLOW))]
    return [*load_argument(argument), *allowed, *verdict(fail(errno))]


def never(argument: int, values: Iterable[int], errno: int) -> Program:
    """Fail the call if the argument is one of these values, else allow it."""
    refused = [step for value in values for step in if_equal(value, verdict(fail(errno)))]
    return [*load_argument(argument), *refused, *verdict(ALLOW)]


def encode(program: Sequence[Instruction]) -> bytes:
    """The program as an array of struct sock_filter."""
    return b"".join(struct.pack("=HBBI", i.code, i.yes, i.no, i.value) for i in program)
