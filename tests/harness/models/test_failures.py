"""What goes wrong between client and provider, and what becomes of the trial and the run."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from harness.model_server import KEY, Fault
from steelyard.harness.models import backoff, bounded_http
from steelyard.harness.models.backoff import BackOff, retry_after_seconds
from steelyard.harness.models.failures import RequestRefusedError
from steelyard.harness.models.sender import GIVE_UP_AFTER
from steelyard.harness.models.source import RequestTooLargeError
from steelyard.harness.protocols import NotRunError, StopRunError


def said(message: str, **more: str) -> str:
    return json.dumps({"error": {"message": message, **more}})


PASSING = {
    "rate limit": Fault(429, {"retry-after": "0"}, said("slow down")),
    "server error": Fault(500),
    "overloaded": Fault(529, {}, said("overloaded", type="overloaded_error")),
    "cut connection": Fault(cut=True),
    "cut later": Fault(cut=True, delay=0.02),
    "malformed JSON": Fault(body='{"choices": [{"mess'),
    "NaN": Fault(body='{"choices": [NaN], "content": [NaN]}'),
    "no object": Fault(body="[]"),
    "no answer": Fault(body="{}"),
    "an error as an answer": Fault(body=said("overloaded")),
    "wrong types": Fault(body='{"choices": [{"message": {"content": 3}}], "content": 3}'),
    "a web page": Fault(200, {"content-type": "text/html"}, "<html>hello</html>"),
    "deep nesting": Fault(body='{"content": ' + "[" * 5000 + "]" * 5000 + "}"),
    "slow": Fault(delay=1.5),
    "byte by byte": Fault(body="x" * 50, drip=0.03),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_may_pass_is_tried_again(client, server, ask, name):
    late = name in ("slow", "byte by byte")
    count = 1 if late else 2
    server.faults.extend([PASSING[name]] * count)
    model = client(timeout_seconds=1.0 if late else 10.0, retries=2).client_for("a/t/b/0/0")
    assert model.complete(ask()).tool_calls[0].name == "add"
    assert len(server.requests) == count + 1
    assert model.usage.calls == 1


@pytest.mark.parametrize("name", ["server error", "cut connection", "malformed JSON"])
def test_retries_end_and_the_trial_stays_missing(client, server, ask, name):
    server.faults.extend([PASSING[name]] * 3)
    source = client(retries=2)
    with pytest.raises(NotRunError, match="no answer after 3 attempts"):
        source.client_for("a/t/b/0/0").complete(ask())
    assert len(server.requests) == 3
    assert len(source.recordings) == 0


def test_a_server_that_nobody_hears_is_no_failure_of_the_arm(client, ask):
    source = client(base_url="http://127.0.0.1:9", retries=1)
    with pytest.raises(NotRunError, match="the connection failed"):
        source.client_for("a/t/b/0/0").complete(ask())


@pytest.mark.parametrize(
    ("fault", "end"),
    [
        (Fault(401, {}, said(f"bad key {KEY}")), (StopRunError, r"refused.*bad key \[secret\]")),
        (Fault(403, {}, said("no")), (StopRunError, "access was refused")),
        (Fault(404, {}, said("no such model")), (StopRunError, "no such model")),
        (Fault(429, {}, said("pay", code="insufficient_quota")), (StopRunError, "pay")),
        (Fault(400, {}, said("temperature")), (NotRunError, "did not accept")),
        (Fault(400, {}, "<html>"), (NotRunError, "HTTP 400: <html>")),
        (Fault(400, {}, said("x" * 999)), (NotRunError, "xxx…")),
        (Fault(413, {}, said("too large")), (RequestRefusedError, "too large")),
        (Fault(400, {}, said("prompt is too long: 9 > 8")), (RequestRefusedError, "9 > 8")),
        (Fault(400, {}, said("x", code="content_filter")), (RequestRefusedError, "refused")),
        (Fault(429, {"retry-after": "500"}), (NotRunError, "asks to wait 500 seconds")),
    ],
)
def test_what_does_not_pass_is_not_tried_again(client, server, ask, fault, end):
    server.faults.append(fault)
    with pytest.raises(end[0], match=end[1]) as refusal:
        client().client_for("a/t/b/0/0").complete(ask())
    assert len(server.requests) == 1
    assert KEY not in str(refusal.value)


def test_a_refusal_is_recorded_and_replayed(client, server, ask):
    server.faults.append(Fault(413, {}, said("too large")))
    with pytest.raises(RequestRefusedError) as live:
        client().client_for("a/t/b/0/0").complete(ask())
    with pytest.raises(RequestRefusedError) as replayed:
        client(offline=True).client_for("a/t/b/0/0").complete(ask())
    assert str(live.value) == str(replayed.value)
    place = [error.tb.tb_frame.f_code.co_filename for error in (live, replayed)]
    assert place[0] == place[1]


def test_a_conversation_beyond_the_declared_size_is_not_sent(client, server, ask):
    source = client(max_request_bytes=1_000)
    source.client_for("a/t/b/0/0").complete(ask())
    with pytest.raises(RequestTooLargeError, match="max_request_bytes is 1000"):
        source.client_for("a/t/b/0/1").complete(ask("x" * 1_000))
    assert len(server.requests) == 1


def test_a_provider_that_answers_nobody_ends_the_run(client, server, ask):
    source = client(retries=0)
    models = iter(source.client_for(f"a/t/b/0/{number}") for number in range(100))
    for number in range(2 * GIVE_UP_AFTER - 1):
        if number != GIVE_UP_AFTER - 1:
            server.faults.append(Fault(500))
            with pytest.raises(NotRunError):
                next(models).complete(ask())
        else:
            next(models).complete(ask())  # one answer, and the count begins anew
    server.faults.append(Fault(503))
    with pytest.raises(StopRunError, match=r"20 requests in a row .* the last: .*HTTP 503"):
        next(models).complete(ask())


def test_a_request_cannot_ask_for_more_than_the_study_allows(client, server, ask):
    source = client(max_tokens=100)
    source.client_for("a/t/b/0/0").complete(ask(max_tokens=100))
    with pytest.raises(StopRunError, match=r"asks for 101 tokens; max_tokens of .* is 100"):
        source.client_for("a/t/b/0/1").complete(ask(max_tokens=101))
    assert len(server.requests) == 1


def test_an_answer_without_end_is_cut_off(client, server, ask, monkeypatch):
    monkeypatch.setattr(bounded_http, "LARGEST_ANSWER", 10_000)
    server.faults.append(Fault(body='{"content": "' + "x" * 20_000 + '"}'))
    with pytest.raises(NotRunError, match=r"the connection failed \(RemoteProtocolError\)"):
        client(retries=0).client_for("a/t/b/0/0").complete(ask())


def test_a_system_without_file_locks_replays_and_buys_nothing(client, server, ask, monkeypatch):
    answer = client().client_for("a/t/b/0/0").complete(ask())
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "fcntl", None)
        assert client(offline=True).client_for("a/t/b/0/0").complete(ask()) == answer
        with pytest.raises(StopRunError, match="needs file locks"):
            client().client_for("a/t/b/0/1").complete(ask())
    assert len(server.requests) == 1


def test_an_unknown_client_library_or_a_closed_client_ends_the_run(client, ask, monkeypatch):
    source = client()
    monkeypatch.setattr(source._sender, "library", "no_such_library")
    with pytest.raises(StopRunError, match=r"pip install 'steelyard\[no_such_library\]'"):
        source.client_for("a/t/b/0/0").complete(ask())
    source.close()
    with pytest.raises(NotRunError, match="closed"):
        source.client_for("a/t/b/0/0").complete(ask())


def test_a_wait_is_as_long_as_the_server_asks_and_at_least_the_back_off(
    client, server, ask, monkeypatch
):
    server.faults.extend([Fault(429, {"retry-after": "7"}), Fault(503), Fault(503)])
    source = client(first_wait_seconds=1.0)
    waits = []
    monkeypatch.setattr(source._sender._closing, "wait", waits.append)
    source.client_for("a/t/b/0/0").complete(ask())
    assert waits[0] == 7
    assert 1 <= waits[1] <= 2
    assert 2 <= waits[2] <= 4


def test_the_back_off_doubles_is_scattered_and_bounded():
    back_off = BackOff(longest_seconds=10.0)
    waits = [[back_off.seconds(attempt, key) for attempt in range(9)] for key in ("one", "two")]
    assert waits[0] != waits[1]
    assert waits[0] == [back_off.seconds(attempt, "one") for attempt in range(9)]
    for attempt, wait in enumerate(waits[0]):
        whole = min(2.0**attempt, 10.0)
        assert whole / 2 <= wait <= whole
    assert back_off.seconds(5_000, "one") <= 10.0


NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
LATER = format_datetime(NOW + timedelta(seconds=90), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "250", "retry-after": "12"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "12"}, 12.0),
        ({"retry-after": LATER, "date": format_datetime(NOW, usegmt=True)}, 90.0),
        ({"retry-after": "Sun, 01 Mar 1970 12:00:00 GMT"}, 0.0),
        ({"retry-after": "Sun, 99 Foo 2026 12:00:00 GMT"}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers, seconds):
    assert retry_after_seconds(headers) == seconds


def test_a_date_without_the_servers_own_is_held_against_our_clock(monkeypatch):
    class Clock(datetime):
        @classmethod
        def now(cls, _zone):
            return NOW

    monkeypatch.setattr(backoff, "datetime", Clock)
    assert retry_after_seconds({"retry-after": LATER}) == 90.0
