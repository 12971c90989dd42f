"""``steelyard handoff``: handoff bundles, and agents that read or write them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.handoff_gates import gates
from steelyard.cli.handoff_trials import export_trials, import_trials, roundtrip

if TYPE_CHECKING:
    from steelyard.evaluators.handoff.issues import Check, Issue

handoff = typer.Typer(
    help="Check handoff bundles; run agents that import and export them. Exit codes: 0 passed, "
    "1 not passed, 2 bad input.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

Bundle = Annotated[Path, typer.Argument(metavar="BUNDLE", help="A bundle's folder.")]
Repository = Annotated[Path, typer.Option(metavar="FOLDER", help="The repository it describes.")]
Request = Annotated[
    Path | None,
    typer.Option(metavar="BUNDLE", help="The request that this result should answer."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Published = Annotated[
    bool,
    typer.Option(
        "--published", help="Judge as the published tool does, known weaknesses included."
    ),
]


@handoff.command()
def validate(bundle: Bundle, as_json: AsJson = False, published: Published = False) -> None:
    """Check a bundle against the format."""
    from dataclasses import asdict

    from steelyard.evaluators.handoff.validator import validate as judge

    found = judge(bundle, compatibility=published)
    if as_json:
        _print_json(
            {
                "success": found.is_valid,
                "valid": found.is_valid,
                "errors": len(found.errors),
                "warnings": len(found.warnings),
                "issues": [asdict(issue) for issue in found.issues],
            }
        )
    else:
        for issue in found.issues:
            _print_issue(issue)
        _print_verdict("valid", len(found.errors))
    sys.exit(0 if found.is_valid else 1)


@handoff.command()
def verify(
    bundle: Bundle,
    repository: Repository = Path(),
    request: Request = None,
    as_json: AsJson = False,
    published: Published = False,
) -> None:
    """Check a bundle against its repository, and whether it is ready."""
    from steelyard.evaluators.handoff.issues import passes
    from steelyard.evaluators.handoff.pairs import verify_pair
    from steelyard.evaluators.handoff.verification import check_readiness

    ready = check_readiness(bundle, repository, compatibility=published)
    parts = {"repository": ready.verification.checks, "content": ready.content}
    if request is not None:
        parts["pair"] = verify_pair(request, bundle, compatibility=published)
    success = ready.passes and all(map(passes, parts.values()))
    if as_json:
        shown = {name: [_check(check) for check in checks] for name, checks in parts.items()}
        errors = [issue.category for issue in ready.validation.errors]
        _print_json({"success": success, "validation_errors": errors, **shown})
    else:
        for issue in ready.validation.errors:
            _print_issue(issue)
        for name, checks in parts.items():
            for check in checks:
                _print_line(f"{check.status} {name} {check.name}: {check.message}")
        _print_line("ready" if success else "not ready")
    sys.exit(0 if success else 1)


@handoff.command()
def check(
    bundle: Bundle,
    repository: Repository = Path(),
    request: Request = None,
    as_json: AsJson = False,
) -> None:
    """Check a bundle as an adapter's own checker does."""
    from steelyard.evaluators.handoff.checker import check_bundle
    from steelyard.evaluators.handoff.checker_pair import request_issues
    from steelyard.evaluators.handoff.issues import ERROR, errors_of

    found = check_bundle(bundle, repository)
    issues = [*found.issues, *(() if request is None else request_issues(bundle, request))]
    success = not errors_of(issues)
    if as_json:
        shown = [
            (issue.severity, {"code": issue.category, "message": issue.message, "path": issue.path})
            for issue in issues
        ]
        _print_json(
            {
                "success": success,
                "repository_digests": found.repository_digests,
                "errors": [issue for severity, issue in shown if severity == ERROR],
                "warnings": [issue for severity, issue in shown if severity != ERROR],
            }
        )
    else:
        for issue in issues:
            _print_issue(issue)
        _print_verdict("passed", len(errors_of(issues)))
    sys.exit(0 if success else 1)


def _check(check: Check) -> dict[str, str]:
    return {"name": check.name, "status": check.status, "message": check.message}


def _print_json(document: dict[str, Any]) -> None:
    # Only ASCII: a bundle's file names may hold what a terminal takes for a command.
    sys.stdout.write(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=True) + "\n")


def _print_issue(issue: Issue) -> None:
    place = f"{issue.path}: " if issue.path else ""
    _print_line(f"{issue.severity} {issue.category} {place}{issue.message}")


def _print_verdict(word: str, errors: int) -> None:
    counted = "1 error" if errors == 1 else f"{errors:,} errors"
    _print_line(f"not {word}: {counted}" if errors else word)


def _print_line(text: str) -> None:
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    sys.stdout.write(shown + "\n")


handoff.command(name="import")(import_trials)
handoff.command(name="export")(export_trials)
handoff.command()(roundtrip)
handoff.command()(gates)
