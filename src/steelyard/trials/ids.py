"""The identity of a trial: five parts, one text.

Ids are text. ``"007"`` is not ``"7"``, and a source that uses both the number 1 and the text
``"1"`` is refused, because the two would silently become one trial.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral

from steelyard.errors import InputError

PARTS = ("arm", "task", "perturbation", "variant", "repeat")
"""The parts of a trial id, in the order in which they are written."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_STRAY_PERCENT = re.compile(r"%(?!2F|25)")
_PLAIN_REPEAT = re.compile(r"0|[1-9][0-9]*")


@dataclass(frozen=True, order=True)
class TrialKey:
    """One trial of a study: one run of one arm at one task under one perturbation.

    Parameters
    ----------
    arm : str
        The agent or architecture that was run.
    task : str
        What it was asked to do.
    perturbation : str
        The condition it was run under; ``"baseline"`` where nothing was changed.
    variant : str
        Which instance of the perturbation (``"0"`` where there is only one).
    repeat : int
        The repetition number, 0 or more.

    Raises
    ------
    InputError
        If a part is empty, is not text, holds a control character or a lone surrogate, or if
        ``repeat`` is not a non-negative integer.

    Examples
    --------
    >>> TrialKey("react", "INV-7002", "tool_fault", "0", 1).trial_id
    'react/INV-7002/tool_fault/0/1'
    >>> TrialKey("react", "a/b", "baseline", "0", 0).trial_id
    'react/a%2Fb/baseline/0/0'
    """

    arm: str
    task: str
    perturbation: str
    variant: str
    repeat: int

    def __post_init__(self) -> None:
        parts = (self.arm, self.task, self.perturbation, self.variant)
        try:
            plain = all(parts) and "".join(parts).isprintable()
        except TypeError:  # one of them is not text
            plain = False
        if not plain:  # look at each, for the message or for what is text and yet not printable
            for part in PARTS[:-1]:
                check_part(part, getattr(self, part))
        if type(self.repeat) is not int or self.repeat < 0:
            object.__setattr__(self, "repeat", _as_repeat(self.repeat))

    @property
    def trial_id(self) -> str:
        """The five parts joined by ``/``; a ``/`` or ``%`` inside a part is escaped."""
        # By hand: the standard library's cached_property takes a lock each time.
        known = self.__dict__
        try:
            found: str = known["_trial_id"]
        except KeyError:
            found = known["_trial_id"] = f"{self._stem}/{self.repeat}"
        return found

    def repeated(self, repeat: int) -> TrialKey:
        """Return the key of another repeat of the same trial, in half the time of making one.

        Parameters
        ----------
        repeat : int

        Returns
        -------
        TrialKey

        Raises
        ------
        InputError
            If ``repeat`` is not a non-negative integer.
        """
        stem = self._stem
        other = object.__new__(TrialKey)  # the other four parts have been checked
        known = other.__dict__
        known.update(self.__dict__)
        known["repeat"] = repeat = _as_repeat(repeat)
        known["_trial_id"] = f"{stem}/{repeat}"
        return other

    @property
    def _stem(self) -> str:
        """The trial id without the repeat."""
        known = self.__dict__
        if "_kept_stem" not in known:
            parts = (self.arm, self.task, self.perturbation, self.variant)
            plain = "/".join(parts)
            if plain.count("/") > len(parts) - 1 or "%" in plain:
                plain = "/".join(map(escape_part, parts))
            known["_kept_stem"] = plain
        stem: str = known["_kept_stem"]
        return stem

    def __str__(self) -> str:
        return self.trial_id


def _as_repeat(value: object) -> int:
    if type(value) is int and value >= 0:
        return value
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"repeat must be a whole number of 0 or more, not {value!r}")
    if int(value) < 0:
        raise InputError(f"repeat must be 0 or more, not {value}")
    return int(value)


def check_part(name: str, value: object) -> str:
    """Return ``value`` if it can be one part of a trial id.

    Parameters
    ----------
    name : str
        The part's name, for the message.
    value : object
        The candidate.

    Returns
    -------
    str
        The value, unchanged.

    Raises
    ------
    InputError
        If it is not text, is empty, or holds a control character or a lone surrogate.
    """
    if not isinstance(value, str):
        raise InputError(f"{name} must be text, not {value!r}")
    if value and value.isprintable():  # neither control characters nor surrogates are
        return value
    if not value:
        raise InputError(f"{name} is empty; every part of a trial id needs at least one character")
    if _CONTROL.search(value):
        raise InputError(f"{name} {value!r} holds a control character; ids are printable text")
    if _SURROGATE.search(value):
        raise InputError(f"{name} {value!r} holds a lone surrogate; ids are valid Unicode text")
    return value


def escape_part(part: str) -> str:
    """Return ``part`` with ``%`` and ``/`` written as ``%25`` and ``%2F``."""
    return part.replace("%", "%25").replace("/", "%2F")


def parse_trial_id(text: str) -> TrialKey:
    """Read a trial id back into its parts.

    Parameters
    ----------
    text : str
        For example ``"react/INV-7002/tool_fault/0/1"``.

    Returns
    -------
    TrialKey
        Its ``trial_id`` is exactly ``text``: there is one spelling per trial.

    Raises
    ------
    InputError
        If there are not five parts, the repeat is not a plain number (``"01"`` is none), or a
        ``%`` is followed by anything but ``2F`` or ``25``.
    """
    if not isinstance(text, str):
        raise InputError(f"a trial id is text, not {text!r}")
    parts = text.split("/")
    if len(parts) != len(PARTS):
        raise InputError(
            f"trial id {text!r} has {len(parts)} parts; a trial id is {'/'.join(PARTS)}"
        )
    if _STRAY_PERCENT.search(text):
        raise InputError(f"trial id {text!r}: '%' may only begin '%2F' (a slash) or '%25' (itself)")
    if not _PLAIN_REPEAT.fullmatch(parts[-1]):
        raise InputError(f"trial id {text!r}: repeat {parts[-1]!r} is not a plain whole number")
    arm, task, perturbation, variant = (
        part.replace("%2F", "/").replace("%25", "%") for part in parts[:-1]
    )
    return TrialKey(arm, task, perturbation, variant, int(parts[-1]))


def published_variant_id(key: TrialKey) -> str:
    """Return the variant id of Plumbline 0.3.0: ``perturbation/variant``, or as it was recorded.

    Examples
    --------
    >>> published_variant_id(TrialKey("react", "INV-7002", "tool_fault", "0", 1))
    'tool_fault/0'
    >>> published_variant_id(TrialKey("react", "INV-7002", "tool_fault", "baseline/0", 1))
    'baseline/0'
    """
    return key.variant if "/" in key.variant else f"{key.perturbation}/{key.variant}"


def as_id(value: object) -> str:
    """Return ``value`` as an id: text as it stands, an integer as its decimal text.

    Parameters
    ----------
    value : object
        An id as a source gave it.

    Returns
    -------
    str

    Raises
    ------
    InputError
        For anything else: a float (``7.0``) or a boolean is not an id.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, bool) and isinstance(value, Integral):
        return str(int(value))
    raise InputError(f"an id is text or an integer, not {type(value).__name__} {value!r}")


def read_ids(values: Iterable[object], where: str = "") -> list[str]:
    """Read ids from one source, which may not use a number and a text that print alike.

    Parameters
    ----------
    values : iterable of object
        Ids as they were parsed, for example from JSON.
    where : str, optional
        The source, for the message.

    Returns
    -------
    list of str
        As long as ``values``.

    Raises
    ------
    InputError
        If ``1`` and ``"1"`` both occur (which trial is meant cannot be known), or a value is
        neither text nor an integer.
    """
    is_text: dict[str, bool] = {}
    ids = []
    for value in values:
        text = as_id(value)
        if is_text.setdefault(text, isinstance(value, str)) != isinstance(value, str):
            place = f"{where}: " if where else ""
            raise InputError(
                f"{place}the ids {text} (a number) and {text!r} (a text) both occur; "
                "write the id in one way"
            )
        ids.append(text)
    return ids
