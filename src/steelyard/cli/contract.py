"""``steelyard contract``: JSON contracts, and whether the order of their rules matters."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import contract_options as options
from steelyard.cli import options as project
from steelyard.cli.contract_errors import ContractCommand, ContractGroup

if TYPE_CHECKING:
    from steelyard.cli.contract_check import CheckOptions

contract = typer.Typer(
    cls=ContractGroup,
    help="Hold a JSON response against a policy; check that the order of its rules is irrelevant. "
    "Prints JSON. Exit codes: 0 done, 1 not passed (--strict-exit), 2 an error, as JSON on "
    "standard error.",
    rich_markup_mode=None,
    add_completion=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from steelyard import __version__

        typer.echo(f"steelyard {__version__}")
        raise typer.Exit


@contract.callback()
def _before_the_verb(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take the options that stand before the verb."""


@contract.command(cls=ContractCommand)
def validate(policy: options.PolicyFile, output: options.Output = None) -> None:
    """Check a policy."""
    from steelyard.cli.contract_files import Documents
    from steelyard.evaluators.contract import validate_policy
    from steelyard.evaluators.contract.policy import SCHEMA_VERSION

    documents = Documents([policy], output)
    checked = validate_policy(documents.read(0))
    documents.deliver(
        {"policy_id": checked.policy_id, "schema_version": SCHEMA_VERSION, "valid": True}
    )


@contract.command(cls=ContractCommand)
def evaluate(
    policy: options.PolicyFile,
    response: options.ResponseFile,
    strict_exit: options.StrictExit = False,
    output: options.Output = None,
) -> None:
    """Judge a response by every rule."""
    from steelyard.cli.contract_files import Documents
    from steelyard.evaluators.contract import evaluate as judge
    from steelyard.evaluators.contract import validate_policy

    documents = Documents([policy, response], output)
    checked = validate_policy(documents.read(0))
    result = judge(checked, documents.read(1))
    documents.deliver(result)
    _leave(strict_exit and not result["passed"])


@contract.command(cls=ContractCommand)
def check_order(
    policy: options.PolicyFile,
    response: options.ResponseFile,
    strict_exit: options.StrictExit = False,
    output: options.Output = None,
    hook: options.Hook = None,
    hook_command: options.HookCommand = None,
    hook_errors: options.HookErrors = False,
    timeout: options.Timeout = 10.0,
    interleave: options.Interleave = False,
    sample: options.Sample = None,
    bound: options.Bound = None,
    seed: options.Seed = None,
    repeats: options.Repeats = None,
    confidence: options.Confidence = None,
    swaps_per_pair: options.SwapsPerPair = 0,
    runs: options.Runs = None,
) -> None:
    """Check that the order of the rules is irrelevant.

    By default all orders of two to seven rules, three calls each. With --strict-exit the exit code
    is 0 only if no order drifts: among all orders, or among those of the sample.
    """
    given: dict[str, Any] = dict(locals())
    from steelyard.cli.contract_check import CheckOptions, check
    from steelyard.cli.contract_files import Documents
    from steelyard.evaluators.contract import validate_policy

    documents = Documents([policy, response], output)
    names = CheckOptions.__dataclass_fields__
    asked: CheckOptions = CheckOptions(**{name: given[name] for name in names})
    asked.check_files(documents)
    asked.check_hook()
    checked = validate_policy(documents.read(0))
    report, clean = check(checked, documents.read(1), asked)
    documents.deliver(report)
    _leave(strict_exit and not clean)


@contract.command(cls=ContractCommand)
def synthesize(policy: options.PolicyFile, output: options.Output = None) -> None:
    """Make a passing and a failing response, and evaluate both."""
    from steelyard.cli.contract_files import Documents
    from steelyard.evaluators.contract import generate_synthetic

    documents = Documents([policy], output)
    bundle = generate_synthetic(documents.read(0))
    documents.deliver(bundle, policy_id=bundle["policy_id"])


@contract.command(cls=ContractCommand)
def judge(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Whose trials are judged.")],
    policy: options.PolicyFile,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Grouping; arm and perturbation by default."),
    ] = None,
    arm: Annotated[list[str] | None, typer.Option(metavar="ARM", help="Only this arm.")] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Every trial's measures instead of rates.")
    ] = False,
    output: options.Output = None,
    root: project.Root = None,
) -> None:
    """Judge the final output of every trial of a study, as measures."""
    from steelyard import open as open_study
    from steelyard.analysis.contract_verdicts import contract_rates, contract_verdicts
    from steelyard.cli.contract_files import Documents
    from steelyard.cli.output import rows as to_rows
    from steelyard.evaluators.contract import validate_policy

    documents = Documents([policy], output)
    checked = validate_policy(documents.read(0))
    tables = open_study(study, root=root).tables
    chosen = project.chosen(arm=arm)
    if rows:
        frame = contract_verdicts(tables, checked, **chosen)
    else:
        frame = contract_rates(tables, checked, by=by or ("arm", "perturbation"), **chosen)
    documents.deliver({"policy_id": checked.policy_id, "study": study, "rows": to_rows(frame)})


@contract.command(cls=ContractCommand)
def playground(
    policy: options.FirstPolicy = None,
    response: options.FirstResponse = None,
    smoke_test: options.SmokeTest = False,
) -> None:
    """Edit a policy and a response in the terminal, and see every rule's result at once."""
    from steelyard.cli.contract_files import PLAYGROUND_DOCUMENTS, STDIN, Documents
    from steelyard.evaluators.contract import CommandError, validate_policy
    from steelyard.evaluators.contract import evaluate as judge_response

    files = [name for name in (policy, response) if name is not None]
    if STDIN in files:
        raise CommandError("the playground reads files, not standard input")
    documents = Documents(files)
    given = []
    for index in range(len(files)):
        given.append(documents.read(index))
        validate_policy(given[0])  # before the response is opened
    given += PLAYGROUND_DOCUMENTS[len(given) :]
    judge_response(*given)
    if smoke_test:
        ready = {"playground": "ready", "offline": True, "export_requires_explicit_action": True}
        documents.deliver(ready)
        return
    _open_playground(files, *given)
    documents.deliver({"playground": "closed", "offline": True})


def _open_playground(files: list[str], policy: Any, response: Any) -> None:
    from steelyard.evaluators.contract import PlaygroundUnavailableError

    try:
        from steelyard.cli.playground import Playground
    except ModuleNotFoundError as error:
        raise PlaygroundUnavailableError(
            f"the package {error.name} is not installed; steelyard[playground] brings it"
        ) from None
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise PlaygroundUnavailableError("the playground needs a terminal; this is none")
    Playground(policy, response, files).run()


def _leave(failed: bool) -> None:
    if failed:
        raise typer.Exit(1)
