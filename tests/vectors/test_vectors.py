"""Every committed vector file, one test each."""

from __future__ import annotations

from pathlib import Path

import pytest

from vectors.adapters import ADAPTERS
from vectors.run import replay_file

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(HERE).as_posix())
def test_vectors(path):
    result = replay_file(path, ADAPTERS)
    assert not result.failures, "\n".join(result.failures)
    assert result.passed + result.by_design > 0
