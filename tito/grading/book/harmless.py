"""What students wrote, made fit for formgrader's pages, which show Markdown as it is.

A script in an answer would run in the grader's browser, logged in as the grader, and could set
points. The text stays as the student wrote it and looks the same: an invisible character (word
joiner) stands where a tag, an entity, a scheme that runs code or a link in mathematics begins.
"""

from __future__ import annotations

import re
from typing import Any

JOINER = "\u2060"

_BREAKS = (
    re.compile(r"(<)(?=[A-Za-z/!?])"),  # a tag, a comment
    re.compile(r"(&)(?=[#A-Za-z])"),  # an entity, which could spell any of the others
    re.compile(r"(script|data)(?=\\?:)", re.IGNORECASE),  # javascript: and its kin
    re.compile(r"(\\)(?=href|require|cssId|class|style)"),  # MathJax: links, extensions
)
_IMAGES = ("image/png", "image/jpeg", "image/gif")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
_NAME = re.compile(r"[\w .()-]{1,200}")


def harmless(markdown: str) -> str:
    """The text with nothing in it that a browser would take for more than text.

    >>> harmless("a < b") == "a < b", harmless("<b>") == "<" + JOINER + "b>"
    (True, True)
    """
    for pattern in _BREAKS:
        markdown = pattern.sub(rf"\1{JOINER}", markdown)
    return markdown


def pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """Of the attachments of a cell the pictures that are what they say."""
    kept: dict[str, dict[str, str]] = {}
    for name, kinds in attachments.items() if isinstance(attachments, dict) else ():
        if not _NAME.fullmatch(name) or not isinstance(kinds, dict):
            continue
        images = {k: v for k, v in kinds.items() if k in _IMAGES and _is_base64(v)}
        if images:
            kept[name] = images
    return kept


def _is_base64(value: Any) -> bool:
    return isinstance(value, str) and _BASE64.fullmatch(value) is not None
