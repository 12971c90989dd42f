"""Serves a Python function as a hook: ``python -m ...hook_worker module:function``.

The function takes a policy document and a response and returns a result. It is imported when the
first request comes, with the working directory on the path. What it prints goes to standard error,
so that it cannot be taken for an answer.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from functools import reduce
from typing import IO, Any

from steelyard.evaluators.contract.subprocess_hook import NOT_JSON
from steelyard.evaluators.contract.values import ValueProblemError, canonical, checked_copy


def serve(entry_point: str, requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until there are no more.

    Parameters
    ----------
    entry_point : str
        ``module:function``; both may be dotted.
    requests, answers : binary files
        One JSON document per line. An exception of the function is answered with its name, its
        traceback goes to standard error.
    """
    function: Any = None
    for line in requests:
        try:
            function = function or _resolve(entry_point)
            request = json.loads(line)
            answer = _as_json(function(request["policy"], request["response"]))
        except Exception as error:  # code of the user: anything can be wrong with it
            traceback.print_exc()
            answer = {"error": type(error).__name__}
        answers.write(canonical(answer).encode() + b"\n")
        answers.flush()


def _as_json(result: Any) -> Any:
    """Return a copy of a result, or the answer that it is no JSON."""
    try:
        # A copy, because `json` would write a tuple as an array and a key 1 as "1".
        return checked_copy(result)
    except ValueProblemError:
        traceback.print_exc()
        return {"error": NOT_JSON}


def find(request: dict[str, Any], _response: dict[str, Any]) -> dict[str, bool]:
    """Answer whether an entry point can be imported and called; a hook that asks for no result."""
    try:
        return {"found": callable(_resolve(request["entry_point"]))}
    except Exception:  # code of the user: anything can be wrong with it
        traceback.print_exc()
        return {"found": False}


def _resolve(entry_point: str) -> Any:
    module, _, attribute = entry_point.partition(":")
    return reduce(getattr, attribute.split("."), importlib.import_module(module))


def main(arguments: list[str]) -> None:
    """Serve the function that the command line names, on standard input and output."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(arguments[0], sys.stdin.buffer, answers)


if __name__ == "__main__":
    main(sys.argv[1:])
