"""What compiled code does, and above all its innermost loops, read from the assembly.

    loops = inner_loops(claim("assembly", matmul_ikj_kernel, a, b, c))
    points(1 if any(loop.multiplies for loop in loops) else 0, "no packed multiplication")

An instruction somewhere in the text proves little: compilers keep a fast and a slow version of a
loop, and code before and behind it. `inner_loops` looks at the blocks that jump back to their own
first line, which is where the time of a kernel goes. x86-64 and AArch64 are known; of another
machine's assembly nothing is found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = re.compile(r"^([.\w$]+):")
_JUMP = re.compile(r"^(?:j\w+|b(?:\.\w+)?|cbn?z|tbn?z)\s")
_COMMENT = re.compile(r"\s*(?:##|//|;).*")

# "Packed" works on several float32 (ps, .4s) or float64 (pd, .2d) at once.
_MULTIPLIES = r"v?(?:fn?m(?:add|sub)\d+|mul)p[sd]\b|(?:fml[as]|fmul)(?:\.[24][sd])?\s+v\d+\b"
_COMPARES = r"v?(?:max|min|cmp\w*)p[sd]\b|f(?:max|min|cm\w\w)(?:nm)?(?:\.[24][sd])?\s+v\d+\b"
_DOUBLES = r"v?(?:fn?m(?:add|sub)\d+|mul|add|sub|div)pd\b|f\w+(?:\.2d\s+v\d|\s+v\d+\.2d)"
_STORES = r"v?mov(?:nt)?[au]?p[sd]\s+%[xyz]mm\d+,.*\)$|st(?:n?p|u?r)\s+[qdv]\d|st1\b"
_CALLS = r"callq?\b|blr?\s"
_WIDTHS = {"zmm": 512, "ymm": 256, "xmm": 128}


@dataclass(frozen=True)
class Code:
    """A stretch of assembly.

    lines : its instructions, without comments
    """

    lines: tuple[str, ...]

    @property
    def multiplies(self) -> int:
        """Packed multiplications, fused with an addition or not."""
        return self._count(_MULTIPLIES)

    @property
    def compares(self) -> int:
        """Packed maxima, minima and comparisons."""
        return self._count(_COMPARES)

    @property
    def doubles(self) -> int:
        """Packed arithmetic on float64."""
        return self._count(_DOUBLES)

    @property
    def stores(self) -> int:
        """Vectors written to memory."""
        return self._count(_STORES)

    @property
    def calls(self) -> int:
        """Calls of other functions."""
        return self._count(_CALLS)

    @property
    def bits(self) -> int:
        """Width of its widest vector register; 0 where it has none."""
        text = "\n".join(self.lines)
        if re.search(r"\bv\d+\.[24][sd]|\.[24][sd]\s+v\d", text):
            return 128
        return max((bits for name, bits in _WIDTHS.items() if name in text), default=0)

    def _count(self, pattern: str) -> int:
        return sum(bool(re.match(pattern, line)) for line in self.lines)


def all_code(asm: str) -> Code:
    """The whole text."""
    return Code(tuple(filter(None, map(_instruction, asm.splitlines()))))


def inner_loops(asm: str) -> list[Code]:
    """The loops that hold no other loop and no branch, in their order."""
    found: list[Code] = []
    label, lines = "", []
    for raw in asm.splitlines():
        if match := _LABEL.match(raw):
            label, lines = match[1], []
        elif line := _instruction(raw):
            lines.append(line)
            if label and _JUMP.match(line) and re.split(r"[\s,]+", line)[-1] == label:
                found.append(Code(tuple(lines)))
                label = ""
    return found


def _instruction(raw: str) -> str:
    """The instruction in a line; "" for labels, directives and comments."""
    line = _COMMENT.sub("", raw).strip()
    return "" if line.startswith((".", "#")) or _LABEL.match(line) else line
