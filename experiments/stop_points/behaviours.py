"""Four scripted agents. No model is asked: each follows a script with seeded choices.

They know the versions of every function and so do not find anything out; what they imitate is the
course of the work: how soon it is done, what happens before, and what happens afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from steelyard.harness.protocols import TrialSetup
from stop_points.session import EnoughError, Session

Script = Callable[[Session], None]


def good(setup: TrialSetup) -> None:
    """Reads, writes function by function, finds its own oversights, tidies up a little."""
    _follow(setup, _good)


def wandering(setup: TrialSetup) -> None:
    """Tries this and that, leaves files about, gets there in most cases, and does not stop."""
    _follow(setup, _wandering)


def regressing(setup: TrialSetup) -> None:
    """Gets there, then improves what was right until it is not; repairs it in some cases."""
    _follow(setup, _regressing)


def hopeless(setup: TrialSetup) -> None:
    """Never gets one function right, and in the end makes the tests fit."""
    _follow(setup, _hopeless)


def _follow(setup: TrialSetup, script: Script) -> None:
    session = Session(setup)
    with suppress(EnoughError):
        script(session)
    setup.final({"calls": session.calls, "visible": session.report})


def _good(work: Session) -> None:
    work.read(work.module)
    work.read(work.tests)
    for name in work.functions:
        if work.chance(0.25):
            work.edit(name, "wrong")
        work.edit(name, "near" if work.chance(0.35) else "right")
    # It reads the request again and sees what it has not thought of, in most cases.
    if work.having("near") and work.chance(0.85):
        work.read(work.module)
        for name in work.having("near"):
            work.edit(name, "right")
    work.polish(work.random.randint(0, 4))


def _wandering(work: Session) -> None:
    for _ in range(work.random.randint(2, 5)):
        work.read()
    for name in work.shuffled():
        for _ in range(work.random.randint(1, 3)):
            work.edit(name, work.random.choice(["wrong", "wrong", "near", "given"]))
            if work.chance(0.35):
                work.read()
            if work.chance(0.2):
                work.scratch(work.calls)
        work.edit(name, "near" if work.chance(0.4) else "right")
    if work.chance(0.6):
        work.clean_up()
    work.polish(work.random.randint(0, 3))
    if work.chance(0.8):
        for name in work.having("near"):
            work.edit(name, "right")
    work.polish(work.random.randint(3, 10))


def _regressing(work: Session) -> None:
    work.read(work.module)
    for name in work.functions:
        if work.chance(0.3):
            work.edit(name, "wrong")
        work.edit(name, "right")
    work.polish(work.random.randint(1, 3))
    for _ in range(work.random.randint(1, 3)):
        name = work.random.choice(list(work.functions))
        work.edit(name, "near" if work.chance(0.5) else "wrong")
        work.polish(work.random.randint(0, 2))
        if work.chance(0.5):
            work.edit(name, "right")
        elif work.chance(0.5):
            work.weaken(work.report["failed"][:2])
    work.polish(work.random.randint(1, 5))


def _hopeless(work: Session) -> None:
    for _ in range(work.random.randint(1, 3)):
        work.read()
    stuck, *others = work.shuffled()
    for name in others:
        work.edit(name, "right" if work.chance(0.7) else "near")
    for _ in range(work.random.randint(3, 14)):
        work.edit(stuck, work.random.choice(["wrong", "wrong", "near"]))
        if work.chance(0.3):
            work.read()
        if work.chance(0.15):
            work.scratch(work.calls)
    if work.chance(0.5):
        work.drop(work.report["failed"])
    else:
        work.weaken(work.report["failed"])
    work.polish(work.random.randint(0, 5))
