"""The verb group whose errors are JSON: every one of them, those of the command line included.

A program that calls ``steelyard contract`` reads one object from standard error and a code from
it. Messages about documents and usage never repeat what was typed: it may be a path or a value.
Those of other rooms (an unknown study, a number out of its range) say what they are about.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from steelyard.cli.output import to_json
from steelyard.cli.words import is_like_an_option, takes_value
from steelyard.errors import SteelyardError

if TYPE_CHECKING:
    from steelyard.evaluators.contract import ContractError

_USAGE = {
    "NoSuchOption": "there is no such option",
    "MissingParameter": "an argument is missing",
    "BadParameter": "an option has a value that it does not accept",
    "BadOptionUsage": "an option lacks its value, or has one too many",
}


class ContractGroup(TyperGroup):
    """Reports errors as JSON on standard error, written as results are; exit code 2."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what stands before the verb."""
        with json_errors(self._verbs()):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Parse the rest and run the verb."""
        with json_errors(self._verbs()):
            return super().invoke(ctx)

    def _verbs(self) -> str:
        return ", ".join(self.commands)


class ContractCommand(TyperCommand):
    """A verb that takes no option for the value of another: a gate would pass unnoticed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option without its value, then parse."""
        with_value = takes_value(self, ctx)
        for argument, following in pairwise(args):
            if with_value.get(argument) and is_like_an_option(following):
                from steelyard.evaluators.contract import CommandError

                raise CommandError(
                    "an option lacks its value; one that begins with a dash is given as "
                    "--option=VALUE"
                )
            if argument == "--":
                break
        return super().parse_args(ctx, args)


@contextlib.contextmanager
def json_errors(verbs: str) -> Iterator[None]:
    """Turn controlled errors and usage errors into JSON and exit code 2."""
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except TyperException as error:
        from steelyard.evaluators.contract import CommandError

        reason = _USAGE.get(type(error).__name__, "no such verb, or arguments that do not fit")
        _leave(CommandError(f"{reason}; verbs are {verbs}, each explains itself with --help"))
    except SteelyardError as error:
        from steelyard.evaluators.contract import ContractError

        _leave(error if isinstance(error, ContractError) else ContractError(str(error)))


def _leave(error: ContractError) -> None:
    text = to_json({"error": error.fields()})
    with contextlib.suppress(AttributeError, OSError):  # closed: the exit code has to say it
        sys.stderr.flush()
        sys.stderr.buffer.write(text.encode())
        sys.stderr.buffer.flush()
    raise typer.Exit(2)
