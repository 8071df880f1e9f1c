"""Whatever a student writes, the page shows it and runs nothing of it."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tito.grading.feedback import markdown

HARMLESS_TEXT = """
    p h1 h2 h3 h4 h5 h6 em strong del code pre ul ol li blockquote hr br a
    table thead tbody tr th td
"""
HARMLESS = frozenset(HARMLESS_TEXT.split())
SIGNS = r"$ $$ { } \ < > & \" ' ` ` ``` [ ] ( ) | \text{ \frac"


class Tags(HTMLParser):
    """Every tag and attribute of a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")


def assert_harmless(text: str) -> None:
    found = Tags(text)
    assert found.tags <= HARMLESS | markdown._TAGS
    allowed = {"href", "rel", "class", "style", "start"} | markdown._ATTRIBUTES
    assert found.attributes.keys() <= allowed
    for address in found.attributes.get("href", []):
        assert address.startswith(("http://", "https://", "mailto:")), address
    # Alignment of a table's columns and the language of a fenced block are mistune's own.
    assert set(found.attributes.get("style", [])) <= {
        f"text-align:{side}" for side in ("left", "right", "center")
    }


ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- --><svg/onload=alert(1)>",
    "![x](http://example.org/a.png)",
    '![x" onerror="alert(1)](y)',
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](\tjavascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "<javascript:alert(1)>",
    '[x](https://example.org/" onclick="alert(1))',
    "```<script>\nalert(1)\n```",
    '```x" onclick="alert(1)\nalert(1)\n```',
    r"$\text{<script>alert(1)</script>}$",
    r"$\href{javascript:alert(1)}{x}$",
    r"$\style{background:url(http://example.org)}{x}$",
    r"$\class{x}{y}$",
    r"$\mathrm{<b onclick=alert(1)>}$",
    r"$$\text{</math><img src=x onerror=alert(1)>}$$",
    r"$\text{&lt;script&gt;}$",
    "$" + "{" * 900 + "$",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_nothing_runs_and_nothing_is_loaded(text):
    assert_harmless(markdown.html(text))


@given(
    st.lists(
        st.sampled_from([*ATTACKS, *SIGNS.split()]) | st.text(max_size=6),
        max_size=12,
    )
)
@settings(max_examples=60, deadline=None)
def test_nothing_runs_however_it_is_put_together(parts):
    assert_harmless(markdown.html(" ".join(parts)))


def test_words_and_formulas_are_shown():
    text = markdown.html("a **b** `c<d` $\\frac{x}{y} < z$\n\n$$\\sum_{i=1}^n x_i$$")
    assert "<strong>b</strong>" in text and "<code>c&lt;d</code>" in text
    assert "<mfrac>" in text and 'display="block"' in text
    assert "<script" not in text and "http" not in text.replace("http://www.w3.org", "")


@pytest.mark.parametrize("latex", [r"\frac{", r"\begin{pmatrix} 1", "x" * 2000, "{" * 500])
def test_a_formula_that_cannot_be_read_is_shown_as_it_is(latex):
    assert markdown.formula(latex) == f"<code>{latex}</code>"


def test_a_very_long_answer_is_shown_as_it_is():
    assert markdown.html("*<b>*" * 10_000).startswith("<pre>*&lt;b&gt;*")
