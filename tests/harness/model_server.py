"""A server on this machine that speaks OpenAI's chat completions and Anthropic's messages.

What it answers is up to a `Mind`: here a **scripted** one, no model. What goes wrong is up to a
queue of faults, each of which meets one request.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-secret-0123456789abcdef"


@dataclass(frozen=True)
class Conversation:
    """A request, in whichever protocol it came."""

    system: str
    prompt: str
    results: tuple[str, ...]
    tools: tuple[str, ...]
    turn: int
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """What the mind answers: text, or calls as (tool, arguments); text arguments go out raw."""

    text: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    stop: str = ""


@dataclass(frozen=True)
class Fault:
    """One request's fate: a status, a body that is no answer, a delay, or a cut connection."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    delay: float = 0.0
    cut: bool = False
    drip: float = 0.0

    @property
    def only_slow(self) -> bool:
        return bool(self.delay) and self.status == 200 and not self.cut


Mind = Callable[[Conversation], Reply]


def counting_mind(conversation: Conversation) -> Reply:
    """Adds in twos until the number of the prompt is reached; for the toy domain's ``add``."""
    target = int(re.findall(r"\d+", conversation.prompt)[-1])
    totals = [json.loads(text).get("total") for text in conversation.results]
    total = next((found for found in reversed(totals) if found is not None), 0)
    if total >= target:
        return Reply(f"The sum is {total}.")
    return Reply("", [("add", {"number": min(2, target - total)})])


class ModelServer:
    """The server; `served` runs one."""

    def __init__(self, mind: Mind) -> None:
        self.mind = mind
        self.faults: deque[Fault] = deque()
        self.requests: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []
        self.most_at_once = 0
        self.delay = 0.0
        self.usage = True
        self.lock = threading.Lock()
        self._at_once = 0
        self._http = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"models": self})
        )
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next_fault(self) -> Fault | None:
        with self.lock:
            return self.faults.popleft() if self.faults else None

    @contextmanager
    def counted(self, request: dict[str, Any]):
        with self.lock:
            self.requests.append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self.lock:
                self._at_once -= 1

    def answer(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        anthropic = path.endswith("/messages")
        read, write = (from_anthropic, as_anthropic) if anthropic else (from_openai, as_openai)
        conversation = read(body)
        answer = write(self.mind(conversation), conversation)
        with self.lock:
            self.answers.append(answer)
        return answer if self.usage else {**answer, "usage": None}


@contextmanager
def served(mind: Mind = counting_mind):
    """Run a server while the block lasts."""
    server = ModelServer(mind)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def from_openai(body: Mapping[str, Any]) -> Conversation:
    messages = body["messages"]
    system = [m["content"] for m in messages if m["role"] == "system"]
    return Conversation(
        system[0] if system else "",
        next(m["content"] for m in messages if m["role"] == "user"),
        tuple(m["content"] for m in messages if m["role"] == "tool"),
        tuple(tool["function"]["name"] for tool in body.get("tools", ())),
        sum(m["role"] == "assistant" for m in messages),
        body,
    )


def as_openai(reply: Reply, conversation: Conversation) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    calls = [
        {
            "id": f"call_{conversation.turn}_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for number, (name, given) in enumerate(reply.calls)
    ]
    if calls:
        message["tool_calls"] = calls
    read, written = _tokens(reply, conversation)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": f"{conversation.body['model']}-2026",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": reply.stop or ("tool_calls" if calls else "stop"),
            }
        ],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": 5},
        },
    }


def from_anthropic(body: Mapping[str, Any]) -> Conversation:
    blocks = [
        block
        for message in body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    prompt = next(m["content"] for m in body["messages"] if m["role"] == "user")
    return Conversation(
        body.get("system", ""),
        prompt,
        tuple(block["content"] for block in blocks if block["type"] == "tool_result"),
        tuple(tool["name"] for tool in body.get("tools", ())),
        sum(m["role"] == "assistant" for m in body["messages"]),
        body,
    )


def as_anthropic(reply: Reply, conversation: Conversation) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    blocks += [
        {
            "type": "tool_use",
            "id": f"toolu_{conversation.turn}_{number}",
            "name": name,
            "input": given,
        }
        for number, (name, given) in enumerate(reply.calls)
    ]
    read, written = _tokens(reply, conversation)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": f"{conversation.body['model']}-2026",
        "content": blocks,
        "stop_reason": reply.stop or ("tool_use" if reply.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": read - 5,
            "output_tokens": written,
            "cache_read_input_tokens": 5,
            "cache_creation_input_tokens": 0,
        },
    }


def _tokens(reply: Reply, conversation: Conversation) -> tuple[int, int]:
    return 20 + len(json.dumps(conversation.body)) // 4, 3 + len(reply.text) // 4


class _Handler(BaseHTTPRequestHandler):
    models: ModelServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        sent = self.rfile.read(length)
        if len(sent) < length:  # the client was killed while it sent
            self.close_connection = True
            return
        body = json.loads(sent)
        request = {"path": self.path, "headers": dict(self.headers.items()), "body": body}
        with self.models.counted(request):
            fault = self.models.next_fault()
            time.sleep(self.models.delay if fault is None else fault.delay)
            if fault is None or fault.only_slow:
                self._send(200, {}, json.dumps(self.models.answer(self.path, body)))
            elif fault.cut:
                self._cut()
            else:
                self._send(fault.status, fault.headers, fault.body or "{}", fault.drip)

    def _cut(self) -> None:
        """End the connection in the middle of the headers."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-le")
        self.close_connection = True

    def _send(self, status: int, headers: Mapping[str, str], text: str, drip: float = 0.0) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if not drip:
            self.wfile.write(data)
            return
        for byte in data:
            self.wfile.write(bytes([byte]))
            time.sleep(drip)

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):  # the client has gone
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass
