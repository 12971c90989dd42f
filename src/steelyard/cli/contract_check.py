"""``steelyard contract check-order``: which check is made, and of which evaluator."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from steelyard.cli.contract_files import (
    Documents,
    check_destination,
    check_replaceable_runs,
    write_runs,
)
from steelyard.evaluators.contract import (
    CommandError,
    Policy,
    SubprocessEvaluator,
    is_importable,
    python_command,
)
from steelyard.evaluators.contract import check_order as check_all_orders

_OF_OTHER_CHECKS = ("runs", "repeats", "seed", "confidence")  # than that of all orders in turn


@dataclass(frozen=True)
class CheckOptions:
    """The options of the verb.

    Raises
    ------
    CommandError
        If they exclude each other, or a number is out of its range.
    """

    hook: str | None
    hook_command: str | None
    hook_errors: bool
    timeout: float
    interleave: bool
    sample: int | None
    bound: float | None
    seed: int | None
    repeats: int | None
    confidence: float | None
    swaps_per_pair: int
    runs: str | None

    def __post_init__(self) -> None:
        if self.hook is not None and self.hook_command is not None:
            raise CommandError("--hook and --hook-command exclude each other")
        if self.hook is not None and not all(self.hook.partition(":")):
            raise CommandError("--hook needs a module and a function, with a colon between them")
        if self.interleave + (self.sample is not None) + (self.bound is not None) > 1:
            raise CommandError("--interleave, --sample and --bound exclude each other")
        if not 0 < self.timeout < float("inf"):
            raise CommandError("--timeout must be a positive number of seconds")
        if self.bound is not None and not 0 < self.bound < 1:
            raise CommandError("--bound must lie strictly between 0 and 1")
        if self.confidence is not None and not 0.5 < self.confidence < 1:
            raise CommandError("--confidence must lie strictly between 0.5 and 1")
        if self.swaps_per_pair and not self.samples:
            raise CommandError("--swaps-per-pair needs --sample or --bound")
        idle = [name for name in _OF_OTHER_CHECKS if getattr(self, name) is not None]
        if idle and not (self.interleave or self.samples):
            raise CommandError(f"--{idle[0]} needs --interleave, --sample or --bound")

    @property
    def samples(self) -> bool:
        """Whether orders are to be drawn."""
        return self.sample is not None or self.bound is not None

    def check_files(self, documents: Documents) -> None:
        """Refuse a file of runs that is another file of the call, or that holds anything else."""
        if self.runs is not None:
            others = [*documents.inputs, *([documents.output] if documents.output else [])]
            check_destination(self.runs, others, "--runs")
            check_replaceable_runs(self.runs)

    def check_hook(self) -> None:
        """Refuse a hook that cannot be: its function is not found, or there is no such program.

        What goes wrong with a hook that starts is a result of the check, not an error.
        """
        if self.hook is not None:
            if not is_importable(self.hook, timeout=self.timeout, show_errors=self.hook_errors):
                raise CommandError(
                    "--hook names no function that can be imported, from the working directory "
                    "or an installed package; --hook-errors shows why"
                )
            return
        command = self.command()
        if command is not None and shutil.which(command[0]) is None:
            raise CommandError("--hook-command names no program that is there and executable")

    def command(self) -> list[str] | None:
        """Return the command of the hook; None for the built-in evaluator."""
        if self.hook is not None:
            return python_command(self.hook)
        if self.hook_command is None:
            return None
        try:
            command = shlex.split(self.hook_command)
        except ValueError:
            raise CommandError("--hook-command has a quotation mark without its partner") from None
        if not command or not command[0]:
            raise CommandError("--hook-command names no program")
        return command


def check(policy: Policy, response: Any, options: CheckOptions) -> tuple[dict[str, Any], bool]:
    """Make the check that the options ask for.

    Returns
    -------
    report : dict
        The document to print.
    clean : bool
        Whether no order drifted: among all orders, or among those of the sample.
    """
    with _evaluator(options) as evaluator:
        if not (options.interleave or options.samples):
            report = check_all_orders(policy, response, evaluator, on_failure="report")
            return report, report["conforms_within_coverage"] is True
        from steelyard.analysis.order_drift import drift_in_sample, drift_over_all_orders

        asked = {name: getattr(options, name) for name in ("seed", "repeats", "confidence")}
        given: dict[str, Any] = {
            "fresh": evaluator.restart if evaluator is not None else None,
            **{name: value for name, value in asked.items() if value is not None},
        }
        if options.interleave:
            drift = drift_over_all_orders(policy, response, **given)
        else:
            given |= {"sample": options.sample, "bound": options.bound}
            given["swaps_per_pair"] = options.swaps_per_pair
            drift = drift_in_sample(policy, response, **given)
    if options.runs is not None:
        write_runs(drift, options.runs)
    report = drift.to_report()
    clean = drift.status == "NO_DRIFT_IN_SAMPLE" or report["conforms_within_coverage"] is True
    return report, clean


@contextmanager
def _evaluator(options: CheckOptions) -> Iterator[SubprocessEvaluator | None]:
    command = options.command()
    if command is None:
        yield None
        return
    with SubprocessEvaluator(
        command, timeout=options.timeout, show_errors=options.hook_errors
    ) as evaluator:
        yield evaluator
