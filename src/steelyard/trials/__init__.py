"""What a trial is: its identity, its steps, and how its values are read and compared."""

from __future__ import annotations

from steelyard.trials.ids import TrialKey, as_id, parse_trial_id, read_ids

__all__ = ["TrialKey", "as_id", "parse_trial_id", "read_ids"]
