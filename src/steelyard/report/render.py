"""A study's report as files: Markdown, CSV and SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import jinja2
import pandas as pd

from steelyard.errors import StudyError
from steelyard.report import formats, layouts
from steelyard.report.content import VERDICTS, StudyContent
from steelyard.report.content_tables import View
from steelyard.report.pins import PinResult
from steelyard.report.tables import csv_text, markdown_table, records

T = TypeVar("T")

TEMPLATES = Path(__file__).parent / "templates"
PROSE = ("headline", "evidence", "finding", "own", "trajectories", "limits")
_MOST_ALIKE, _KEPT_OF_MANY = 12, 3
OWNED = ("report.md", "tables/*", "figures/*")
"""What a report's folder may hold; anything else there is not ours."""

_ORIGINS = {
    "run": "run by steelyard",
    "replay": "replayed by steelyard from recorded responses",
    "ingest": "read from another tool's traces",
    "published": "published by others, loaded from the committed tables",
}


def environment(root: Path) -> jinja2.Environment:
    """Return the template environment: ours, and each study's prose in ``experiments/``.

    A name that a template asks for and nobody defines is an error, never an empty string.
    """
    loader = jinja2.FileSystemLoader([root / "experiments", TEMPLATES], encoding="utf-8")
    built = jinja2.Environment(
        loader=loader,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=jinja2.select_autoescape(["html.j2"]),
    )
    built.filters |= {
        "rate": formats.format_rate,
        "points": formats.format_points,
        "size": formats.format_size,
        "p": formats.format_p,
        "count": formats.format_count,
        "number": formats.format_number,
        "md": markdown_text,
    }
    return built


def markdown_text(text: str) -> str:
    """Return plain text so that Markdown shows it as it is: no tag, no emphasis, one line."""
    return " ".join(text.split()).replace("<", "&lt;").replace("*", "\\*")


def report_files(content: StudyContent, templates: jinja2.Environment) -> dict[str, bytes]:
    """Return every file of one study's report.

    Parameters
    ----------
    content : StudyContent
        What the report shows.
    templates : jinja2.Environment
        From `environment`.

    Returns
    -------
    dict of str to bytes
        Path below ``reports/<study>/`` to content; UTF-8 with LF line ends.

    Raises
    ------
    StudyError
        When the study's template asks for something that does not exist; names file and line.
    """
    texts = {"report.md": report_text(content, templates)}
    for table in content.all_tables.values():
        texts[f"tables/{table.name}.csv"] = csv_text(table.frame)
    texts["tables/audit.csv"] = csv_text(content.audit)
    texts["tables/pins.csv"] = csv_text(pin_frame(content.pins))
    for drawing in content.all_drawings:
        texts[f"figures/{drawing.name}.svg"] = drawing.svg
    return {name: text.encode("utf-8") for name, text in texts.items()}


def report_text(content: StudyContent, templates: jinja2.Environment) -> str:
    """Return ``report.md`` with single blank lines between its blocks."""
    template = _template(content.study, templates)
    text = _guard(content.study, lambda: template.render(_names(content)))
    lines: list[str] = []
    for line in text.splitlines():
        bare = line.rstrip()
        if bare or (lines and lines[-1]):
            lines.append(bare)
    return "\n".join(lines).strip() + "\n"


def prose(content: StudyContent, templates: jinja2.Environment) -> dict[str, str]:
    """Return the study's own sentences, in Markdown, by block name (see `PROSE`)."""
    template = _template(content.study, templates)
    names = _names(content)

    def one(block: str) -> str:
        return "".join(template.blocks[block](template.new_context(names))).strip()

    return {
        block: _guard(content.study, partial(one, block)) if block in template.blocks else ""
        for block in PROSE
    }


def audit_sentence(content: StudyContent) -> str:
    """Return how many checks failed, need caution and passed, in words."""
    counts = content.verdict_counts
    parts = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]]
    return f"{len(content.audit)} lines: {', '.join(parts) or 'none'}."


def pins_sentence(content: StudyContent) -> str:
    """Return how many pinned numbers have each status, in words.

    Where nobody published anything, the numbers are those that the data's README states.
    """
    what = "published" if content.published else "pinned"
    parts = [f"{count:,} {status}" for status, count in content.pin_counts.items()]
    return f"{len(content.pins):,} {what} numbers: {', '.join(parts)}."


def audit_lines(content: StudyContent) -> list[dict[str, Any]]:
    """Return the audit's lines, failures first, otherwise in their order."""
    lines = [
        line | {"evidence": line["evidence"].rstrip(".") + "."} for line in records(content.audit)
    ]
    return sorted(lines, key=lambda line: VERDICTS.index(line["verdict"]))


def shortened(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return an audit's lines with a count in place of the many alike.

    A check of every arm says the same of many; whoever wants them all has the table. Of a check
    and verdict with more than twelve lines the first three are kept.
    """
    alike: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in lines:
        alike.setdefault((line["verdict"], line["check"]), []).append(dict(line))
    found = []
    for (verdict, check), same in alike.items():
        kept = same if len(same) <= _MOST_ALIKE else same[:_KEPT_OF_MANY]
        found += kept
        if more := len(same) - len(kept):
            said = f"the same check, {more} lines more with this verdict."
            found.append(
                {
                    "verdict": verdict,
                    "check": check,
                    "subject": "",
                    "evidence": said,
                    "recommendation": "",
                }
            )
    return found


def disputed_groups(content: StudyContent) -> list[dict[str, Any]]:
    """Return the disputed numbers in groups of one name and one reason.

    Each has ``name``, ``reason``, ``frame`` (columns ``id``, ``printed``, ``computed``) and the
    same as Markdown in ``table``.
    """
    groups: dict[tuple[str, str], list[PinResult]] = {}
    for pin in content.pins:
        if pin.status == "disputed":
            groups.setdefault((pin.group, pin.reason), []).append(pin)
    found = []
    for (name, reason), pins in groups.items():
        frame = pd.DataFrame(
            [
                {
                    "id": p.id,
                    "printed": figures_text(p.printed),
                    "computed": figures_text(p.computed),
                }
                for p in pins
            ]
        )
        table = markdown_table(frame, layouts.DISPUTED)
        found.append({"name": name, "reason": reason, "frame": frame, "table": table})
    return found


def missing_reasons(content: StudyContent) -> list[dict[str, Any]]:
    """Return why numbers are not determinable, with how many each reason concerns."""
    pins = [pin for pin in content.pins if pin.status == "not determinable"]
    counts = Counter(pin.reason for pin in pins)
    return [{"reason": reason, "count": count} for reason, count in counts.items()]


def figures_text(figures: Mapping[str, Any]) -> str:
    """Return the figures of a published number as one cell: ``52/64, value 0.8125``."""
    rest = dict(figures)
    parts = []
    if rest.get("successes") is not None and rest.get("total") is not None:
        parts.append(f"{rest.pop('successes')}/{rest.pop('total')}")
    low, high = rest.pop("low", None), rest.pop("high", None)
    for name, figure in rest.items():
        if figure is None:
            continue
        text = figure if isinstance(figure, str) else formats.format_number(figure)
        parts.append(text if name in {"value", "text"} else f"{name.replace('_', ' ')} {text}")
    if low is not None and high is not None:
        parts.append(f"[{formats.format_number(low)}, {formats.format_number(high)}]")
    return ", ".join(parts) or formats.MISSING


def fraction(row: Mapping[str, Any], side: str = "") -> str:
    """Return ``52/64`` from a row's successes and total, or from those of one side."""
    prefix = f"{side}_" if side else ""
    return f"{int(row[prefix + 'successes'])}/{int(row[prefix + 'total'])}"


def pin_frame(pins: tuple[PinResult, ...]) -> pd.DataFrame:
    """Return the pins as a table, one row each, in their order."""
    return pd.DataFrame([pin.to_row() for pin in pins])


def _names(content: StudyContent) -> dict[str, Any]:
    """Return what a template may name."""
    return {
        "study": content.study,
        "design": content.design,
        "origin": _ORIGINS[content.design.study.origin],
        "tables": content.tables,
        "drawings": content.drawings,
        "trajectories": content.trajectories,
        "own": content.own,
        "audit": shortened(audit_lines(content)),
        "audit_sentence": audit_sentence(content),
        "pins": content.pin_counts,
        "pins_sentence": pins_sentence(content),
        "failed": [pin for pin in content.pins if pin.status == "failed"],
        "disputed": disputed_groups(content),
        "missing": missing_reasons(content),
        "row": content.row,
        "claim": content.claim,
        "interval": formats.format_interval,
        "points": formats.format_points,
        "fraction": fraction,
        "markdown": _markdown,
    }


def _markdown(view: View) -> str:
    table = markdown_table(view.frame, view.columns)
    return f"{table}\n{view.note}\n" if view.note else table


def _template(study: str, templates: jinja2.Environment) -> jinja2.Template:
    return _guard(
        study, lambda: templates.select_template([f"{study}/report.md.j2", "report.md.j2"])
    )


def _guard(study: str, action: Callable[[], T]) -> T:
    """Run ``action``; a template's fault becomes a `StudyError` with its place."""
    try:
        return action()
    except jinja2.TemplateSyntaxError as error:
        where = f"experiments/{study}/report.md.j2:{error.lineno}"
        raise StudyError(f"{where}: {error.message}") from None
    except jinja2.TemplateError as error:
        raise StudyError(f"experiments/{study}/report.md.j2: {error.message}") from None
