"""What a folder of recordings holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from steelyard.harness.models.recordings import Recordings
from steelyard.harness.models.request import ModelResponse

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["asked_by", "trials", "answers", "refused", "tokens_in", "tokens_out"]


def inventory(recordings: Recordings) -> pd.DataFrame:
    """Count recorded answers by who asked.

    Parameters
    ----------
    recordings : Recordings

    Returns
    -------
    pandas.DataFrame
        Sorted by ``asked_by``: an arm, or ``variants`` for perturbations that write theirs with a
        model. ``trials`` (or sets of variants) with an answer, ``answers``, ``refused`` among them,
        ``tokens_in`` and ``tokens_out`` as far as the answers say.
    """
    import pandas as pd

    trials: dict[str, set[str]] = defaultdict(set)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for record in map(recordings.find, recordings.keys()):
        if record is None:  # pragma: no cover - damaged since the file was read
            continue
        asked_by = record["trial"].partition("/")[0]
        trials[asked_by].add(record["trial"])
        for index, count in enumerate(_counts(record)):
            counts[asked_by][index] += count
    rows = [[name, len(trials[name]), *counts[name]] for name in sorted(counts)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _counts(record: Mapping[str, Any]) -> tuple[int, int, int, int]:
    if "refused" in record:
        return 1, 1, 0, 0
    usage = ModelResponse.from_record(record["response"]).usage
    return (1, 0, 0, 0) if usage is None else (1, 0, usage.all_input, usage.output)
