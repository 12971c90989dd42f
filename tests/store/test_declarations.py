"""study.toml and columns.toml: every fault with file, line and field."""

from __future__ import annotations

import pytest

from steelyard.errors import StudyError, UnknownNameError
from steelyard.store.columns import read_columns
from steelyard.store.declaration import Declaration, choose, read_declaration, read_declarations


def study(tmp_path, text, folder="small"):
    path = tmp_path / "experiments" / folder / "study.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


BASE = """\
[study]
id = "small"
title = "T"
question = "Q"
origin = "run"
source = "s"
licence = "MIT"

[data]
source = "made_up"

[design]
arms = ["a", "b"]
perturbations = ["baseline", "fault"]

[measures]
primary = "success"
"""


def test_a_declaration_survives_the_database(tmp_path):
    declaration = read_declaration(
        study(
            tmp_path, BASE + '[scope]\nvariant = ["0", "1"]\n[rules."must:x"]\nseverity = "low"\n'
        )
    )
    assert declaration.design.arms == ("a", "b")
    assert declaration.missing.policy == "exclude"
    assert declaration.measures.all == ("success",)
    assert Declaration.from_json(declaration.to_json()) == declaration
    assert declaration.rules["must:x"].applies_to("anything")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('title = "T"', "titel = 'T'"), r"study\.toml:1: study\.title: is missing"),
        (('title = "T"', "titel = 'T'"), r"study\.toml:3: study\.titel: unknown key"),
        (('"run"', '"ran"'), r"study\.toml:5: study\.origin: accepted is 'run', .*; found 'ran'"),
        (('id = "small"', 'id = "Small"'), r"study\.toml:2: study\.id: .*; found 'Small'"),
        (('["a", "b"]', '"a"'), r"study\.toml:13: design\.arms: "),
        (('["a", "b"]', "[]"), r"study\.toml:13: design\.arms: "),
        (('["a", "b"]', '["a", 2]'), r"study\.toml:13: design\.arms\[1\]: .*; found 2"),
        (('["a", "b"]', '["a", "a"]'), r"study\.toml:12: design: arms names one twice"),
        (('["a", "b"]', '["a", "x:y"]'), r"study\.toml:12: design: the arm 'x:y' holds ':'"),
        (('["a", "b"]', '["a", "x\\u0007"]'), r"study\.toml:12: design: arms .* control character"),
        (("[data]", "[data"), r"study\.toml: not valid TOML: .*line 9"),
        (("[measures]", "[missing]\npolicy = 'drop'\n[measures]"), r":17: missing\.policy: "),
        (
            ("[measures]", "[scope]\narms = 'a'\n[measures]"),
            r"study\.toml: scope names 'arms'; accepted: arm, task",
        ),
        (
            ("[design]", "[design]\ndeterministic_arms = ['c']"),
            r"design: deterministic_arms names \['c'\], which arms does not",
        ),
    ],
)
def test_a_broken_study_is_refused_with_line_and_field(tmp_path, change, said):
    with pytest.raises(StudyError, match=said):
        read_declaration(study(tmp_path, BASE.replace(*change)))


COMPARISON = """
[[comparisons]]
name = "first"
measure = "success"
reference = "a"
candidate = "b"
margin = 0.05

[[comparisons]]
name = "second"
measure = "success"
reference = "a"
candidate = "b"
margin = 0.05
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"second"', '"first"'), "two comparisons have one name"),
        (('candidate = "b"', 'candidate = "c"'), "comparison 'first' names the unknown arm 'c'"),
        (("margin = 0.05", "margin = 0.0"), r":24: comparisons\[0\]\.margin: .*more than 0"),
        (("margin = 0.05", "margin = '5%'"), r":24: comparisons\[0\]\.margin: .*found '5%'"),
        (
            ("margin = 0.05", "margin = 0.05\nperturbations = ['wind']"),
            r"comparison 'first' names the unknown perturbations \['wind'\]",
        ),
    ],
)
def test_a_broken_comparison_is_refused(tmp_path, change, said):
    with pytest.raises(StudyError, match=said):
        read_declaration(study(tmp_path, BASE + COMPARISON.replace(*change)))


def test_the_second_of_two_comparisons_is_found_by_its_line(tmp_path):
    text = BASE + COMPARISON + "note = 3\n"
    with pytest.raises(StudyError, match=rf":{len(text.splitlines())}: comparisons\[1\]\.note: "):
        read_declaration(study(tmp_path, text))


def test_a_study_lives_in_the_folder_of_its_name(tmp_path):
    with pytest.raises(StudyError, match=r"study\.id is 'small', but the folder is called 'other'"):
        read_declaration(study(tmp_path, BASE, "other"))


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(StudyError, match=r"study\.toml: there is no such file"):
        read_declaration(tmp_path / "study.toml")
    (tmp_path / "d").mkdir()
    with pytest.raises(StudyError, match="a directory stands where a TOML file is expected"):
        read_declaration(tmp_path / "d")
    (tmp_path / "latin.toml").write_bytes(b"a = '\xe9'")
    with pytest.raises(StudyError, match="not valid UTF-8 at byte 5"):
        read_declaration(tmp_path / "latin.toml")
    with pytest.raises(StudyError, match="cannot be read"):
        read_declaration(tmp_path / "latin.toml" / "x")


def test_studies_are_read_together_and_must_not_share_rows(tmp_path):
    with pytest.raises(StudyError, match="experiments/ holds no study"):
        read_declarations(tmp_path)
    study(tmp_path, BASE)
    study(tmp_path, BASE.replace('"small"', '"other"'), "other")
    with pytest.raises(StudyError, match="are also those of other; each study needs rows"):
        read_declarations(tmp_path)
    study(tmp_path, BASE.replace('"made_up"', '"made_up"\nstudy = "x"'))
    assert list(read_declarations(tmp_path)) == ["other", "small"]


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("oter:a", "unknown study 'oter' in experiments/small/study.toml.*did you mean 'other'"),
        ("other:z", "unknown arm 'z' in experiments/small/study.toml, comparison 'first'"),
    ],
)
def test_an_arm_of_another_study_must_exist(tmp_path, reference, said):
    study(tmp_path, BASE.replace('"small"', '"other"').replace("made_up", "elsewhere"), "other")
    study(tmp_path, BASE + COMPARISON.replace('reference = "a"', f'reference = "{reference}"'))
    with pytest.raises(UnknownNameError, match=said):
        read_declarations(tmp_path)


def test_an_unknown_study_gets_the_nearest_names():
    with pytest.raises(UnknownNameError, match="did you mean 'retry'"):
        choose({"retry": object()}, "retri")


def test_a_declaration_from_dictionaries_is_checked_too():
    with pytest.raises(StudyError, match="not a study declaration"):
        Declaration.of(study={"id": "x"})


FILE = """\
[files."t.csv"]
key = { arm = "arm", task = "task", perturbation = "p", variant = "v", repeat = "r" }

[[files."t.csv".into]]
table = "trials"
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"columns\.toml:1: files: is missing"),
        (FILE + "tabel = 1\n", r"columns\.toml:6: files\.t\.csv\.into\[0\]\.tabel: unknown key"),
        (FILE.replace('"trials"', '"trails"'), r":4: .*unknown table 'trails'; accepted: claims"),
        (FILE.replace('"trials"', '"studies"'), "unknown table 'studies'"),
        (FILE + 'columns = { sample = "x" }\n', "table trials has no column sample"),
        (FILE + 'values = { x = "x" }\n', "values are for measures, covariates and states"),
        (FILE.replace('"trials"', '"steps"\namend = true'), "only trials can be amended"),
        (FILE.replace(', repeat = "r"', ""), "key must hold exactly arm, task, perturbation"),
        ("[files.'t.csv']\n[[files.'t.csv'.into]]\ntable = 'steps'\n", "needs a trial: give key"),
        (FILE + "columns = { model = { constant = 'x', column = 'y' } }\n", "give exactly one of"),
        (FILE + "columns = { model = {} }\n", "give exactly one of column, join and constant"),
        (
            FILE
            + "columns = { model = { column = 'm', patterns = [{ match = '(', give = '' }] } }",
            r"'\(' is not a regular expression",
        ),
        (FILE + '[files."t.csv".ignored]\narm = "x"\n', "ignored lists arm, which a mapping"),
        (FILE + '[[derived]]\nmeasure = "m:{rule}"\n', r"derived\[0\]: the name holds \{rule\}"),
    ],
)
def test_a_broken_column_file_is_refused(tmp_path, text, said):
    (tmp_path / "columns.toml").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=said):
        read_columns(tmp_path / "columns.toml", "data/s/columns.toml")
