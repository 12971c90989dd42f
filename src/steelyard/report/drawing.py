"""A finished picture, and the sheet of paper it is drawn on.

matplotlib is used without ``pyplot``: no global figure, no window, no state between two drawings.
Every position is given in inches, so that a figure grows with its rows and its text stays the
same size. The SVG text is cleaned of everything that depends on the day or on the machine.
"""

from __future__ import annotations

import functools
import html
import io
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")

WIDTH = 4.8  # inches, 461 CSS pixels: a phone shows the text at three quarters of its size
INK = "#1b1b1b"
QUIET = "#5c5c5c"
RULE = "#d9d9d9"
PAPER = "#ffffff"
# Okabe and Ito's colours, dark ones first: https://jfly.uni-koeln.de/color/
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C8C")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "h")

_SETTINGS: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so every machine has the same glyphs
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "hatch.linewidth": 0.7,
    "svg.hashsalt": "steelyard",
    "svg.fonttype": "path",
    "path.simplify": False,
}


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG text.

    Parameters
    ----------
    name : str
        The file name without its ending.
    title : str
        The question the figure answers; drawn at its top.
    description : str
        The same content in words, for those who do not see the picture.
    svg : str
        The complete SVG document, ending in a line break.
    """

    name: str
    title: str
    description: str
    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def inline(self, prefix: str) -> str:
        """Return the ``<svg>`` element for an HTML page.

        Every id gets the ``prefix``, which must be another one for each figure of the page; a
        short one, as a figure refers to its letters a thousand times.
        """
        body = self.svg[self.svg.index("<svg") :].strip().replace("DejaVuSans-", "")
        body = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}.\1"', body)
        body = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}.\1)", body)
        body = re.sub(r'(?:xlink:)?href="#([^"]+)"', rf'href="#{prefix}.\1"', body)
        label = html.escape(f"{self.title} {self.description}", quote=True)
        return re.sub(r"^<svg\b", f'<svg role="img" aria-label="{label}"', body)


def drawn(function: Callable[P, Drawing]) -> Callable[P, Drawing]:
    """Run a drawing function under our settings and leave the caller's as they were."""

    @functools.wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> Drawing:
        from matplotlib import rc_context

        with rc_context(_SETTINGS):
            return function(*args, **kwargs)

    return inner


class Sheet:
    """A figure whose places are given in inches from the top left corner."""

    def __init__(self, title: str, subtitle: str, body_height: float) -> None:
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure as NewFigure

        self.title = title
        self.title_lines = textwrap.wrap(title, 46)
        self.subtitle_lines = textwrap.wrap(subtitle, 78)
        self.top = 0.14 + 0.21 * len(self.title_lines) + 0.165 * len(self.subtitle_lines) + 0.08
        self.height = self.top + body_height
        self.figure: Figure = NewFigure(figsize=(WIDTH, self.height), facecolor=PAPER)
        FigureCanvasSVG(self.figure)
        self._head()

    def _head(self) -> None:
        y = 0.14
        for line in self.title_lines:
            self.text(0.1, y, line, size=11.5, weight="bold", va="top")
            y += 0.21
        for line in self.subtitle_lines:
            self.text(0.1, y + 0.02, line, size=8.5, color=QUIET, va="top")
            y += 0.165

    def text(self, x: float, y: float, text: str, **style: Any) -> None:
        """Write ``text`` at ``x``, ``y`` inches from the top left corner of the sheet."""
        style.setdefault("va", "center")
        size = style.pop("size", 8.5)
        self.figure.text(x / WIDTH, 1 - y / self.height, text, fontsize=size, **style)

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return axes with only a bottom line, placed in inches from the top left corner."""
        axes = self.figure.add_axes(
            (left / WIDTH, 1 - (top + height) / self.height, width / WIDTH, height / self.height)
        )
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=3, width=0.8)
        axes.set_axisbelow(True)
        return axes

    def finish(self, name: str, description: str) -> Drawing:
        """Return the finished `Drawing`."""
        buffer = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        self.figure.savefig(buffer, format="svg", metadata=nothing)
        return Drawing(
            name=name,
            title=self.title,
            description=description,
            svg=_clean(buffer.getvalue(), self.title, description),
        )


def _clean(svg: str, title: str, description: str) -> str:
    """Return ``svg`` with a title for readers, numbers rounded, metadata and unused ids removed.

    Two decimals of a point are far below what anyone sees, and they hide the last binary digit,
    in which processors may differ.
    """
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
    svg = re.sub(
        r'(\b(?:d|x|y|x1|x2|y1|y2|transform)=")([^"]*)(")',
        lambda match: match[1] + _round_numbers(match[2]) + match[3],
        svg,
    )
    used = set(re.findall(r'href="#([^"]+)"', svg)) | set(re.findall(r"url\(#([^)]+)\)", svg))
    svg = re.sub(r'\s+id="([^"]+)"', lambda match: match[0] if match[1] in used else "", svg)
    words = (
        f"<title>{html.escape(title, quote=False)}</title>\n"
        f"<desc>{html.escape(description, quote=False)}</desc>\n"
    )
    start = re.search(r"<svg\b[^>]*>\n?", svg)
    if start is None:
        raise AssertionError("matplotlib wrote no <svg> element")
    svg = svg[: start.end()] + " " + words + svg[start.end() :]
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def _round_numbers(text: str) -> str:
    if "scale(" in text and "translate(" not in text:
        return text
    head, scale, tail = text.partition("scale(")
    return re.sub(r"-?\d+\.\d{3,}", _round_match, head) + scale + tail


def _round_match(match: re.Match[str]) -> str:
    text = f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text
