"""Arguments: read without loss, compared by declared rules."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.trials.argument_schema import ArgumentSchema, FieldPolicy
from steelyard.trials.arguments import (
    compare_arguments,
    magnitude,
    read_arguments,
    storable_arguments,
    values_equal,
)
from steelyard.trials.model import UnreadableArguments
from steelyard.trials.published_arguments import canonical, differs, policy_for
from steelyard.trials.tokens import arguments_text


def differing(expected, got, schema=None, **options):
    return [d.field for d in compare_arguments(expected, got, schema, tool="pay", **options)]


def published(expected, got, schema=None):
    return differing(expected, got, schema, compatibility="plumbline")


def declared(policy, **options):
    return ArgumentSchema({"x": FieldPolicy(policy, **options)})


class TestReading:
    @pytest.mark.parametrize("value", [None, "", "  ", "null", " null ", b"null"])
    def test_nothing_recorded_is_unknown(self, value):
        assert read_arguments(value) is None

    def test_an_empty_object_is_known_to_be_empty(self):
        assert read_arguments("{}") == {}
        assert read_arguments({}) == {}

    def test_arguments_that_were_encoded_twice_are_the_same_arguments(self):
        once = read_arguments('{"city": "Paris"}')
        twice = read_arguments(r'"{\"city\": \"Paris\"}"')
        assert once == twice == {"city": "Paris"}

    def test_a_text_inside_an_object_that_looks_like_json_stays_a_text(self):
        assert read_arguments(r'{"query": "{\"a\": 1}"}') == {"query": '{"a": 1}'}

    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            ("[1, 2]", "a list"),
            ([1, 2], "a list"),
            ("3", "a number"),
            (True, "a boolean"),
            ('"hello"', "a text"),
            (object, "a type"),
            ('{"a": 1', "not valid JSON"),
            ('{"a": 1, "a": 2}', "occurs twice"),
            ('{"a": NaN}', "NaN is not JSON"),
            (b"\xff{}", "UTF-8"),
            ({1: 2}, "keys that are not text"),
        ],
    )
    def test_what_is_not_an_object_is_kept_with_the_reason(self, value, reason):
        read = read_arguments(value)
        assert isinstance(read, UnreadableArguments)
        assert reason in read.reason
        assert read_arguments(read) is read

    @pytest.mark.parametrize(
        ("value", "raw"),
        [("[1, 2]", [1, 2]), ('{"a": 1', '{"a": 1'), ('"hello"', "hello"), (b"\xff", b"\xff")],
    )
    def test_nothing_is_dropped(self, value, raw):
        assert read_arguments(value).raw == raw

    @pytest.mark.parametrize(
        "value",
        ["[1, 2]", '{"a": 1', '"hello"', "3", "true", '{"a": NaN}', '{"a": 1, "a": 2}', "", "{}"],
    )
    def test_what_is_stored_reads_back(self, value):
        read = read_arguments(value)
        stored = storable_arguments(read)
        again = read_arguments(None if stored is None else json.dumps(stored))
        assert arguments_text(again) == arguments_text(read)

    def test_what_no_table_can_hold_is_replaced(self):
        assert storable_arguments(UnreadableArguments(b"\xff{", "")) == "\ufffd{"
        assert storable_arguments(UnreadableArguments("{\ud83d", "")) == "{\ufffd"
        assert storable_arguments(UnreadableArguments({1: 2}, "")) == "{1: 2}"

    def test_a_text_encoded_many_times_is_no_arguments(self):
        text = "{}"
        for _ in range(6):
            text = json.dumps(text)
        assert isinstance(read_arguments(text), UnreadableArguments)

    def test_lone_surrogates_are_replaced(self):
        assert read_arguments(r'{"x": "\ud83d"}') == {"x": "\ufffd"}
        assert read_arguments(r'{"x": "\ud83d\ude00"}') == {"x": "\U0001f600"}


class TestDefault:
    """What differs from the published comparison, one test per difference."""

    def test_true_is_not_one(self):
        assert differing({"x": True}, {"x": 1}) == ["x"]
        assert published({"x": True}, {"x": 1}) == []

    def test_case_and_white_space_count(self):
        assert differing({"x": "INV-1"}, {"x": " inv-1 "}) == ["x"]
        assert published({"x": "INV-1"}, {"x": " inv-1 "}) == []

    def test_an_identifier_is_not_a_number(self):
        assert differing({"x": 7}, {"x": "007"}) == ["x"]
        assert published({"x": 7}, {"x": "007"}) == []
        assert differing({"x": "007"}, {"x": "7"}, declared("numeric")) == ["x"]
        assert published({"x": "007"}, {"x": "7"}, declared("numeric")) == []

    @pytest.mark.parametrize(
        "text", [" 1e2 ", "1_00", "+100", "0x64", "\u0661\u0660\u0660", "100."]
    )
    def test_only_json_numbers_are_numbers(self, text):
        assert differing({"x": 100}, {"x": text}, declared("numeric")) == ["x"]

    def test_a_number_written_as_text_counts_where_it_is_declared(self):
        assert differing({"x": 100}, {"x": "100"}, declared("numeric")) == []
        assert differing({"x": 100}, {"x": "1e2"}, declared("numeric")) == []

    def test_undeclared_values_keep_their_types(self):
        assert differing({"x": 100}, {"x": "100"}) == ["x"]
        assert published({"x": 100}, {"x": "100"}) == []
        (difference,) = compare_arguments({"x": 49.0}, {"x": 490})
        assert (difference.policy, difference.magnitude) == ("exact", 10.0)

    def test_lists_keep_order_and_multiplicity(self):
        assert differing({"x": [1, 2]}, {"x": [2, 1]}) == ["x"]
        assert differing({"x": [1, 1]}, {"x": [1]}) == ["x"]
        assert published({"x": [1, 2]}, {"x": [2, 1]}) == []
        assert published({"x": [1, 1]}, {"x": [1]}) == []

    def test_unknown_arguments_are_not_empty(self):
        (difference,) = compare_arguments(None, {})
        assert (difference.field, difference.policy) == ("", "unknown")
        assert compare_arguments(None, {}, compatibility="plumbline") == ()

    def test_nothing_is_known_about_two_unknown(self):
        assert [d.policy for d in compare_arguments(None, None)] == ["unknown"]

    def test_unreadable_arguments_compare_by_what_was_recorded(self):
        a, b = UnreadableArguments("[1]", "a list"), UnreadableArguments("[2]", "a list")
        assert compare_arguments(a, a) == ()
        assert [d.policy for d in compare_arguments(a, b)] == ["unreadable"]
        assert [d.policy for d in compare_arguments(a, {})] == ["unreadable"]
        assert published(a, b) == ["_raw"]

    def test_integers_are_exact(self):
        assert differing({"x": 2**53}, {"x": 2**53 + 1}) == ["x"]
        assert published({"x": 2**53}, {"x": 2**53 + 1}) == []
        assert differing({"x": 10**400}, {"x": 10**400}) == []
        with pytest.raises(InputError, match="range of a double"):
            published({"x": 10**400}, {"x": 10**400})
        with pytest.raises(InputError, match="range of a double"):
            canonical(10**400)

    def test_an_unknown_policy_is_refused(self):
        with pytest.raises(InputError, match="policy is 'fuzzy'; accepted are exact"):
            differing({"x": 1}, {"x": 1}, declared("fuzzy"))
        assert published({"x": 1}, {"x": 1}, declared("fuzzy")) == []


class TestPolicies:
    def test_nan_equals_nothing(self):
        nan = math.nan
        for value in (nan, [nan], {"a": [nan]}):
            assert differing({"x": value}, {"x": value}) == ["x"]
        for policy in ("exact", "numeric", "set", "multiset"):
            assert differing({"x": [nan]}, {"x": [nan]}, declared(policy)) == ["x"]

    def test_text(self):
        rule = declared("text", severity="low")
        assert differing({"x": "Paid  in full"}, {"x": " paid in FULL"}, rule) == []
        assert differing({"x": "e\u0301"}, {"x": "É"}, rule) == []
        (difference,) = compare_arguments({"x": "a"}, {"x": "b"}, rule)
        assert difference.severity == "low"
        assert differing({"x": 1}, {"x": "1"}, rule) == ["x"]

    def test_sets_and_multisets(self):
        assert differing({"x": [1, 1, 2]}, {"x": [2, 1]}, declared("set")) == []
        assert differing({"x": [1, 1, 2]}, {"x": [2, 1]}, declared("multiset")) == ["x"]
        assert differing({"x": [1, 1, 2]}, {"x": [1, 2, 1]}, declared("multiset")) == []
        assert differing({"x": "a"}, {"x": ["a"]}, declared("set")) == []
        assert differing({"x": [True]}, {"x": [1]}, declared("set")) == ["x"]

    def test_ignored_fields_differ_never(self):
        assert differing({"x": 1}, {}, declared("ignore")) == []
        assert values_equal(1, 2, FieldPolicy("ignore"))

    def test_tolerances_apply_to_the_numbers_as_written(self):
        # 0.8 - 0.7 is 0.10000000000000009 in doubles
        assert differing({"x": 0.7}, {"x": 0.8}, declared("numeric", absolute_tolerance=0.1)) == []
        assert differing({"x": 0.7}, {"x": 0.81}, declared("numeric", absolute_tolerance=0.1))
        assert differing({"x": 100}, {"x": 99}, declared("numeric", relative_tolerance=0.01)) == []
        assert differing({"x": 100}, {"x": 98.9}, declared("numeric", relative_tolerance=0.01))
        assert differing({"x": 10**400}, {"x": 10**400 + 1}, declared("numeric")) == ["x"]

    def test_infinity_equals_itself_alone(self):
        rule = declared("numeric", absolute_tolerance=1.0)
        assert differing({"x": math.inf}, {"x": math.inf}, rule) == []
        assert differing({"x": math.inf}, {"x": 1e308}, rule) == ["x"]
        assert differing({"x": "1e999"}, {"x": "1e998"}, rule) == ["x"]

    @pytest.mark.parametrize("tolerance", [-1.0, math.nan, math.inf])
    def test_tolerances_are_not_negative(self, tolerance):
        with pytest.raises(InputError, match="tolerance is"):
            differing({"x": 1}, {"x": 1}, declared("numeric", absolute_tolerance=tolerance))

    def test_severities_are_four(self):
        with pytest.raises(InputError, match="severity is 'fatal'"):
            differing({"x": 1}, {"x": 1}, declared("exact", severity="fatal"))


def test_an_explicit_null_is_not_absence():
    (difference,) = compare_arguments({"x": None}, {})
    assert difference.absent == "got"
    (difference,) = compare_arguments({}, {"x": None})
    assert difference.absent == "expected"
    assert compare_arguments({"x": None}, {"x": None}) == ()


def test_fields_come_in_the_order_of_their_names():
    assert differing({"b": 1, "a": 2}, {"c": 1}) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("expected", "got", "size"),
    [(49.0, 490.0, 10.0), (0, 5, None), ("a", 5, None), (10**400, 1.0, None), (2, 10**400, None)],
)
def test_magnitude(expected, got, size):
    assert magnitude(expected, got) == size


def test_other_compatibilities_are_refused():
    with pytest.raises(InputError, match="compatibility is 'langsmith'"):
        compare_arguments({}, {}, compatibility="langsmith")


class TestPublishedRule:
    @pytest.mark.parametrize(
        ("expected", "got", "tolerance", "answer"),
        [
            (49.0, "49", 0, False),
            (49.0, math.nan, 0, False),  # NaN is never further away than the tolerance
            (1, True, 0, False),
            ("007", 7, 0, False),
            (1000, "1_000", 0, False),
            (None, "None ", 0, False),
            (None, "X", 0, True),
            ("PRICE", " price ", 0, False),
            (49.0, 49.009, 0.01, False),
            (49.0, 49.011, 0.01, True),
        ],
    )
    def test_difference_of_an_argument_from_the_context(self, expected, got, tolerance, answer):
        assert differs(expected, got, tolerance) is answer

    def test_undeclared_fields_go_by_type(self):
        policies = {
            repr(value): policy_for("x", None, value).policy for value in (1, True, [], "a")
        }
        assert policies == {"1": "numeric", "True": "exact", "[]": "set", "'a'": "exact"}
        schema = ArgumentSchema({"y": FieldPolicy("text")}, FieldPolicy("ignore"))
        assert policy_for("x", schema, 1).policy == "ignore"
        assert policy_for("x", ArgumentSchema(), 1).policy == "numeric"
        assert published({"x": 1}, {}) == ["x"]
        assert published({}, {"x": 1}, declared("ignore")) == []
        assert published({"x": 1.0}, {"x": 1.4}, declared("numeric", absolute_tolerance=0.5)) == []

    def test_canonical_form(self):
        assert canonical({"a": [1, "A "]}) == (("a", (1.0, "a")),)
        assert canonical({"1": 1, "01": 2}) == (("01", 2.0), ("1", 1.0))


class TestEdges:
    NUMERIC = FieldPolicy("numeric", absolute_tolerance=0.1)

    @pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
    def test_numpy_numbers_are_numbers(self, kind):
        assert values_equal(kind(7), 7.1, self.NUMERIC)
        assert not values_equal(kind(7), 7.2, self.NUMERIC)
        assert values_equal(0.7, 0.8, FieldPolicy("numeric", absolute_tolerance=np.float64(0.1)))
        assert magnitude(kind(2), 4) == 2.0

    def test_no_nan_equals_itself(self):
        assert not values_equal([np.float32("nan")], [np.float32("nan")], FieldPolicy())

    def test_an_integer_in_text_may_exceed_every_double(self):
        assert values_equal("1" + "0" * 380, 10**380, FieldPolicy("numeric"))
        assert not values_equal("1" + "0" * 380, 10**381, FieldPolicy("numeric"))

    @pytest.mark.parametrize("text", ["\u0390", "\u03b0", "Stra\u00dfe", "\u0130"])
    def test_text_equals_its_capitals(self, text):
        for other in (text.upper(), text.lower(), text.casefold()):
            assert values_equal(text, other, FieldPolicy("text"))

    @pytest.mark.parametrize("compatibility", [None, "plumbline"])
    def test_names_that_are_no_text_are_refused(self, compatibility):
        with pytest.raises(InputError, match="argument name 1 is not text"):
            compare_arguments({1: 1, "a": 2}, {"1": 1}, compatibility=compatibility)

    @pytest.mark.parametrize("tolerance", ["x", True, None, math.nan, -1])
    def test_a_tolerance_is_a_number(self, tolerance):
        schema = ArgumentSchema({"a": FieldPolicy("numeric", absolute_tolerance=tolerance)})
        with pytest.raises(InputError, match=r"tolerance is .*; accepted are 0 and above"):
            compare_arguments({"a": 1}, {"a": 2}, schema)

    def test_what_the_published_comparison_cannot_hold_is_refused(self):
        deep = []
        for _ in range(5000):
            deep = [deep]
        for value, message in ((deep, "nested deeper"), ([{1, 2}], "no JSON value")):
            with pytest.raises(InputError, match=message):
                compare_arguments({"a": value}, {"a": [1]}, compatibility="plumbline")
