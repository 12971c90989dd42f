"""When two tokens are the same.

Python's own equality will not do: ``1 == True == 1.0``, and NaN is not itself. Two tokens are
the same here when they have the same type and the same value:

- text is compared as text, whatever subclass of ``str`` holds it;
- ``1``, ``True`` and ``1.0`` are three tokens, also inside tuples;
- every NaN of a type is one token, and 0.0 and -0.0 are one token;
- a numpy scalar is the Python value it holds;
- any other hashable object is compared with ``==`` among objects of its own type.

Hashes never decide: ``2**61 - 1`` and ``0`` share a hash and stay apart.
"""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Number
from typing import Any

import numpy as np


def token_key(token: Any) -> Hashable:
    """Return a key that two tokens share exactly when they are the same token.

    Parameters
    ----------
    token : hashable
        Any token.

    Returns
    -------
    hashable
        Text and integers stand for themselves; everything else becomes (type, value).

    Examples
    --------
    >>> token_key(1) == token_key(True)
    False
    >>> token_key(float("nan")) == token_key(float("nan"))
    True
    """
    if isinstance(token, str):
        return str.__str__(token)
    kind = type(token)
    if kind is int:
        return token  # type: ignore[no-any-return]
    if isinstance(token, np.generic):
        plain = token.item()
        return (kind, plain) if type(plain) is kind else token_key(plain)
    value = token
    if isinstance(token, tuple):
        value = tuple(token_key(part) for part in token)
    elif isinstance(token, frozenset):
        value = frozenset(token_key(part) for part in token)
    elif isinstance(token, Number) and token != token:  # noqa: PLR0124 (NaN of any type)
        value = "nan"
    return (kind, value)
