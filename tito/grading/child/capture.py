"""Keeps what student code prints and warns, up to a limit, until the next answer takes it along."""

from __future__ import annotations

import io
import sys
import threading
import warnings

MOST_WARNINGS = 20


class Capture:
    """The text written to sys.stdout and sys.stderr, in the order it was written."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: list[bytes] = []
        self._size = 0
        self._warned: list[tuple[type, str]] = []
        self._streams: dict[str, io.TextIOWrapper] = {}

    def install(self) -> None:
        """Become sys.stdout and sys.stderr, again too if student code closed them."""
        for name, descriptor in (("stdout", 1), ("stderr", 2)):
            stream = self._streams.get(name)
            if stream is None or stream.closed:
                self._streams[name] = _stream(self, descriptor)
                setattr(sys, name, self._streams[name])

    def record_warnings(self) -> None:
        """Every warning counts, not only the first of its line: the judge's side filters."""
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("always", category=DeprecationWarning, module="__main__")
        for kind in (PendingDeprecationWarning, ImportWarning, ResourceWarning, BytesWarning):
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = self._show_warning

    def take(self) -> str:
        """The text since the last call, cut at the limit with a word about what is missing."""
        with self._lock:
            text = b"".join(self._kept).decode("utf-8", "replace")
            if self._size > self._most:
                text += f"\n... {self._size - self._most} more bytes of output were not kept\n"
            self._kept, self._size = [], 0
        return text

    def take_warnings(self) -> list[tuple[type, str]]:
        """Category and message of the warnings since the last call."""
        taken, self._warned = self._warned, []
        return taken

    def write(self, data: bytes) -> None:
        with self._lock:
            room = self._most - self._size
            if room > 0:
                self._kept.append(bytes(data[:room]))
            self._size += len(data)

    def _show_warning(self, message, category, filename, lineno, file=None, line=None) -> None:
        if file is not None:
            file.write(warnings.formatwarning(message, category, filename, lineno, line))
        elif len(self._warned) < MOST_WARNINGS:
            self._warned.append((category, str(message)))


class _Raw(io.RawIOBase):
    def __init__(self, capture: Capture, descriptor: int) -> None:
        self._capture = capture
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        data = bytes(data)
        self._capture.write(data)
        return len(data)

    def fileno(self) -> int:
        return self._descriptor


def _stream(capture: Capture, descriptor: int) -> io.TextIOWrapper:
    raw = _Raw(capture, descriptor)
    return io.TextIOWrapper(raw, "utf-8", errors="backslashreplace", write_through=True)
