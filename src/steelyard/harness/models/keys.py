"""The key of a recording: the trial, the turn and the whole request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def request_text(content: Mapping[str, Any]) -> str:
    """Return a request's content as ASCII JSON with sorted names.

    Its length is never less than that of the same text in UTF-8, and a token is never shorter
    than a byte: so it bounds the number of tokens as well.
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def recording_key(trial: str, turn: int, content: Mapping[str, Any]) -> str:
    """Return the key under which the answer to a request is recorded.

    Parameters
    ----------
    trial : str
        The trial id. It is part of the key, so that two repeats never share an answer.
    turn : int
        How many requests of the trial came before, from 0.
    content : mapping
        See `steelyard.harness.models.request.ModelRequest.content`.

    Returns
    -------
    str
        SHA-256, in hexadecimal, of the ASCII JSON (sorted names, no spaces) of the content together
        with ``trial_key`` and ``turn``.
    """
    named = {**content, "trial_key": trial, "turn": turn}
    return hashlib.sha256(request_text(named).encode("ascii")).hexdigest()
