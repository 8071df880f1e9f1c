"""The engine that works everywhere: each student process is a new Python, joined by pipes."""

from __future__ import annotations

import os
import select
import signal
import site
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from tito.grading.engine.base import Channel, ChannelClosed, Engine
from tito.grading.limits import Limits
from tito.grading.stage import Stage

PIPE_BYTES = 1 << 20
SET_PIPE_SIZE = 1031  # fcntl.F_SETPIPE_SZ, Linux
ONE_THREAD = (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
KEPT_ENVIRONMENT = ("SYSTEMROOT", "SYSTEMDRIVE", "NUMBER_OF_PROCESSORS", "LD_LIBRARY_PATH", "LANG")


class SpawnEngine(Engine):
    """Starts `python -I -S`: no environment, no site, no .pth files, no editable installs."""

    name = "spawn"

    def start(self, stage: Stage, limits: Limits) -> Channel:
        stage.prepare(limits)
        return SpawnChannel(
            subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", _bootstrap(stage)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=stage.scratch,
                env=_environment(stage),
                start_new_session=os.name == "posix",
                pass_fds=() if stage.arena is None else (stage.arena,),
            ),
            limits.output,
        )


class SpawnChannel(Channel):
    """A subprocess: its stdin and stdout are the wire, its stderr what is written to 1 and 2."""

    def __init__(self, process: subprocess.Popen, most_output: int) -> None:
        self.pid = process.pid
        self._process = process
        self._incoming = process.stdout.fileno()
        self._outgoing = process.stdin.fileno()
        self._killed = threading.Lock()
        self._cpu = 0.0
        self._output = _Output(process.stderr.fileno(), most_output)
        self._poll: select.poll | None = None
        if os.name == "posix":
            self._make_interruptible()

    def _make_interruptible(self) -> None:
        """A kill wakes the reader up, even where a stray process keeps the pipe open."""
        import fcntl

        if sys.platform == "linux":
            for pipe in (self._incoming, self._outgoing):
                try:
                    fcntl.fcntl(pipe, SET_PIPE_SIZE, PIPE_BYTES)
                except OSError:
                    break  # over the user's limit: small pipes work too
        self._wake_reader, self._wake = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._incoming, select.POLLIN)
        self._poll.register(self._wake_reader, select.POLLIN)

    def recv(self, most: int) -> bytes:
        if self._poll is not None:
            self._wait()
        try:
            data = os.read(self._incoming, most)
        except OSError:
            raise ChannelClosed from None
        if not data:
            raise ChannelClosed
        return data

    def recv_into(self, view: memoryview) -> int:
        data = self.recv(min(len(view), PIPE_BYTES))
        view[: len(data)] = data
        return len(data)

    def _wait(self) -> None:
        if any(descriptor == self._wake_reader for descriptor, _ in self._poll.poll()):
            raise ChannelClosed

    def send(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        try:
            while len(view):
                view = view[os.write(self._outgoing, view) :]
        except (OSError, ValueError):
            raise ChannelClosed from None

    def cpu_seconds(self) -> float:
        with suppress(OSError):  # gone: what was read last
            self._cpu = _cpu_seconds(self.pid)
        return self._cpu

    def kill(self) -> None:
        with self._killed:
            if self._process.returncode is not None:
                return
            self.cpu_seconds()
            _kill_group(self._process)
            self._process.wait()
            if self._poll is not None:
                os.write(self._wake, b"x")
            self._output.finish()

    def close(self) -> None:
        """Give the pipes back; nobody may be waiting on them any more."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            stream.close()
        if self._poll is not None:
            os.close(self._wake)
            os.close(self._wake_reader)
            self._poll = None

    def exit_reason(self) -> str:
        try:
            code = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return "closed its connection to the judge"
        if code < 0:
            try:
                return f"killed by {signal.Signals(-code).name}"
            except ValueError:
                return f"killed by signal {-code}"
        return f"ended the process (exit code {code})"

    def take_output(self) -> str:
        return self._output.take()


class _Output:
    """Reads a pipe to its end in a thread of its own and keeps the beginning."""

    def __init__(self, descriptor: int, most: int) -> None:
        self._descriptor = descriptor
        self._most = most
        self._kept = b""
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def take(self) -> str:
        with self._lock:
            kept, self._kept = self._kept, b""
        return kept.decode("utf-8", "replace")

    def finish(self) -> None:
        self._thread.join(timeout=0.2)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._descriptor, 1 << 16)
            except OSError:
                return
            if not data:
                return
            with self._lock:
                self._kept += data[: max(0, self._most - len(self._kept))]


def _bootstrap(stage: Stage) -> str:
    """The first lines of the process: its path, then the child."""
    library = str(stage.library)
    return (
        "import sys\n"
        f"sys.path[:0] = [{library!r}]\n"
        # Last, so that a file a cell writes can be imported but hides nothing.
        f"sys.path += {[*package_folders(), str(stage.scratch)]!r}\n"
        "from tito.grading.child.main import main\n"
        f"main({str(stage.root)!r}, {os.getpid()}, {stage.arena})\n"
    )


def package_folders() -> list[str]:
    """Where installed packages are found: folders only, nothing that .pth files or hooks add."""
    candidates = [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages")]
    candidates += site.getsitepackages()
    if site.ENABLE_USER_SITE:
        candidates.append(site.getusersitepackages())
    return [p for p in dict.fromkeys(candidates) if os.path.isdir(p)]


def _environment(stage: Stage) -> dict[str, str]:
    """Nothing of ours but what a Python on this system needs; one BLAS thread."""
    scratch = str(stage.scratch)
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    homes = ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "MPLCONFIGDIR", "NUMBA_CACHE_DIR")
    return {
        **kept,
        **dict.fromkeys(homes, scratch),
        **dict.fromkeys(ONE_THREAD, "1"),
        "PATH": os.defpath,
        "MPLBACKEND": "agg",
    }


def _cpu_seconds(pid: int) -> float:
    if sys.platform == "linux":
        return time.clock_gettime((~pid << 3) | 2)  # CPUCLOCK_SCHED of the whole process
    import psutil

    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        raise OSError from None
    return times.user + times.system


def _kill_group(process: subprocess.Popen) -> None:
    """The process and, where it leads a group of its own, all it started."""
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)
            return
        except OSError:
            pass
    process.kill()
