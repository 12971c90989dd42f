"""The words of a command line: options that take a value, and words that look like an option."""

from __future__ import annotations

from typing import Any


def takes_value(command: Any, ctx: Any) -> dict[str, bool]:
    """Return by the name of every option of a command whether it takes a value.

    Parameters
    ----------
    command : typer.core.TyperCommand or typer.core.TyperGroup
        Whose options.
    ctx : click.Context
        The call.
    """
    return {
        name: not (parameter.is_flag or parameter.count)
        for parameter in command.get_params(ctx)
        if parameter.param_type_name == "option"
        for name in (*parameter.opts, *parameter.secondary_opts)
    }


def is_like_an_option(word: str) -> bool:
    """Return whether a word is meant as an option: a negative number or a sentence is not.

    Examples
    --------
    >>> [is_like_an_option(word) for word in ("--goal", "-x", "-", "-0.5", "-x y")]
    [True, True, False, False, False]
    """
    if not word.startswith("-") or word == "-" or " " in word:
        return False
    try:
        float(word)
    except ValueError:
        return True
    return False
