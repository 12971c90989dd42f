"""`steelyard reproduce`: what it prints, and the exit code that a mismatch gives."""

from __future__ import annotations

import re

STUDY = "tau_bench_airline"


class TestReproduce:
    def test_counts_and_exit_code(self, program, project):
        done = program("reproduce", STUDY, "--no-reports", "--root", project)
        assert (done.code, done.err) == (0, "")
        assert re.search(rf"{STUDY} +\d+ +\d+ +\d+ +0\b", done.out)
        assert not (project / "reports").exists()

    def test_all_studies_end_in_a_total(self, program, root):
        done = program("reproduce", "--no-reports", "--json", "--root", root)
        assert done.code == 0
        assert done.json["ok"] is True
        determined = sum(row["reproduced"] + row["disputed"] for row in done.json["rows"])
        assert determined > 900
        listed = sum(map(len, done.json["pins"].values()))
        assert listed == sum(
            row[name]
            for row in done.json["rows"]
            for name in ("reproduced", "disputed", "not_determinable", "failed")
        )

    def test_wrong_pin_exits_1_and_is_named(self, program, project):
        path = project / "experiments" / STUDY / "pins.toml"
        text = path.read_text(encoding="utf-8")
        changed = re.sub(r"successes = 84\b", "successes = 85", text)
        assert changed != text
        path.write_text(changed, encoding="utf-8")
        done = program("reproduce", STUDY, "--no-reports", "--root", project)
        assert done.code == 1
        assert "successes is pinned as 85 and computed as 84" in done.err
        as_json = program("reproduce", STUDY, "--no-reports", "--json", "--root", project)
        assert as_json.code == 1
        assert as_json.json["ok"] is False

    def test_writes_reports_once(self, program, project):
        first = program("report", STUDY, "--root", project)
        assert f"reports/{STUDY}/report.md" in first.out.splitlines()
        assert (project / "reports" / STUDY / "report.md").is_file()
        assert program("report", STUDY, "--root", project).out == "nothing changed\n"
        again = program("reproduce", STUDY, "--root", project)
        assert "Reports: no files changed." in again.out


def test_broken_pins_file_names_line_and_field(program, project):
    path = project / "experiments" / STUDY / "pins.toml"
    path.write_text(path.read_text() + "\n[[grupp]]\nname = 1\n")
    done = program("reproduce", STUDY, "--no-reports", "--root", project)
    assert done.code == 2
    assert f"experiments/{STUDY}/pins.toml" in done.err
    assert "grupp" in done.err
