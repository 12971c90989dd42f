"""The program ``steelyard``.

A verb imports what it needs when it runs: ``steelyard --help`` loads neither pandas, scipy,
matplotlib nor DuckDB.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from steelyard import SteelyardError, __version__
from steelyard.cli.agreement import consensus, parity
from steelyard.cli.audits import audit
from steelyard.cli.behaviour import first_divergence, similarity
from steelyard.cli.bound import bound
from steelyard.cli.comparison import compare
from steelyard.cli.contract import contract
from steelyard.cli.decide import decide
from steelyard.cli.evidence import attest, certify, manipulation, rates, reliability
from steelyard.cli.handoff import handoff
from steelyard.cli.harness import replay
from steelyard.cli.harness import run as run_trials
from steelyard.cli.plan import plan
from steelyard.cli.project import data, report, reproduce
from steelyard.cli.questions import sql, studies
from steelyard.cli.recordings import recordings
from steelyard.cli.streams import prepare_streams
from steelyard.cli.trajectories import diff, show
from steelyard.errors import printable

app = typer.Typer(
    name="steelyard",
    help="What does this evidence about an agent actually support?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

for verb in (
    studies,
    rates,
    compare,
    certify,
    manipulation,
    reliability,
    audit,
    show,
    diff,
    parity,
    consensus,
    similarity,
    first_divergence,
    attest,
    sql,
    report,
    reproduce,
):
    app.command()(verb)
app.command()(decide)
app.command()(plan)
app.command(name="run")(run_trials)
app.command()(replay)
app.command()(recordings)
app.add_typer(data, name="data")
app.add_typer(bound, name="bound")
app.add_typer(contract, name="contract")
app.add_typer(handoff, name="handoff")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"steelyard {__version__}")
        raise typer.Exit


@app.callback()
def _before_the_verb(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take the options that stand before the verb."""


def run() -> None:
    """Run the program and exit.

    Exit codes: 0 done; 1 a published number was not reproduced; 2 bad input, said in one line on
    standard error; 130 interrupted.
    """
    prepare_streams()
    try:
        app()
    except SteelyardError as error:
        _refuse(str(error))
    except OSError as error:
        # The machine said no: a full disk, a folder that must not be written to.
        reason = error.strerror or str(error)
        _refuse(f"{error.filename}: {reason}" if error.filename else reason)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        _refuse(_about_database(error))


def _about_database(error: Exception) -> str:
    """Return what to tell of a database that cannot be read or written; raise anything else.

    DuckDB tells of a damaged block, and of a full disk, when it meets it.
    """
    duckdb = sys.modules.get("duckdb")
    if duckdb is not None and isinstance(error, duckdb.Error):
        if "Corrupt database" in str(error):
            return f"a database is damaged, take a copy of it or make it anew: {error}"
        if isinstance(error, duckdb.IOException):
            return f"a database could not be read or written: {error}"
    raise error


def _refuse(message: str) -> None:
    print("steelyard:", printable(" ".join(message.split())), file=sys.stderr)
    sys.exit(2)
