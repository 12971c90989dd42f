"""Write ``reports/benchmarks/report.md`` from its tables."""

from __future__ import annotations

import csv
from pathlib import Path

from tools import ALIGNERS
from workloads import NAMES, make_titles

Key = tuple[str, str, int, str]  # workload, form, gap, aligner
US = "steelyard"
# Those that find the best alignment under given scores; rapidfuzz counts edits.
SCORING = ("biopython", "parasail", "sequence-align", "plumbline")
TITLES = make_titles()


class Timings:
    """The rows of ``alignment.csv``."""

    def __init__(self, path: Path) -> None:
        with path.open(newline="", encoding="utf-8") as file:
            self.rows = list(csv.DictReader(file))
        self.row_of: dict[Key, dict[str, str]] = {
            (r["workload"], r["form"], int(r["gap"]), r["aligner"]): r for r in self.rows
        }

    def seconds(self, *key: object) -> float | None:
        """Return a median, or None where nothing was measured."""
        row = self.row_of.get(key)  # type: ignore[call-overload]
        return None if row is None else float(row["median_seconds"])

    def least(self, *key: object) -> float | None:
        """Return the shortest time."""
        row = self.row_of.get(key)  # type: ignore[call-overload]
        return None if row is None else float(row["least_seconds"])

    def best(self, workload: str, aligners: tuple[str, ...]) -> tuple[str, float]:
        """Return the aligner with the shortest median on prepared input, and its median."""
        found = [(self.seconds(workload, "prepared", -2, name), name) for name in aligners]
        seconds, name = min((s, n) for s, n in found if s is not None)
        return name, seconds


def duration(seconds: float | None) -> str:
    """Format a duration with three digits."""
    if seconds is None:
        return ""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1000:.3g} ms"


def factor(ratio: float) -> str:
    """Format a ratio with two digits."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"


def table(header: list[str], rows: list[list[str]], texts: int = 1) -> list[str]:
    """Format a table: some columns of text to the left, and all others to the right."""
    rule = ["---" if column < texts else "---:" for column in range(len(header))]
    return ["| " + " | ".join(row) + " |" for row in [header, rule, *rows]]


def result_rows(timings: Timings, form: str, gap: int) -> list[list[str]]:
    """Return one row an aligner: its medians, and how many times ours each is."""
    rows = []
    for name in ALIGNERS:
        cells = []
        for workload in NAMES:
            theirs = timings.seconds(workload, form, gap, name)
            ours = timings.seconds(workload, form, gap, US)
            if theirs is None or ours is None:
                cells.append("")
            else:
                times = "" if name == US else f" ({factor(theirs / ours)} times)"
                cells.append(duration(theirs) + times)
        if any(cells):
            rows.append([name, *cells])
    return rows


def goal_rows(timings: Timings) -> list[list[str]]:
    """Say of each workload and each group of competitors whether the goal is met."""
    rows = []
    groups = (("best that takes scores", SCORING), ("best of all", (*SCORING, "rapidfuzz")))
    for workload in NAMES:
        for title, aligners in groups:
            name, theirs = timings.best(workload, aligners)
            ours = timings.seconds(workload, "prepared", -2, US)
            least = timings.least(workload, "prepared", -2, name) / timings.least(
                workload, "prepared", -2, US
            )
            ratio = theirs / ours
            batch = workload in ("short", "paths")
            goal = "at least 5" if batch else "at least 1/3"
            met = ratio >= 5 if batch else ratio >= 1 / 3
            rows.append(
                [
                    TITLES[workload],
                    f"{title}: {name}",
                    factor(ratio),
                    factor(least),
                    goal,
                    "met" if met else "missed",
                ]
            )
    return rows


def verdict(rows: list[list[str]]) -> str:
    """Count the goals that are met."""
    scores = [row[-1] for row in rows if "takes scores" in row[1]]
    everyone = [row[-1] for row in rows if "of all" in row[1]]
    return (
        f"Met are {scores.count('met')} of {len(scores)} goals against the libraries that align "
        f"under scores, and {everyone.count('met')} of {len(everyone)} with rapidfuzz among them."
    )


def memory_rows(timings: Timings) -> list[list[str]]:
    """Return one row an aligner: what it allocated beyond its input."""
    rows = []
    for name in ALIGNERS:
        cells = []
        for workload in NAMES:
            row = timings.row_of.get((workload, "prepared", -2, name))
            cells.append("" if row is None else f"{float(row['peak_mebibytes']):.1f}")
        rows.append([name, *cells])
    return rows


def tool_rows(timings: Timings) -> list[list[str]]:
    """Return versions, and what each aligner gives for a pair."""
    version = {row["aligner"]: row["version"] for row in timings.rows}
    return [[name, version[name], kind.gives] for name, kind in ALIGNERS.items()]


def write_report(folder: Path) -> None:
    """Fill the template's tables."""
    timings = Timings(folder / "tables" / "alignment.csv")
    with (folder / "tables" / "machine.csv").open(newline="", encoding="utf-8") as file:
        machine = [[row["what"], row["value"]] for row in csv.DictReader(file)]
    header = ["", *[TITLES[name] for name in NAMES]]
    parts = {
        "goals": table(
            [
                "input",
                "compared with",
                "times as fast (by medians)",
                "(by least times)",
                "goal",
                "",
            ],
            goal_rows(timings),
            texts=2,
        ),
        "prepared": table(header, result_rows(timings, "prepared", -2)),
        "names": table(header, result_rows(timings, "names", -2)),
        "other_scores": table(header, result_rows(timings, "prepared", -3)),
        "memory": table(header, memory_rows(timings)),
        "tools": table(["aligner", "version", "gives, for each pair"], tool_rows(timings), texts=3),
        "machine": table(["machine", ""], machine, texts=2),
    }
    runs = {row["runs"] for row in timings.rows}
    text = Path(__file__).with_name("alignment_report.md.in").read_text(encoding="utf-8")
    parts["verdict"] = [verdict(goal_rows(timings))]
    for name, lines in parts.items():
        text = text.replace("{{" + name + "}}", "\n".join(lines))
    text = text.replace("{{runs}}", min(runs, key=int))
    (folder / "report.md").write_text(text, encoding="utf-8")
