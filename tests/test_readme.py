"""The README shows what the program prints, and numbers that the trials give.

``python tests/test_readme.py`` writes the outputs of its commands anew.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
CONSOLE = re.compile(r"```console\n\$ steelyard (?P<arguments>.*)\n(?P<output>(?:.*\n)*?)```")
SESSION = re.compile(r"```pycon\n((?:.*\n)*?)```")
FLAGS = doctest.NORMALIZE_WHITESPACE


def printed(arguments: str) -> str:
    """What the program prints on both streams, without spaces at line ends."""
    done = subprocess.run(
        [sys.executable, "-m", "steelyard", *shlex.split(arguments)],
        cwd=ROOT, env={**os.environ, "COLUMNS": "100"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


def commands() -> list[re.Match[str]]:
    return list(CONSOLE.finditer(README.read_text(encoding="utf-8")))


@pytest.mark.parametrize("command", commands(), ids=lambda command: command["arguments"])
def test_command_prints_what_is_shown(command):
    assert printed(command["arguments"]) == command["output"]


def test_python_session_shows_what_it_shows():
    session = "".join(SESSION.findall(README.read_text(encoding="utf-8")))
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0
    assert test.examples


class TestFinding:
    """The table of the first screen, cell by cell."""

    @pytest.fixture
    def shown(self) -> dict[str, list[str]]:
        lines = README.read_text(encoding="utf-8").splitlines()
        assert lines.index("| parity study, under `tool_fault` | executor without retries | "
                           "free-form agent |") < 25  # fmt: skip
        rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
        return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in rows}

    @pytest.fixture
    def rates(self, tables):
        from steelyard.analysis import rates

        def of(**options):
            by_arm = rates(
                tables("plumbline_parity"), by="arm", perturbation="tool_fault", **options
            ).set_index("arm")
            return by_arm.loc[["plan_execute", "react"]]

        return of

    @staticmethod
    def fractions(frame) -> list[str]:
        from steelyard.report.formats import format_rate

        return [
            f"{s}/{n} = {format_rate(s / n)}" if n else f"{s}/{n}"
            for s, n in zip(frame["successes"], frame["total"], strict=True)
        ]

    def test_rates(self, shown, rates):
        assert shown["outcome right, as published"] == self.fractions(rates())

    def test_applications(self, shown, tables):
        from steelyard.analysis import manipulation

        frame = manipulation(tables("plumbline_parity"), by="arm", perturbation="tool_fault")
        frame = frame.set_index("arm").loc[["plan_execute", "react"]]
        cells = [f"{row.applied} of {row.recorded}" for row in frame.itertuples()]
        assert shown["trials that met the fault"] == cells

    def test_where_it_was_met_and_where_not(self, shown, rates):
        everyone, met = rates(), rates(population="applied")
        counts = ["successes", "total"]
        assert shown["outcome right where it was met"] == self.fractions(met)
        assert shown["outcome right where it was not"] == self.fractions(
            everyone[counts] - met[counts]
        )

    def test_intervals(self, shown, rates):
        from steelyard.report.formats import format_interval

        for label, low, high in (
            ("95% interval, trials as independent", "low", "high"),
            ("95% interval, tasks as the sample", "clustered_low", "clustered_high"),
        ):
            limits = zip(rates()[low], rates()[high], strict=True)
            assert shown[label] == [format_interval(*pair) for pair in limits]

    def test_published_numbers(self, tables):
        claims = tables("plumbline_parity").frame("claims").set_index("claim")
        assert claims.loc["readme.table.tool_fault.no_retry", "value"] == 0.812
        assert claims.loc["readme.naive_vs_react", "p_value"] == 0.0029


def test_links_lead_somewhere():
    for document in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (ROOT / target).exists(), f"{document}: {target}"


def main() -> None:
    """Put the present output of every command into the README."""

    def renew(command: re.Match[str]) -> str:
        arguments = command["arguments"]
        return f"```console\n$ steelyard {arguments}\n{printed(arguments)}```"

    text = README.read_text(encoding="utf-8")
    README.write_text(CONSOLE.sub(renew, text), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
