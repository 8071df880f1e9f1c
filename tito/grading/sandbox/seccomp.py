"""Which system calls the child may make: nearly all, but none that reaches out of it.

A list of refusals rather than of permissions, because NumPy, Numba and three C libraries must go on
working in versions nobody has tried yet; what is newer than the list is refused (syscalls.NEWEST).
"""

from __future__ import annotations

import errno
import os
import sys

from . import bpf
from .libc import prctl, set_no_new_privileges, syscall
from .syscalls import NEWEST, NUMBERS

REFUSED = {
    "new processes and programs (threads: see _clone)": "fork vfork execve execveat uselib",
    "other processes: memory, signals, descriptors, places, priorities": """
        ptrace process_vm_readv process_vm_writev kcmp pidfd_open pidfd_getfd pidfd_send_signal
        process_madvise process_mrelease tkill rt_sigqueueinfo rt_tgsigqueueinfo migrate_pages
        move_pages sched_setscheduler sched_setparam sched_setattr ioprio_set""",
    "the network (socket pairs: see _socketpair)": "socket connect bind listen accept accept4",
    "memory that no resource limit counts, and talk through it": """
        memfd_create memfd_secret shmget shmat shmctl semget semop semctl semtimedop msgget msgsnd
        msgrcv msgctl mq_open mq_unlink vmsplice""",
    "parts of the kernel known for their holes": """
        userfaultfd io_uring_setup io_uring_enter io_uring_register io_setup bpf perf_event_open
        keyctl add_key request_key modify_ldt personality fanotify_init fanotify_mark inotify_init
        inotify_init1 inotify_add_watch lookup_dcookie nfsservctl""",
    "ways round the view of the file system": """
        mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick open_tree move_mount
        mount_setattr statmount listmount unshare setns name_to_handle_at open_by_handle_at
        truncate""",
    "the machine": """
        kexec_load kexec_file_load reboot init_module finit_module delete_module swapon swapoff acct
        syslog quotactl quotactl_fd settimeofday clock_settime clock_adjtime adjtimex sethostname
        setdomainname iopl ioperm vhangup""",
    "who one is": """
        setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset
        lsm_set_self_attr""",
}

# Landlock does not govern these, so they would work on any file of this user. They do nothing and
# report success: shutil.copy sets modes and times, and a right answer must not fail for that.
FEIGNED = """
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
    sync"""

# Alike, but many file systems have none of these and every caller knows it.
UNSUPPORTED = "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr"

# The C library falls back: clone3 and openat2 hide their arguments from a filter.
MISSING = "clone3 openat2"

# (AUDIT_ARCH_*, column of the table) by os.uname().machine
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

X32 = 0x40000000  # the bit of x86-64's second, rarely used set of calls

CLONE_THREAD = 0x00010000
CLONE_NEW = 0x7E020000  # new namespaces of any kind

O_ACCMODE, O_TRUNC = 0o3, 0o1000

# prctl: PDEATHSIG, DUMPABLE, KEEPCAPS, CAPBSET_DROP, SECUREBITS, MM, CHILD_SUBREAPER, CAP_AMBIENT,
# SYSCALL_USER_DISPATCH, SCHED_CORE, PTRACER
PRCTL_REFUSED = (1, 4, 8, 24, 28, 35, 36, 47, 59, 62, 0x59616D61)
# fcntl: SETOWN, SETSIG, SETOWN_EX, NOTIFY: any signal to any process when a descriptor is ready
FCNTL_REFUSED = (8, 10, 15, 1026)
# ioctl: TIOCSTI, TIOCLINUX (typing into a terminal), FIOSETOWN, SIOCSPGRP (as fcntl SETOWN)
IOCTL_REFUSED = (0x5412, 0x541C, 0x8901, 0x8902)

AF_UNIX = 1
SOCK_TYPE_MASK = 0xF
SOCK_STREAM, SOCK_SEQPACKET = 1, 5  # both ignore an address given to send: no other peer

SET_MODE_FILTER = 1
SPEC_ALLOW = 4  # else kernels before 5.16 switch off speculation and kernels run slower
SECCOMP_NUMBER = {"x86_64": 317, "aarch64": 277}
PR_SET_SECCOMP, MODE_FILTER = 22, 2


def install() -> str | None:
    """Filter the system calls of this thread and all it starts; "seccomp", or None if it cannot."""
    machine = os.uname().machine
    if machine not in MACHINES or sys.maxsize < 2**32:
        return None
    code = bpf.encode(program(machine, os.getpid()))
    return "seccomp" if _load(machine, code) else None


def program(machine: str, pid: int) -> bpf.Program:
    """The filter for the process `pid` on this machine."""
    arch, column = MACHINES[machine]
    steps = [
        bpf.Instruction(bpf.LOAD, bpf.MACHINE),
        bpf.Instruction(bpf.EQUAL, arch, yes=1),
        *bpf.verdict(bpf.KILL),
        bpf.Instruction(bpf.LOAD, bpf.NUMBER),
        # -1 is what ptrace leaves of a skipped call; above X32 - 1 lies the second set of calls
        *bpf.if_above(X32 - 1, bpf.verdict(bpf.fail(errno.EPERM))),
        *bpf.if_above(NEWEST, bpf.verdict(bpf.fail(errno.ENOSYS))),
    ]
    for name, rule in rules(pid).items():
        number = NUMBERS[name][column]
        if number is not None:
            steps += bpf.if_equal(number, rule)
    return steps + bpf.verdict(bpf.ALLOW)


def rules(pid: int) -> dict[str, bpf.Program]:
    """What happens to each call that is not simply allowed."""
    itself = (0, pid)
    return {
        **_all(" ".join(REFUSED.values()), errno.EPERM),
        **_all(FEIGNED, 0),
        **_all(UNSUPPORTED, errno.EOPNOTSUPP),
        **_all(MISSING, errno.ENOSYS),
        "kill": bpf.only(0, [pid], errno.EPERM),  # 0 would be the group, the grader's too
        "tgkill": bpf.only(0, [pid], errno.EPERM),
        "prlimit64": bpf.only(0, itself, errno.EPERM),
        "sched_setaffinity": bpf.only(0, itself, errno.EPERM),
        "setpriority": _setpriority(itself),
        "prctl": bpf.never(0, PRCTL_REFUSED, errno.EPERM),
        "fcntl": bpf.never(1, FCNTL_REFUSED, errno.EPERM),
        "ioctl": bpf.never(1, IOCTL_REFUSED, errno.EPERM),
        "clone": _clone(),
        "socketpair": _socketpair(),
        "open": _open(flags=1),
        "openat": _open(flags=2),
    }


def _all(names: str, code: int) -> dict[str, bpf.Program]:
    """These calls always end with this errno."""
    return dict.fromkeys(names.split(), bpf.verdict(bpf.fail(code)))


def _clone() -> bpf.Program:
    """Threads only, and in no new namespace."""
    return [
        *bpf.load_argument(0),
        *bpf.if_any_bit(CLONE_NEW, bpf.verdict(bpf.fail(errno.EPERM))),
        *bpf.if_any_bit(CLONE_THREAD, bpf.verdict(bpf.ALLOW)),
        *bpf.verdict(bpf.fail(errno.EPERM)),
    ]


def _socketpair() -> bpf.Program:
    """Pairs of connected local sockets, as asyncio and multiprocessing's pipes use."""
    types = [bpf.Instruction(bpf.MASK, SOCK_TYPE_MASK)]
    for kind in (SOCK_STREAM, SOCK_SEQPACKET):
        types += bpf.if_equal(kind, bpf.verdict(bpf.ALLOW))
    return [
        *bpf.load_argument(0),
        bpf.Instruction(bpf.EQUAL, AF_UNIX, yes=1),
        *bpf.verdict(bpf.fail(errno.EPERM)),
        *bpf.load_argument(1),
        *types,
        *bpf.verdict(bpf.fail(errno.EPERM)),
    ]


def _setpriority(itself: tuple[int, int]) -> bpf.Program:
    """Of this process (PRIO_PROCESS = 0), not of a group or of all that the user runs."""
    return [
        *bpf.load_argument(0),
        bpf.Instruction(bpf.EQUAL, 0, yes=1),
        *bpf.verdict(bpf.fail(errno.EPERM)),
        *bpf.only(1, itself, errno.EPERM),
    ]


def _open(flags: int) -> bpf.Program:
    """Not for reading and emptying at once: Landlock before ABI 3 sees only the reading."""
    return [
        *bpf.load_argument(flags),
        bpf.Instruction(bpf.MASK, O_ACCMODE | O_TRUNC),
        *bpf.if_equal(O_TRUNC, bpf.verdict(bpf.fail(errno.EACCES))),
        *bpf.verdict(bpf.ALLOW),
    ]


def _load(machine: str, code: bytes) -> bool:
    import ctypes

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    buffer = ctypes.create_string_buffer(code, len(code))
    pointed = Filter(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    address = ctypes.addressof(pointed)
    try:
        set_no_new_privileges()
        try:
            syscall(SECCOMP_NUMBER[machine], SET_MODE_FILTER, SPEC_ALLOW, address)
        except OSError:
            prctl(PR_SET_SECCOMP, MODE_FILTER, address)
    except OSError:
        return False
    return True
