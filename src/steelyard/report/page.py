"""``reports/index.html``: one page over all studies, complete in itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import jinja2
from markupsafe import Markup
from pydantic import Field

from steelyard.errors import StudyError
from steelyard.report import layouts, render
from steelyard.report.content import VERDICTS, StudyContent
from steelyard.report.content_tables import ReportTable, View
from steelyard.report.drawing import Drawing
from steelyard.report.formats import format_count
from steelyard.report.prose import prose_html
from steelyard.report.tables import html_table
from steelyard.store.toml_files import Declared, read_toml

Text = Annotated[str, Field(min_length=1)]


class PageStudy(Declared):
    """One study of the page.

    Attributes
    ----------
    id : str
    tables : tuple of str
        Which of its tables stand open; the others are folded.
    where : dict of str to str
        Of the open tables only the rows with these values, by column. The whole tables are
        folded then, too.
    """

    id: Text
    tables: tuple[Text, ...] = ("rates",)
    where: dict[str, str] = Field(default_factory=dict)


class Page(Declared):
    """``experiments/page.toml``: the page's title, its first words, and the order of studies."""

    title: Text = "Published evidence, recomputed"
    lead: str = ""
    studies: tuple[PageStudy, ...] = ()


def read_page(root: Path) -> Page:
    """Read ``experiments/page.toml``; the defaults hold when it is absent.

    Raises
    ------
    StudyError
        When the file breaks the schema.
    """
    path = root / "experiments" / "page.toml"
    return read_toml(path, Page, "experiments/page.toml") if path.is_file() else Page()


def page_html(page: Page, contents: Sequence[StudyContent], templates: jinja2.Environment) -> bytes:
    """Return the page over all studies.

    Parameters
    ----------
    page : Page
        Title, first words and order. A study it does not list comes after those it lists.
    contents : sequence of StudyContent
        In any order.
    templates : jinja2.Environment
        From `steelyard.report.render.environment`.

    Returns
    -------
    bytes
        UTF-8 HTML that asks for nothing else: style and figures are inside.

    Raises
    ------
    StudyError
        When the page names a study or a table that does not exist.
    """
    by_id = {content.study: content for content in contents}
    listed = list(page.studies)
    for entry in listed:
        if entry.id not in by_id:
            raise StudyError(f"experiments/page.toml names the unknown study {entry.id!r}")
    known = {entry.id for entry in listed}
    listed += [PageStudy(id=name) for name in sorted(by_id) if name not in known]
    css = (render.TEMPLATES / "page.css").read_text(encoding="utf-8").strip()
    text = templates.get_template("page.html.j2").render(
        title=page.title,
        lead=Markup(prose_html(page.lead)),  # noqa: S704 - prose_html escapes
        css=Markup(css),  # noqa: S704 - our own file
        studies=[
            _study(by_id[entry.id], entry, templates, f"s{place}.")
            for place, entry in enumerate(listed)
        ],
    )
    return (text.rstrip() + "\n").encode("utf-8")


def _study(
    content: StudyContent, entry: PageStudy, templates: jinja2.Environment, place: str
) -> dict[str, Any]:
    """Return what the template shows of one study, markup already made."""
    words = render.prose(content, templates)
    trials = content.tables["trials"].frame
    checks = _checks(render.audit_lines(content))
    return {
        "id": content.study,
        "title": content.design.study.title,
        "question": content.design.study.question,
        "headline": _markup(prose_html(words["headline"])),
        "finding": _markup(prose_html(words["finding"])),
        "intended": format_count(trials["intended"].sum()),
        "scored": format_count(trials["scored"].sum()),
        "verdicts": [(verdict, content.verdict_counts[verdict]) for verdict in VERDICTS],
        "published": format_count(len(content.pins)),
        "is_published": content.published,
        "pins": [format_count(count) for count in content.pin_counts.values()],
        "open": _open_tables(content, entry),
        "closed": _closed(content.tables, entry),
        "own": _own(content, entry, words["own"], f"{place}o"),
        "drawings": _inline(content.drawings, place),
        "trajectories": _trajectories(content, entry, words["trajectories"], f"{place}t"),
        "audit_sentence": render.audit_sentence(content),
        "checks": [check for check in checks if check["first"]["verdict"] != "pass"],
        "passed": [check for check in checks if check["first"]["verdict"] == "pass"],
        "pins_sentence": render.pins_sentence(content),
        "disputed": [_disputed(group) for group in render.disputed_groups(content)],
        "missing": render.missing_reasons(content),
    }


def _trajectories(
    content: StudyContent, entry: PageStudy, words: str, place: str
) -> dict[str, Any] | None:
    """Return what the template shows of a study's trajectories, or None without steps."""
    if content.trajectories is None:
        return None
    return {
        "words": _markup(prose_html(words)),
        "drawings": _inline(content.trajectories.drawings, place),
        "closed": _closed(content.trajectories.tables, entry),
    }


def _own(content: StudyContent, entry: PageStudy, words: str, place: str) -> dict[str, Any] | None:
    """Return what the template shows of the section that only this study has, or None."""
    own = content.own
    if not own.title:
        return None
    pictures = _inline([captioned.drawing for captioned in own.drawings], place)
    return {
        "title": own.title,
        "words": _markup(prose_html(words)),
        "drawings": [
            {"drawing": picture, "caption": captioned.caption}
            for picture, captioned in zip(pictures, own.drawings, strict=True)
        ],
        "closed": _closed(own.tables, entry),
    }


def _closed(tables: dict[str, ReportTable], entry: PageStudy) -> list[Markup]:
    """Return the tables that stand folded."""
    return [
        _table(view)
        for name, table in tables.items()
        if entry.where or name not in entry.tables
        for view in table.views
    ]


def _inline(drawings: Sequence[Drawing], place: str) -> list[Markup]:
    return [_markup(drawing.inline(f"{place}{number}")) for number, drawing in enumerate(drawings)]


def _open_tables(content: StudyContent, entry: PageStudy) -> list[Markup]:
    """Return the tables that stand open, cut to the rows that the page asks for."""
    shown = []
    for name in entry.tables:
        if name not in content.all_tables:
            raise StudyError(
                f"experiments/page.toml: {content.study} has no table {name!r}; it has "
                + ", ".join(content.all_tables)
            )
        for view in content.all_tables[name].views:
            frame = view.frame
            for column, value in entry.where.items():
                if column not in frame.columns:
                    raise StudyError(
                        f"experiments/page.toml: table {name!r} of {content.study} has no "
                        f"column {column!r}"
                    )
                frame = frame[frame[column] == value]
            title = ", ".join([view.title, *entry.where.values()])
            shown.append(_table(View(title, frame, view.columns, view.note)))
    return shown


def _checks(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Gather the audit's lines by check: its worst line, then the others."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        found.setdefault(line["check"], []).append(line)
    return [{"first": first, "rest": rest} for first, *rest in found.values()]


def _table(view: View) -> Markup:
    table = _markup(html_table(view.frame, view.columns, view.title))
    if not view.note:
        return table
    return table + Markup('<p class="note">{}</p>').format(view.note)


def _disputed(group: dict[str, Any]) -> dict[str, Any]:
    return group | {"table": _markup(html_table(group["frame"], layouts.DISPUTED, group["name"]))}


def _markup(text: str) -> Markup:
    return Markup(text)  # noqa: S704 - every caller passes HTML that its maker escaped
