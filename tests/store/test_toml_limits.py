"""TOML that is too much to read: refused with the file, and the line where it is known."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict

from steelyard.errors import StudyError
from steelyard.store.toml_files import read_toml


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow")


DEEP = "lists and tables are nested too deeply; accepted: 100 levels"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"x = {'[' * 5000}{']' * 5000}", f"odd.toml: {DEEP}"),
        (f"x = {'{a=' * 3000}1{'}' * 3000}", f"odd.toml: {DEEP}"),
        (f"x = {'[' * 101}{']' * 101}", f"odd.toml:2: {DEEP}"),
        (f"{'a.' * 5000}b = 1", f"odd.toml:2: {DEEP}"),
        (f"x = {'9' * 10_000}", "odd.toml:2: a number has too many digits"),
        (f"x = -{'_'.join('9' * 5000)}", "odd.toml:2: a number has too many digits"),
        (f"x = 0x{'f' * 10_000}", "odd.toml:2: x: an integer of more than 64 bits"),
        (f"x = [{2**63}]", "odd.toml:2: x[0]: an integer of more than 64 bits"),
    ],
)
def test_what_is_too_much_is_refused(tmp_path, text, said):
    path = tmp_path / "odd.toml"
    path.write_text(f"# a comment\n{text}\n")
    with pytest.raises(StudyError) as refused:
        read_toml(path, Anything)
    assert str(refused.value) == said


def test_what_is_just_within_the_limits_is_read(tmp_path):
    path = tmp_path / "odd.toml"
    path.write_text(
        f"x = {'[' * 99}{']' * 99}\ny = {2**63 - 1}\nz = {-(2**63)}\ntext = '{9:05000}'\n"
    )
    found = read_toml(path, Anything).model_dump()
    assert (found["y"], found["z"]) == (2**63 - 1, -(2**63))
