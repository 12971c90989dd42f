"""An agent that asks a model for every step: three calls of a tool, then an answer.

It tells the model which trial it is, so that the server can count what each trial bought.
"""

from __future__ import annotations

from steelyard.harness.arms import FreeForm
from steelyard.harness.models import ModelAgent

TURNS = 4


class Asking(FreeForm):
    """The agent."""

    def __init__(self) -> None:
        super().__init__(lambda setup: ModelAgent(setup, setup.key.trial_id), TURNS)
