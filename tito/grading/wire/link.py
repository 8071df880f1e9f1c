"""Frames over a pipe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np

from tito.grading.wire.arrays import MOST_BUFFERS
from tito.grading.wire.values import BAD_DATA, MOST_ARRAYS, WireError, empty, is_count, require

MOST_HEAD = 8 << 20


class Frame:
    """One message, still encoded: `body`, descriptors of arrays and regions, buffers."""

    __slots__ = ("arrays", "body", "buffers", "regions")

    def __init__(self, body: list, arrays: list, regions: list, buffers: list) -> None:
        self.body = body
        self.arrays = arrays
        self.regions = regions
        self.buffers = buffers


class Link:
    """Reads and writes frames over a pipe.

    recv, recv_into, send : as `Channel`'s; they raise when the other side is gone
    most : bytes to accept in all
    """

    def __init__(
        self,
        recv: Callable[[int], bytes],
        recv_into: Callable[[memoryview], int],
        send: Callable[[Any], None],
        most: float = float("inf"),
    ) -> None:
        self._recv, self._recv_into, self._send = recv, recv_into, send
        self._ahead = b""  # read already, belongs to the next frame
        self._left = most

    def read(self) -> Frame:
        """The next frame; WireError for one that is malformed or too large."""
        length = int.from_bytes(self._small(8), "little")
        if length > MOST_HEAD:
            raise WireError(f"a head of {length} bytes")
        try:
            body, arrays, regions, sizes = msgpack.unpackb(
                self._small(length), unicode_errors="surrogatepass", max_ext_len=0, max_map_len=0
            )
        except (*BAD_DATA, msgpack.exceptions.UnpackException) as error:
            raise WireError(f"a head that cannot be read ({type(error).__name__})") from None
        for part in (body, arrays, regions, sizes):
            if type(part) is not list or len(part) > MOST_ARRAYS:
                raise WireError("head")
        total = 0
        for n in sizes:
            require(is_count(n, MOST_BUFFERS), "buffer sizes")
            total += n
        self._left -= length + total
        if total > MOST_BUFFERS or self._left < 0:
            raise WireError("too much data")
        return Frame(body, arrays, regions, [self._large(n) for n in sizes])

    def write(self, body: list, arrays: list = (), regions: list = (), buffers: list = ()) -> None:
        """Send a frame; TypeError if it is too large."""
        views = [memoryview(b).cast("B") if len(b) else b"" for b in buffers]
        sizes = [len(v) for v in views]
        total = sum(sizes)
        if total > MOST_BUFFERS or len(sizes) > MOST_ARRAYS:
            raise TypeError(f"the value is too large: more than {MOST_BUFFERS >> 20} MB of arrays")
        head = msgpack.packb([body, arrays, regions, sizes], unicode_errors="surrogatepass")
        if len(head) > MOST_HEAD:
            raise TypeError(f"the value is too large: more than {MOST_HEAD >> 20} MB of items")
        start = len(head).to_bytes(8, "little") + head
        if total <= 1 << 16:
            self._send(b"".join([start, *views]) if views else start)
            return
        self._send(start)
        for view in views:
            if len(view):
                self._send(view)

    def _small(self, n: int) -> bytes:
        ahead = self._ahead
        while len(ahead) < n:
            ahead += self._recv(max(n - len(ahead), 1 << 16))
        self._ahead = ahead[n:]
        return ahead[:n]

    def _large(self, n: int) -> np.ndarray:
        buffer = empty(n, np.uint8)
        view = memoryview(buffer) if n else memoryview(bytearray())
        ready = self._ahead[:n]
        self._ahead = self._ahead[n:]
        view[: len(ready)] = ready
        view = view[len(ready) :]
        while len(view):
            view = view[self._recv_into(view) :]
        return buffer
