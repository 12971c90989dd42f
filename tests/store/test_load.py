"""Rows become rows of the tables as columns.toml says, or the load stops at the first fault."""

from __future__ import annotations

import json
import math

import pytest

from made_up import SMALL_COLUMNS, SMALL_STUDY, SMALL_TRIALS
from steelyard.errors import DataError, StudyError
from steelyard.store.build import build_database
from steelyard.store.connect import connect
from steelyard.store.tables import StudyTables


@pytest.fixture
def load(small_project):
    opened = []

    def run(**content):
        report = build_database(small_project(**content))
        connection = connect(report.path)
        opened.append(connection)
        return StudyTables(connection, "small")

    yield run
    for connection in opened:
        connection.close()


RULES = """
[rules."must:x"]
severity = "critical"
[rules."only:t1"]
severity = "low"
tasks = ["t1"]
"""
VIOLATIONS = """
[files."violations.csv"]
[[files."violations.csv".into]]
table = "violations"
columns = { trial_id = "trial_id", rule = "rule", severity = "severity" }

[[derived]]
measure = "conformant"
[[derived]]
measure = "critical"
severities = ["critical"]
[[derived]]
measure = "upheld:{rule}"
per_rule = true
"""


def test_a_small_project_loads(load):
    tables = load()
    trials = tables.frame("trials")
    assert list(trials["trial_id"]) == ["a/t1/baseline/0/0", "a/t1/baseline/0/1", "b/t1/fault/0/0"]
    assert set(trials["status"]) == {"completed"}
    assert list(tables.frame("measures")["value"]) == [1.0, 0.0, 1.0]
    assert tables.info["title"] == "A small study"


def test_the_four_meanings_reach_the_table(load):
    rows = "".join(f"a,t1,baseline,0,{i},{v}\n" for i, v in enumerate(["", "NA", "nan", "-inf"]))
    tables = load(trials=SMALL_TRIALS.splitlines(keepends=True)[0] + rows)
    measures = tables.frame("measures").set_index("trial_id")
    assert len(tables.frame("trials")) == 4
    assert "a/t1/baseline/0/1" not in measures.index
    assert list(measures["measured"]) == [False, True, True]
    assert math.isnan(measures.loc["a/t1/baseline/0/2", "value"])
    assert measures.loc["a/t1/baseline/0/3", "value"] == -math.inf
    stored = tables.connection.execute("SELECT count(*), count(value) FROM measures").fetchall()
    assert stored == [(3, 2)]


def test_violations_give_what_was_upheld_and_only_where_a_rule_applies(load):
    tables = load(
        trials=SMALL_TRIALS + "b,t2,fault,0,0,1\n",
        columns=SMALL_COLUMNS + VIOLATIONS,
        study=SMALL_STUDY + RULES,
        files={"violations.csv": "trial_id,rule,severity\na/t1/baseline/0/0,only:t1,low\n"},
    )
    wide = tables.frame("measures").pivot_table(
        index="trial_id", columns="measure", values="value", dropna=False
    )
    first = wide.loc["a/t1/baseline/0/0"]
    assert (first["conformant"], first["critical"], first["upheld:only:t1"]) == (0, 1, 0)
    assert wide.loc["b/t1/fault/0/0", "conformant"] == 1
    assert tables.frame("measures")["measure"].eq("upheld:only:t1").sum() == 3
    assert tables.frame("measures")["measure"].eq("upheld:must:x").sum() == 4


def test_a_rule_for_a_task_without_trials_is_refused(load):
    # A slip there would take the task out of the rule's denominator without a trace.
    with pytest.raises(StudyError, match=r"study\.toml: unknown task 't11' .*did you mean 't1'"):
        load(
            columns=SMALL_COLUMNS + VIOLATIONS,
            study=SMALL_STUDY + RULES.replace('["t1"]', '["t1", "t11"]'),
            files={"violations.csv": "trial_id,rule,severity\n"},
        )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a/t1/baseline/0/0,other,low", "rule 'other' is not declared in experiments/small"),
        ("a/t1/baseline/0/0,must:x,low", "has severity 'low'; .* says 'critical'"),
        ("b/t2/fault/0/0,only:t1,low", "rule 'only:t1' does not apply to task 't2'"),
        (
            "a/t9/baseline/0/0,must:x,critical",
            "trial 'a/t9/baseline/0/0' is not among the 4 trials",
        ),
    ],
)
def test_a_violation_that_contradicts_the_declaration_is_refused(load, row, said):
    with pytest.raises(DataError, match=rf"data/made_up/violations\.csv:2: .*{said}"):
        load(
            trials=SMALL_TRIALS + "b,t2,fault,0,0,1\n",
            columns=SMALL_COLUMNS + VIOLATIONS,
            study=SMALL_STUDY + RULES,
            files={"violations.csv": f"trial_id,rule,severity\n{row}\n"},
        )


MISSING = """
[files."missing.csv"]
[files."missing.csv".key]
arm = "arm"
task = "task"
perturbation = "perturbation"
variant = "variant"
repeat = "repeat"
[[files."missing.csv".into]]
table = "trials"
only = { listed = ["0"] }
columns = { status = { constant = "missing" }, error = "reason" }
[[files."missing.csv".into]]
table = "trials"
only = { listed = ["1"] }
amend = true
columns = { error = "reason" }
"""
MISSING_HEAD = "arm,task,perturbation,variant,repeat,listed,reason\n"


def test_trials_that_never_ran_are_added_and_errors_explained(load):
    tables = load(
        columns=SMALL_COLUMNS + MISSING + "[[derived]]\nmeasure = 'conformant'\n",
        files={
            "missing.csv": MISSING_HEAD
            + "b,t1,fault,0,1,0,never run\n"
            + "a,t1,baseline,0,1,1,no credit\n"
        },
    )
    trials = tables.frame("trials").set_index("trial_id")
    assert trials.loc["b/t1/fault/0/1", "status"] == "missing"
    assert trials.loc["a/t1/baseline/0/1", "error"] == "no credit"
    measures = tables.frame("measures").query("measure == 'conformant'").set_index("trial_id")
    assert not measures.loc["b/t1/fault/0/1", "measured"]  # nobody judged what never ran


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("b,t1,fault,0,1,2,why", r":2: the row goes into no table; accepted: listed in '0'"),
        ("b,t1,fault,0,1,1,why", r":2: trial 'b/t1/fault/0/1' is not among the 3 trials"),
        ("a,t1,baseline,0,1,0,why", r"trials\.csv:3 and data/made_up/missing\.csv:2 are both"),
        ("a,t1,baseline,0,1,1,x\na,t1,baseline,0,1,1,y", r":3: error of .* is already given by"),
    ],
)
def test_a_second_file_must_fit_the_first(load, row, said):
    with pytest.raises(DataError, match=said):
        load(columns=SMALL_COLUMNS + MISSING, files={"missing.csv": MISSING_HEAD + row + "\n"})


def test_states_are_assembled_with_their_types(load):
    tables = load(
        trials="arm,task,perturbation,variant,repeat,success,paid,amount,note,extra\n"
        'a,t1,baseline,0,0,1,1,4500.0,,"{""b"":1,""a"":[]}"\n'
        "a,t1,baseline,0,1,1,,NA,NA,\n",
        columns=SMALL_COLUMNS
        + """
[[files."trials.csv".into]]
table = "states"
[files."trials.csv".into.values]
paid = { column = "paid", type = "boolean" }
amount = { column = "amount", type = "number" }
note = "note"
extra = { column = "extra", type = "json" }
""",
    )
    states = [json.loads(text) for text in tables.frame("states")["state"]]
    assert states[0] == {"paid": True, "amount": 4500, "note": "", "extra": {"b": 1, "a": []}}
    assert states[1] == {"paid": None, "note": "NA", "extra": None}  # NA: the member is left out


def test_a_state_that_json_cannot_hold_is_refused(load):
    with pytest.raises(
        DataError, match=r"trials\.csv:2: the state cannot be written: \$\.success is nan"
    ):
        load(
            trials=SMALL_TRIALS.splitlines(keepends=True)[0] + "a,t1,baseline,0,0,nan\n",
            columns=SMALL_COLUMNS
            + '[[files."trials.csv".into]]\ntable = "states"\n'
            + 'values = { success = { column = "success", type = "number" } }\n',
        )


LONG = """
[files."long.csv"]
[[files."long.csv".into]]
table = "measures"
columns = { trial_id = "trial_id", measure = "name", value = "value" }
"""


def test_measures_may_come_in_long_form(load):
    tables = load(
        columns=SMALL_COLUMNS + LONG,
        files={
            "long.csv": "trial_id,name,value\n"
            "a/t1/baseline/0/0,cost,0.5\na/t1/baseline/0/1,cost,NA\nb/t1/fault/0/0,cost,\n"
        },
    )
    costs = tables.frame("measures").query("measure == 'cost'")
    assert list(costs["measured"]) == [True, False]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a/t1/baseline/0/0,,1", r"long\.csv:2: measures\.measure is blank; it needs a value"),
        (
            "a/t1/baseline/0/0,success,1",
            r"trials\.csv:2 and .*long\.csv:2 are both the row of measures with study 'small'",
        ),
    ],
)
def test_a_measure_needs_a_name_and_has_one_value(load, rows, said):
    with pytest.raises(DataError, match=said):
        load(columns=SMALL_COLUMNS + LONG, files={"long.csv": f"trial_id,name,value\n{rows}\n"})


SKIP = '\nskip = [{ column = "task", values = ["sum"], reason = "a sum, not a trial" }]\n'


def test_skipped_rows_are_counted_with_their_reason(load):
    columns = SMALL_COLUMNS.replace('[files."trials.csv"]', '[files."trials.csv"]' + SKIP)
    tables = load(trials=SMALL_TRIALS + "a,sum,baseline,0,0,7\n", columns=columns)
    assert len(tables.frame("trials")) == 3
    assert tables.frame("skipped_rows").to_dict("records") == [
        {
            "study": "small",
            "file": "made_up/trials.csv",
            "reason": "a sum, not a trial",
            "rows": 1,
        }
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("c,t1,baseline,0,0,1", r"trials\.csv:5: arm 'c' is not declared in .*declared: a, b"),
        ("a,t1,wind,0,0,1", r"trials\.csv:5: perturbation 'wind' is not declared"),
        ("a,,baseline,0,0,1", r"trials\.csv:5: column 'task': task is empty"),
        ("a,t1,baseline,0,x,1", r"trials\.csv:5: column 'repeat': repeat 'x' is not a whole"),
        ("a,t1,baseline,0,-1,1", r"trials\.csv:5: column 'repeat': repeat '-1'"),
        ("a,t1,baseline,0,9999999999,1", r"trials\.csv:5: column 'repeat'"),
        ("a,t1,baseline,0,7,yes", r"trials\.csv:5: column 'success': 'yes' is not a number"),
        ("a,t1,baseline,0,0,1", r"trials\.csv:2 and data/made_up/trials\.csv:5 are both trial"),
    ],
)
def test_a_broken_row_is_refused_with_its_line(load, line, said):
    with pytest.raises(DataError, match=said):
        load(trials=SMALL_TRIALS + line + "\n")


def test_a_status_outside_the_three_is_refused(load):
    columns = SMALL_COLUMNS.replace(
        'table = "trials"', 'table = "trials"\ncolumns = { status = { constant = "done" } }'
    )
    said = "trials.status is 'done'; accepted: completed, failed, missing"
    with pytest.raises(DataError, match=said.replace(".", r"\.")):
        load(columns=columns)


STUDIES = SMALL_COLUMNS.replace('[files."trials.csv"]', '[files."trials.csv"]\nstudy = "study"')


def test_rows_of_a_study_that_nobody_declared_are_not_lost(load):
    header, *rows = SMALL_TRIALS.splitlines()
    lines = [f"study,{header}", *(f"one,{row}" for row in rows), f"two,{rows[0]}"]
    with pytest.raises(DataError, match=r"trials\.csv:5: study 'two' is declared by no .*'one'"):
        load(
            trials="\n".join(lines) + "\n",
            columns=STUDIES,
            study=SMALL_STUDY.replace('"made_up"', '"made_up"\nstudy = "one"'),
        )


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("arm,task,perturbation,variant,repeat,succes", "column 'success' is missing"),
        (
            "arm,task,perturbation,variant,repeat,success,cost",
            "column 'cost' is not in columns.toml; map it, or list it under ignored",
        ),
    ],
)
def test_columns_must_be_the_declared_ones(load, header, said):
    with pytest.raises(DataError, match=rf"data/made_up/trials\.csv:1: {said}"):
        load(trials=header + "\n")


def test_a_source_without_a_folder_is_named(load):
    with pytest.raises(DataError, match="data/elsewhere: there is no such folder"):
        load(study=SMALL_STUDY.replace("made_up", "elsewhere"))
