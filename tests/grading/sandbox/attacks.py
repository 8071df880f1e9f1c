"""What hostile student code tries, one function each; run in a child process by conftest.py.

An attack that works returns; one that is refused raises OSError. Each is also run without the cage:
where it does not even work there, the test says so and is skipped.
"""

import ctypes
import fcntl
import mmap
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

ATTACKS = {}


def attack(*needs):
    """Register an attack and the layers of which any one is enough to stop it."""

    def register(function):
        ATTACKS[function.__name__] = (function, needs)
        return function

    return register


def system_call(name, *arguments):
    """A raw system call by the numbers of the sandbox's table."""
    libc = sys.modules["sandbox.libc"]
    numbers = sys.modules["sandbox.syscalls"].NUMBERS[name]
    number = numbers[{"x86_64": 0, "aarch64": 1}[os.uname().machine]]
    return libc.syscall(number, *arguments)


def buffer(size=64):
    """Memory for the kernel to write to; kept for good."""
    memory = ctypes.create_string_buffer(size)
    KEPT.append(memory)
    return ctypes.addressof(memory)


KEPT = []


# The file system


@attack("landlock")
def read_course_file(world):
    return Path(world.course, "solution.py").read_text()


@attack("landlock")
def list_course_folder(world):
    return os.listdir(world.course)


@attack("landlock")
def walk_up_from_scratch(world):
    return open(os.path.join(world.scratch, "..", "course", "solution.py")).read()


@attack("landlock")
def read_through_old_link(world):
    return open(os.path.join(world.scratch, "link_to_solution")).read()


@attack("landlock")
def read_through_new_link(world):
    link = os.path.join(world.scratch, "new_link")
    os.symlink(os.path.join(world.course, "solution.py"), link)
    return open(link).read()


@attack("landlock")
def leave_a_link_for_the_cleaner(world):
    os.symlink(world.course, os.path.join(world.scratch, "trap"))


@attack("landlock")
def leave_a_pipe_for_the_cleaner(world):
    os.mkfifo(os.path.join(world.scratch, "pipe"))


@attack("landlock")
def read_password_file(world):
    return open("/etc/passwd").read()


@attack("landlock")
def list_home(world):
    return os.listdir(world.home)


@attack("landlock")
def list_root(world):
    return os.listdir("/")


@attack("landlock")
def append_to_course_file(world):
    Path(world.course, "append_to_me").open("a").close()


@attack("landlock")
def create_in_course(world):
    open(os.path.join(world.course, "new_file"), "w").close()


@attack("landlock")
def create_in_tmp(world):
    path = f"/tmp/tito-sandbox-{os.getpid()}"
    open(path, "w").close()
    os.remove(path)


@attack("landlock")
def create_in_shared_memory(world):
    path = f"/dev/shm/tito-sandbox-{os.getpid()}"
    open(path, "w").close()
    os.remove(path)


@attack("landlock")
def create_in_site_packages(world):
    path = os.path.join(world.packages, f"evil_{os.getpid()}.pth")
    open(path, "w").close()
    os.remove(path)


@attack("landlock")
def make_folder_in_course(world):
    os.mkdir(os.path.join(world.course, "new_folder"))


@attack("landlock")
def delete_course_file(world):
    os.remove(os.path.join(world.course, "delete_me"))


@attack("landlock")
def move_course_file_to_scratch(world):
    os.rename(os.path.join(world.course, "move_me"), os.path.join(world.scratch, "moved"))


@attack("landlock")
def hard_link_course_file_into_scratch(world):
    os.link(os.path.join(world.course, "link_me"), os.path.join(world.scratch, "linked"))


@attack("landlock3", "seccomp")
def empty_course_file(world):
    os.truncate(os.path.join(world.course, "empty_me"), 0)


@attack("landlock3", "seccomp")
def empty_readable_file_by_opening(world):
    os.close(os.open(os.path.join(world.stage, "empty_me"), os.O_RDONLY | os.O_TRUNC))


@attack("landlock")
def write_readable_file(world):
    Path(world.stage, "write_me").open("a").close()


@attack("seccomp")
def change_mode_of_course_file(world):
    path = os.path.join(world.course, "chmod_me")
    os.chmod(path, 0)
    if os.stat(path).st_mode & 0o777:
        raise PermissionError("nothing happened")


@attack("seccomp")
def change_mode_of_course_folder(world):
    path = os.path.join(world.course, "chmod_folder")
    os.chmod(path, 0o711)
    if os.stat(path).st_mode & 0o777 != 0o711:
        raise PermissionError("nothing happened")


@attack("seccomp")
def change_times_of_course_file(world):
    path = os.path.join(world.course, "utime_me")
    os.utime(path, (1, 1))
    if os.stat(path).st_mtime != 1:
        raise PermissionError("nothing happened")


@attack("seccomp")
def label_course_file(world):
    os.setxattr(os.path.join(world.course, "label_me"), "user.tito", b"x")


# Other processes


@attack("landlock")
def read_environment_of_victim(world):
    return open(f"/proc/{world.victim}/environ", "rb").read()


@attack("landlock")
def read_memory_of_victim(world):
    return os.close(os.open(f"/proc/{world.victim}/mem", os.O_RDONLY))


@attack("landlock")
def read_command_line_of_parent(world):
    return open(f"/proc/{os.getppid()}/cmdline", "rb").read()


@attack("landlock")
def list_processes(world):
    return os.listdir("/proc")


@attack("landlock")
def read_own_environment_as_started(world):
    return open("/proc/self/environ", "rb").read()


@attack("landlock6", "seccomp")
def signal_victim(world):
    os.kill(world.victim, 0)


@attack("landlock6", "seccomp")
def signal_parent(world):
    os.kill(os.getppid(), 0)


@attack("seccomp")
def signal_own_group(world):
    os.kill(0, 0)


@attack("landlock6", "seccomp")
def signal_thread_of_victim(world):
    system_call("tgkill", world.victim, world.victim, 0)


@attack("landlock6", "seccomp")
def signal_when_a_pipe_is_ready(world):
    reader, _ = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, world.victim)


@attack("landlock", "seccomp")
def trace_victim(world):
    system_call("ptrace", 0x4206, world.victim, 0, 0)  # PTRACE_SEIZE; ends with this process


@attack("landlock", "seccomp")
def read_memory_of_victim_by_call(world):
    try:
        system_call("process_vm_readv", world.victim, 0, 0, 0, 0, 0)
    except OSError as error:
        if error.errno not in (1, 13):
            raise AssertionError(error) from error
        raise


@attack("seccomp")
def open_victim_by_number(world):
    os.close(os.pidfd_open(world.victim))


@attack("seccomp")
def slow_victim_down(world):
    os.setpriority(os.PRIO_PROCESS, world.victim, 19)


@attack("seccomp")
def slow_all_of_the_user_down(world):
    os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_USER, 0))


@attack("seccomp")
def pin_victim_to_a_core(world):
    os.sched_setaffinity(world.victim, os.sched_getaffinity(world.victim))


@attack("seccomp")
def schedule_victim(world):
    os.sched_setscheduler(world.victim, os.SCHED_BATCH, os.sched_param(0))


@attack("seccomp")
def limit_victim(world):
    resource.prlimit(world.victim, resource.RLIMIT_NOFILE, (64, 64))


@attack("seccomp")
def outlive_the_parent(world):
    sys.modules["sandbox.libc"].prctl(1, 0)


@attack("seccomp")
def allow_debuggers_again(world):
    sys.modules["sandbox.libc"].prctl(4, 1)


# New processes


@attack("seccomp")
def fork(world):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


@attack("seccomp")
def spawn(world):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


@attack("seccomp")
def run_a_program(world):
    subprocess.run(["/bin/true"], check=True)


@attack("seccomp")
def run_a_shell(world):
    if os.system("true") != 0:
        raise PermissionError("the shell did not run")


# Memory and channels outside all limits


@attack("seccomp")
def memory_file(world):
    os.close(os.memfd_create("x"))


@attack("seccomp")
def system_v_memory(world):
    system_call("shmget", 0, 4096, 0o1600)


@attack("seccomp")
def message_queue(world):
    system_call("msgget", 0, 0o1600)


@attack("seccomp")
def ring(world):
    os.close(system_call("io_uring_setup", 2, buffer(256)))


@attack("seccomp")
def user_faults(world):
    os.close(system_call("userfaultfd", 1))


@attack("seccomp")
def keyring(world):
    system_call("keyctl", 0, -3, 1)  # KEYCTL_GET_KEYRING_ID of the session


@attack("seccomp")
def performance_counters(world):
    attributes = ctypes.create_string_buffer(128)
    ctypes.c_uint32.from_buffer(attributes, 0).value = 1  # software event
    ctypes.c_uint32.from_buffer(attributes, 4).value = 112
    ctypes.c_uint64.from_buffer(attributes, 40).value = 1 << 5 | 1 << 6  # user code only
    os.close(system_call("perf_event_open", ctypes.addressof(attributes), 0, -1, -1, 0))


@attack("seccomp")
def watch_files(world):
    os.close(system_call("inotify_init1", 0))


@attack("seccomp")
def new_namespace(world):
    system_call("unshare", 0x10000000)


@attack("seccomp")
def file_by_handle(world):
    handle = buffer(256)
    ctypes.c_uint32.from_address(handle).value = 128
    system_call("name_to_handle_at", -100, buffer_of(b"/etc/passwd"), handle, buffer(8), 0)


def buffer_of(text):
    """The address of a text for the kernel."""
    KEPT.append(ctypes.create_string_buffer(text))
    return ctypes.addressof(KEPT[-1])


# The network


@attack("landlock4", "seccomp")
def connect_tcp(world):
    socket.create_connection(("127.0.0.1", world.tcp), timeout=2).close()


@attack("landlock4", "seccomp")
def listen_tcp(world):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))


@attack("seccomp")
def send_udp(world):
    with socket.socket(type=socket.SOCK_DGRAM) as sender:
        sender.sendto(b"hello", ("127.0.0.1", world.udp))


@attack("seccomp")
def connect_unix(world):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(world.unix)


@attack("landlock6", "seccomp")
def connect_abstract(world):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + world.abstract)


@attack("seccomp")
def send_to_a_third_by_socket_pair(world):
    pair = socket.socketpair(type=socket.SOCK_DGRAM)
    pair[0].sendto(b"hello", world.unix_datagrams)


@attack("seccomp")
def ask_the_kernel_for_routes(world):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()


# Limits


@attack("rlimits")
def big_file(world):
    with open(os.path.join(world.scratch, "big"), "wb") as file:
        file.truncate(world.file_bytes)
        file.seek(world.file_bytes)
        file.write(b"x")


@attack("tmpfs")
def many_small_files(world):
    size = 1 << 20
    paths = [Path(world.scratch, f"part_{i}") for i in range(3 * world.file_bytes // size)]
    try:
        for path in paths:
            path.write_bytes(bytes(size))
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


@attack("rlimits")
def much_memory(world):
    try:
        mmap.mmap(-1, world.memory_bytes).close()
    except (OSError, MemoryError) as error:
        raise PermissionError(str(error)) from error


@attack("rlimits")
def many_files(world):
    files = []
    try:
        for _ in range(600):
            files.append(os.open("/dev/null", os.O_RDONLY))
    finally:
        for file in files:
            os.close(file)


@attack("rlimits")
def core_dump(world):
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        raise PermissionError("no core dumps")


@attack("capabilities")
def raise_own_limit(world):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if hard == resource.RLIM_INFINITY:
        return
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard + 1))
    except ValueError as error:
        raise PermissionError(str(error)) from error


@attack("capabilities")
def higher_priority(world):
    now = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, now + 5)  # what everybody may
    os.setpriority(os.PRIO_PROCESS, 0, now + 4)
