"""What crosses the border between the judge and the student's process: frames and plain values.

A frame is `<u64 length of head><head><buffers>`. The head is msgpack, with neither maps nor
extension types, and says how long the buffers are. Values are trees of plain data; nothing is ever
pickled, and nothing that arrives can name code to run. Every size is checked before memory is
taken for it, so the side that reads survives whatever the other side writes: it gets a WireError.

Arrays keep dtype, strides, offset and flags, and what shares memory on one side does so on the
other: arrays lie in *regions*, stretches of memory that both sides know by a number. A region's
gaps (the odd columns of `x[:, ::2]`) are zeros on arrival, never what lay there.

The folder is copied into the student's side as it stands: it needs the standard library, NumPy and
msgpack.
"""

from __future__ import annotations

from tito.grading.wire.arrays import (
    ArrayNode,
    Span,
    address,
    array_node,
    bounds,
    covers,
    element_bytes,
    elements,
    is_dense,
    place_span,
    raw_memory,
    region_memory,
    same_bytes,
    spans,
    view_of,
)
from tito.grading.wire.link import MOST_HEAD, Frame, Link
from tito.grading.wire.values import (
    BAD_DATA,
    Decoder,
    Encoder,
    WireError,
    decode_dtype,
    encode_dtype,
    is_count,
    library_function,
    library_name,
    require,
)

__all__ = [
    "BAD_DATA",
    "MOST_HEAD",
    "ArrayNode",
    "Decoder",
    "Encoder",
    "Frame",
    "Link",
    "Span",
    "WireError",
    "address",
    "array_node",
    "bounds",
    "covers",
    "decode_dtype",
    "element_bytes",
    "elements",
    "encode_dtype",
    "is_count",
    "is_dense",
    "library_function",
    "library_name",
    "place_span",
    "raw_memory",
    "region_memory",
    "require",
    "same_bytes",
    "spans",
    "view_of",
]
