"""The tables: their columns, keys and sort orders, declared here and nowhere else."""

from __future__ import annotations

from steelyard.store.table_definition import Column, Table

SCHEMA_VERSION = 1
"""Raised whenever a column changes; a database of another version is refused."""

STATUSES = ("completed", "failed", "missing")
"""completed: has a result; failed: ran and ended in an error; missing: never ran."""

ORIGINS = ("run", "replay", "ingest", "published")
"""How a study's trials came here."""

MISSING_POLICIES = ("exclude", "fail", "bounds", "recorded")
"""What a rate does with a trial that has no result; see the analysis room."""


_STUDY = Column("study", "TEXT", "id of the study", required=True)
_TRIAL = Column("trial_id", "TEXT", "arm/task/perturbation/variant/repeat", required=True)
_STEP = Column("step_index", "INTEGER", "position within the trial, from 0", required=True)

META = Table(
    "meta",
    "what this database was built from (one row)",
    (
        Column("schema_version", "INTEGER", "version of these tables", required=True),
        Column("data_digest", "TEXT", "SHA-256 over manifest, declarations and loader"),
    ),
)

STUDIES = Table(
    "studies",
    "one study",
    (
        _STUDY,
        Column("title", "TEXT", "one line", required=True),
        Column("origin", "TEXT", "how the trials came here", required=True, accepted=ORIGINS),
        Column("source", "TEXT", "where the evidence was published", required=True),
        Column("licence", "TEXT", "SPDX id of the source's licence", required=True),
        Column("model", "TEXT", "language model, where one was stated"),
        Column(
            "created_at",
            "TEXT",
            # Text and not TIMESTAMP: sources give times without a zone, and DuckDB would shift
            # an aware time by the session's zone.
            "ISO 8601 time or date as the source gives it; NULL where it gives none",
        ),
        Column("design", "JSON", "the study's declaration, normalised", required=True),
    ),
    key=("study",),
)

TRIALS = Table(
    "trials",
    "one intended run of one arm",
    (
        _STUDY,
        _TRIAL,
        Column("arm", "TEXT", "agent or architecture", required=True),
        Column("task", "TEXT", "what it was asked to do; the default cluster", required=True),
        Column("perturbation", "TEXT", "condition it ran under", required=True),
        Column("variant", "TEXT", "instance of the perturbation", required=True),
        Column("repeat", "INTEGER", "repetition, from 0", required=True),
        Column("status", "TEXT", "what became of it", required=True, accepted=STATUSES),
        Column("attempts", "INTEGER", "attempts made; NULL where not recorded"),
        Column(
            "perturbation_applied",
            "BOOLEAN",
            "whether the perturbation reached the agent; NULL = not established",
        ),
        Column("model", "TEXT", "language model of this trial, where stated"),
        Column("seed", "BIGINT", "random seed, where one was set"),
        Column("tokens_in", "BIGINT", "prompt tokens"),
        Column("tokens_out", "BIGINT", "generated tokens"),
        Column("cost_usd", "DOUBLE", "cost in US dollars"),
        Column("wall_ms", "DOUBLE", "wall-clock time in milliseconds"),
        Column("error", "TEXT", "why it failed or never ran"),
    ),
    key=("study", "trial_id"),
)

STEPS = Table(
    "steps",
    "one thing the agent did",
    (
        _STUDY,
        _TRIAL,
        _STEP,
        Column("kind", "TEXT", "decision, tool_call, message, final, or the source's", True),
        Column("name", "TEXT", "tool or decision", required=True),
        Column("arguments", "JSON", "NULL = unknown, {} = none"),
        Column("output", "JSON", "what came back"),
        Column("error", "TEXT", "error text; NULL = the step succeeded"),
        Column("wall_ms", "DOUBLE", "wall-clock time in milliseconds"),
    ),
    key=("study", "trial_id", "step_index"),
    indexed=False,
)

STATES = Table(
    "states",
    "the terminal state of the system of record, after a trial",
    (_STUDY, _TRIAL, Column("state", "JSON", "an object, one member per fact", required=True)),
    key=("study", "trial_id"),
)

SIGNALS = Table(
    "signals",
    "what a coding workflow reported up to one step, for stopping policies",
    (
        _STUDY,
        _TRIAL,
        _STEP,
        Column("test_pass_rate", "DOUBLE", "share of tests that pass, 0 to 1"),
        Column("lint_passed", "BOOLEAN", "the linter found nothing"),
        Column("type_check_passed", "BOOLEAN", "the type checker found nothing"),
        Column("required_checks_passed", "DOUBLE", "share of required checks, 0 to 1"),
        Column("retry_count", "BIGINT", "retries so far"),
        Column("tool_call_count", "BIGINT", "tool calls so far"),
        Column("token_usage", "BIGINT", "tokens so far"),
        Column("execution_time_seconds", "DOUBLE", "seconds so far"),
        Column("files_changed", "BIGINT", "files changed so far"),
        Column("unexpected_files_changed", "BIGINT", "of these, outside the expected ones"),
        Column("rollback_available", "BOOLEAN", "the change can be undone"),
        Column("tests_added", "BIGINT", "tests added so far"),
        Column("tests_removed", "BIGINT", "tests removed so far"),
        Column("tests_modified", "BIGINT", "tests modified so far"),
    ),
    key=("study", "trial_id", "step_index"),
)

MEASURES = Table(
    "measures",
    "one measured value of a trial; no row = the measure does not apply to the trial",
    (
        _STUDY,
        _TRIAL,
        Column("measure", "TEXT", "name of the measure", required=True),
        Column("value", "DOUBLE", "booleans are 0/1; NULL = not measured; NaN = recorded as NaN"),
    ),
    key=("study", "trial_id", "measure"),
    indexed=False,
)

COVARIATES = Table(
    "covariates",
    "one text fact about a trial that is neither part of the design nor an outcome",
    (
        _STUDY,
        _TRIAL,
        Column("name", "TEXT", "for example agent_commit", required=True),
        Column("value", "TEXT", "as the source writes it; NULL = not recorded"),
    ),
    key=("study", "trial_id", "name"),
    indexed=False,
)

VIOLATIONS = Table(
    "violations",
    "one broken rule in one trial",
    (
        _STUDY,
        _TRIAL,
        Column("rule", "TEXT", "id of the rule", required=True),
        Column("severity", "TEXT", "critical, high, medium or low", required=True),
        Column("step_index", "INTEGER", "where it was broken; NULL = not recorded"),
        Column("step_name", "TEXT", "the step concerned"),
        Column("detail", "TEXT", "free text"),
    ),
)

DIVERGENCES = Table(
    "divergences",
    "one published difference between a replacement's trial and the incumbent's reference",
    (
        _STUDY,
        Column("incumbent", "TEXT", "arm taken as the reference", required=True),
        Column("replacement", "TEXT", "arm compared with it", required=True),
        Column("trial_id", "TEXT", "the replacement's trial", required=True),
        Column("kind", "TEXT", "outcome, skipped, substitute, extra or arg", required=True),
        Column("step_index", "INTEGER", "position; -1 = before the first step or whole run"),
        Column("expected", "TEXT", "what the reference did"),
        Column("got", "TEXT", "what the replacement did"),
        Column("severity", "TEXT", "critical, high or medium"),
    ),
)

CLAIMS = Table(
    "claims",
    "one published number",
    (
        _STUDY,
        Column("claim", "TEXT", "id of the number", required=True),
        Column("arm", "TEXT", "arm, or 'a|b' for a comparison, or 'all'", required=True),
        Column("scope", "TEXT", "perturbation, task:…, invariant:…, overall or worst", True),
        Column("metric", "TEXT", "name as printed", required=True),
        Column("measure", "TEXT", "the measure of these tables that it is about"),
        Column("statistic", "TEXT", "what was computed; NULL = a fact about the run"),
        Column(
            "missing_policy",
            "TEXT",
            "how the source treats trials without a result",
            accepted=MISSING_POLICIES,
        ),
        Column("successes", "BIGINT", "as printed"),
        Column("total", "BIGINT", "as printed"),
        Column("value", "DOUBLE", "as printed"),
        Column("low", "DOUBLE", "lower limit as printed"),
        Column("high", "DOUBLE", "upper limit as printed"),
        Column("p_value", "DOUBLE", "as printed"),
        Column("text", "TEXT", "what was printed where it is a word: a grade, a perturbation"),
        Column("note", "TEXT", "what the source says about it"),
        Column("source", "TEXT", "file or page it stands in", required=True),
    ),
    key=("study", "claim"),
)

SKIPPED_ROWS = Table(
    "skipped_rows",
    "rows of the evidence that a declared rule left out, counted",
    (
        _STUDY,
        Column("file", "TEXT", "path below data/", required=True),
        Column("reason", "TEXT", "why these rows are no trials", required=True),
        Column("rows", "BIGINT", "how many", required=True),
    ),
    key=("study", "file", "reason"),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        STUDIES,
        TRIALS,
        STEPS,
        STATES,
        SIGNALS,
        MEASURES,
        COVARIATES,
        VIOLATIONS,
        DIVERGENCES,
        CLAIMS,
        SKIPPED_ROWS,
    )
}
"""Every table that holds evidence, by name; ``meta`` stands apart."""


def statements() -> list[str]:
    """Return the statements that create an empty database, in order."""
    return [table.ddl for table in (META, *TABLES.values())]
