"""The texts of a project with one source and one study, for tests of loading."""

from __future__ import annotations

import hashlib
from pathlib import Path

SMALL_COLUMNS = """
[files."trials.csv"]
[files."trials.csv".key]
arm = "arm"
task = "task"
perturbation = "perturbation"
variant = "variant"
repeat = "repeat"
[[files."trials.csv".into]]
table = "trials"
[[files."trials.csv".into]]
table = "measures"
values = { success = "success" }
"""

SMALL_STUDY = """
[study]
id = "small"
title = "A small study"
question = "Does it load?"
origin = "published"
source = "made up for a test"
licence = "MIT"
[data]
source = "made_up"
[design]
arms = ["a", "b"]
perturbations = ["baseline", "fault"]
[measures]
primary = "success"
"""

SMALL_TRIALS = """\
arm,task,perturbation,variant,repeat,success
a,t1,baseline,0,0,1
a,t1,baseline,0,1,0
b,t1,fault,0,0,1
"""


def list_files(data: Path) -> None:
    """Write a manifest that lists every evidence file, readable or not."""
    lines = []
    for path in sorted(data.rglob("*.csv*")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append(
            f'[files."{path.relative_to(data).as_posix()}"]\n'
            f'bytes = {path.stat().st_size}\nrows = 0\nsha256 = "{digest}"\n'
        )
    (data / "manifest.toml").write_text("\n".join(lines) or "[files]\n", encoding="utf-8")
