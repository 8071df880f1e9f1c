"""Does anything in a kit give an answer away? Runs of tokens are looked for in every file.

A run of 12 tokens of a solution, a hidden test, a marks scheme or a rubric may stand in a kit
only where the student version itself holds it (its given and stub code, visible tests and texts)
or where a person has entered it in `tests/leaks_allowed` with a reason. Files are searched as
they are, and as what they carry: strings of JSON, base64 and hex parts, archives within archives.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tito import strip
from tito.errors import Problems, UserError
from tito.files import decode, read_text
from tito.notebook import Cell, Notebook

RUN = 12
ALLOWED_FILE = "tests/leaks_allowed"

# What a carrier may unpack to before the scan gives up and says so.
MAX_DEPTH = 6
MAX_BYTES = 256 << 20
TOO_MUCH = "is packed too deep or too large to be searched for answers"
UNPACK = "leave it out of the course, or unpack it"

Gram = tuple[str, ...]

# Python's tokens, but the words of strings one by one and without quotes: an answer is found
# whichever way it is quoted or escaped, and alike under every Python version.
_TOKEN = re.compile(
    r"[^\W\d]\w*|\d[\w.]*|\.\.\.|\*\*=?|//=?|>>=?|<<=?|->|:=|[-+*/%&|^@=!<>]=|[^\s\w\"'\\#`]"
)
_ESCAPED_BREAK = re.compile(r"\\+[nrt]")
_COMMENT = re.compile(r"#.*")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}(?:\s*\n\s*[A-Za-z0-9+/_-]{4,})*={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}\s?){24,}")


@dataclass(frozen=True)
class Secrets:
    """What no file of a kit may hold: each run of tokens and the cell that it is from."""

    grams: Mapping[Gram, str]

    @classmethod
    def together(cls, parts: Iterable[Secrets]) -> Secrets:
        """The secrets of several modules as one."""
        return cls({gram: origin for part in parts for gram, origin in part.grams.items()})

    def without(self, texts: Iterable[str]) -> Secrets:
        """What is left of them where these texts are handed out on purpose."""
        given = {gram for text in texts for gram in grams(tokens(without_comments(text)))}
        return Secrets({gram: origin for gram, origin in self.grams.items() if gram not in given})


@dataclass(frozen=True)
class Leak:
    """A place in a kit where text of a secret cell stands."""

    file: str
    where: str  # "", "cell 3 outputs", "member x.py of a zip", ...
    origin: str  # "02_loops cell 5 (relu_loops)"
    tokens: int
    excerpt: str

    def as_error(self) -> UserError:
        return UserError(
            f"gives away {self.tokens} tokens of {self.origin}",
            path=self.file,
            cell=self.where or None,
            text=self.excerpt,
            hint=f"take it out, or enter the run with a reason in {ALLOWED_FILE}",
        )


def tokens(text: str) -> list[str]:
    """The tokens of any text; quotes, backslashes and the sign of a comment are none.

    >>> tokens("x = f(1.5, 'no way')  # why")
    ['x', '=', 'f', '(', '1.5', ',', 'no', 'way', ')', 'why']
    """
    return _TOKEN.findall(_unescaped(text))


def _unescaped(text: str) -> str:
    return _ESCAPED_BREAK.sub("\n", text)


def grams(words: list[str]) -> Iterator[Gram]:
    """Every run of RUN tokens."""
    return zip(*(words[i:] for i in range(RUN)))


def without_comments(source: str) -> str:
    """Python source without its comments; by a rougher rule where it does not tokenize."""
    lines = source.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column]
    except (tokenize.TokenError, SyntaxError):
        return _COMMENT.sub("", source)
    return "\n".join(lines)


def _plain(cell: Cell, source: str) -> str:
    return without_comments(source) if cell.kind == "code" else source


def secrets_of(
    master: Notebook, student: Notebook, name: str, *, solutions: bool = True
) -> Secrets:
    """The runs of a module that its student version does not hold itself.

    solutions : False for a module whose solutions go along on purpose (`--solved`)
    """
    own = {g for c in student.cells for g in grams(tokens(_plain(c, c.source)))}
    found: dict[Gram, str] = {}
    for cell in master.cells:
        for part in secret_parts(cell, solutions=solutions):
            for gram in grams(tokens(part)):
                if gram not in own:
                    found.setdefault(gram, f"{name} {cell.label}")
    return Secrets(found)


def secret_parts(cell: Cell, *, solutions: bool = True) -> list[str]:
    """The texts of a master's cell that students never see, comments left out."""
    whole = _plain(cell, cell.source)
    if cell.hidden and cell.graded:
        return [whole]
    parts = [
        _lines(cell, whole, region)
        for kind in (strip.HIDDEN_TESTS, strip.MARK_SCHEME)
        for region in strip.regions(cell, kind)
    ]
    # An answer in words is a rubric; it stays secret where solutions go along.
    if cell.solution and (solutions or cell.kind != "code"):
        regions = strip.regions(cell, strip.SOLUTION)
        parts += [_lines(cell, whole, r) for r in regions] if regions else [whole]
    return parts


def _lines(cell: Cell, text: str, region: strip.Region) -> str:
    return "\n".join(text.split("\n")[region.begin : region.end - 1])


@dataclass(frozen=True)
class Allowed:
    """An entry of the reviewed list."""

    reason: str
    line: int
    grams: frozenset[Gram]


def allowed_runs(path: Path) -> set[Gram]:
    """The runs of the reviewed list; none where there is no list."""
    return {gram for entry in read_allowed(path) for gram in entry.grams}


def read_allowed(path: Path) -> list[Allowed]:
    """The reviewed list; an entry is `reason: ...` and the text below it."""
    if not path.is_file():
        return []
    return [_entry(path, number, block) for number, block in _entries(read_text(path)[0])]


def _entry(path: Path, number: int, block: str) -> Allowed:
    first, _, text = block.partition("\n")
    match = re.fullmatch(r"reason:\s*(\S.*)", first)
    if match is None:
        raise UserError(
            "an entry begins with its reason",
            path=path,
            line=number,
            text=first,
            hint="write 'reason: why students may see this', and the text below it",
        )
    words = tokens(text)
    if len(words) < RUN:
        raise UserError(
            f"an entry of {len(words)} tokens allows nothing: a run has {RUN}",
            path=path,
            line=number,
            text=first,
        )
    return Allowed(match[1], number, frozenset(grams(words)))


def _entries(text: str) -> Iterator[tuple[int, str]]:
    """(line, entry) of the blocks between blank lines, lines that begin with # left out."""
    block: list[str] = []
    first = 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            first = first if block else number
            block.append(line)
        elif block:
            yield first, "\n".join(block)
            block = []


def check(files: Mapping[str, bytes], secrets: Secrets, allowed: set[Gram]) -> None:
    """UserError that lists every leak of `files` (name in the kit -> content)."""
    leaks = scan(files, secrets, allowed)
    if leaks:
        raise Problems([leak.as_error() for leak in leaks])


def scan(files: Mapping[str, bytes], secrets: Secrets, allowed: set[Gram]) -> list[Leak]:
    """Every place where a secret run stands; one leak for each file, place and secret cell."""
    wanted = {g: origin for g, origin in secrets.grams.items() if g not in allowed}
    found: dict[tuple[str, str, str], Leak] = {}
    for name, data in files.items():
        for where, text in _texts_of(name, data):
            for origin, words in _runs(text, wanted):
                leak = Leak(name, where, origin, len(words), _excerpt(words))
                old = found.get((name, where, origin))
                if old is None or old.tokens < leak.tokens:
                    found[name, where, origin] = leak
    return list(found.values())


def _texts_of(name: str, data: bytes) -> Iterator[tuple[str, str]]:
    try:
        yield from _Carrier(name).texts("", data)
    except UserError as error:
        error.path = name
        raise


def _runs(text: str, wanted: Mapping[Gram, str]) -> Iterator[tuple[str, list[str]]]:
    """(origin, tokens) of each run; the text is read without its comments, and with them."""
    plain = _unescaped(text)
    readings = [_TOKEN.findall(plain)]
    if "#" in plain:
        readings.append(_TOKEN.findall(_COMMENT.sub("", plain)))
    for words in readings:
        at = 0
        hits = [(i, wanted[g]) for i, g in enumerate(grams(words)) if g in wanted]
        while at < len(hits):
            end = at
            while end + 1 < len(hits) and hits[end + 1] == (hits[end][0] + 1, hits[at][1]):
                end += 1
            yield hits[at][1], words[hits[at][0] : hits[end][0] + RUN]
            at = end + 1


def _excerpt(words: list[str], limit: int = 90) -> str:
    line = " ".join(words)
    return line if len(line) <= limit else line[: limit - 4] + " ..."


class _Carrier:
    """One file of a kit and all texts that it carries, as (where, text)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.left = MAX_BYTES

    def texts(self, where: str, data: bytes, depth: int = 0) -> Iterator[tuple[str, str]]:
        self.left -= len(data)
        if depth > MAX_DEPTH or self.left < 0:
            raise UserError(TOO_MUCH, cell=where or None, hint=UNPACK)
        for label, inner in _unpacked(data, self.left):
            yield from self.texts(_join(where, label), inner, depth + 1)
        text = decode(data)[0]
        for label, part in _json_texts(text) or [("", text)]:
            yield _join(where, label), part
            for inner in _encoded(part):
                yield from self.texts(_join(where, _join(label, "encoded")), inner, depth + 1)


def _join(where: str, label: str) -> str:
    return f"{where}, {label}" if where and label else where or label


def _json_texts(text: str) -> list[tuple[str, str]]:
    """(where, text) of the strings of a JSON document: its own signs are no tokens of them."""
    if not text.lstrip().startswith(("{", "[")):
        return []
    try:
        # As pairs: of a key that is there twice, both values count.
        return list(_strings(json.loads(text, object_pairs_hook=_Pairs), ()))
    except (ValueError, RecursionError):
        return []


class _Pairs(list):
    """A JSON object as (key, value) pairs."""


def _strings(value: Any, path: tuple) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield _place(path), value
    elif isinstance(value, _Pairs):
        for key, inner in value:
            yield _place((*path, "a key")), key
            yield from _strings(inner, (*path, key))
    elif isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        # A notebook's lines carry their ends; other lists are put under one another.
        yield _place(path), ("" if value[0].endswith("\n") else "\n").join(value)
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            yield from _strings(inner, (*path, number))


def _place(path: tuple) -> str:
    """A JSON path as people find it: "cell 3 outputs" in a notebook, else its keys.

    Never empty, so that a place in a document is told from the document as a whole.
    """
    if len(path) > 2 and path[0] == "cells":
        return f"cell {path[1]} {path[2]}"
    return ".".join(str(p) for p in path) or "a string"


def _encoded(text: str) -> Iterator[bytes]:
    """What the base64 and hex parts of a text say, where that is text or packed data."""
    for match in _BASE64.finditer(text):
        yield from filter(_worth_reading, _from_base64(match[0]))
    for match in _HEX.finditer(text):
        yield from filter(_worth_reading, [bytes.fromhex("".join(match[0].split()))])


def _from_base64(text: str) -> Iterator[bytes]:
    plain = "".join(text.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    try:
        yield base64.b64decode(plain + "=" * (-len(plain) % 4))
    except (binascii.Error, ValueError):
        return


def _worth_reading(data: bytes) -> bool:
    """Words that only look encoded decode to noise, which need not be searched."""
    if any(opens(data) for opens, _ in _PACKERS):
        return True
    head = data[:200]
    return sum(32 <= b < 127 or b in b"\n\r\t" for b in head) > 0.85 * len(head)


def _unpacked(data: bytes, limit: int) -> list[tuple[str, bytes]]:
    """(label, content) of what an archive or a compressed file holds."""
    for opens, unpack in _PACKERS:
        if opens(data):
            try:
                return unpack(data, limit)
            except UserError:
                raise
            except Exception:  # it only looked like one, or it is damaged: searched as it is
                continue
    return []


def _of_zip(data: bytes, limit: int) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [m for m in archive.infolist() if not m.is_dir()]
        _refuse_bomb(sum(m.file_size for m in members), limit)
        return [(f"{m.filename} in a zip", archive.read(m)) for m in members]


def _of_tar(data: bytes, limit: int) -> list[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = [m for m in archive.getmembers() if m.isfile()]
        _refuse_bomb(sum(m.size for m in members), limit)
        return [(f"{m.name} in a tar", archive.extractfile(m).read()) for m in members]


def _of_stream(opener: Callable[[io.BytesIO], Any]):
    def unpack(data: bytes, limit: int) -> list[tuple[str, bytes]]:
        content = opener(io.BytesIO(data)).read(limit + 1)
        _refuse_bomb(len(content), limit)
        return [("compressed", content)]

    return unpack


def _of_zlib(data: bytes, limit: int) -> list[tuple[str, bytes]]:
    content = zlib.decompressobj().decompress(data, limit + 1)
    _refuse_bomb(len(content), limit)
    return [("compressed", content)] if content else []


def _refuse_bomb(size: int, limit: int) -> None:
    if size > limit:
        raise UserError(TOO_MUCH, hint=UNPACK)


_PACKERS: tuple[tuple[Callable[[bytes], bool], Callable], ...] = (
    # A zip is found by its end, so one behind other data counts; b"PK" saves the search.
    (lambda d: b"PK\x03\x04" in d and zipfile.is_zipfile(io.BytesIO(d)), _of_zip),
    (lambda d: d[257:262] == b"ustar", _of_tar),
    (lambda d: d[:2] == b"\x1f\x8b", _of_stream(lambda f: gzip.GzipFile(fileobj=f))),
    (lambda d: d[:3] == b"BZh", _of_stream(bz2.BZ2File)),
    (lambda d: d[:6] == b"\xfd7zXZ\x00", _of_stream(lzma.LZMAFile)),
    (lambda d: d[:1] == b"\x78" and d[1:2] in b"\x01\x5e\x9c\xda", _of_zlib),
)
