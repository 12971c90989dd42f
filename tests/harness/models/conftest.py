"""Model clients against the server on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.model_server import KEY, ModelServer, served
from steelyard.harness.models import Anthropic, Message, ModelRequest, OpenAICompatible
from steelyard.harness.models.source import RecordedModels

KINDS = {"openai": OpenAICompatible, "anthropic": Anthropic}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with served() as running:
        yield running


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def base_url(kind: str, server: ModelServer) -> str:
    return server.url + "/v1" if kind == "openai" else server.url


@pytest.fixture
def client(
    tmp_path: Path, server: ModelServer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., RecordedModels]]:
    """Make clients of one kind; those of a test share recordings."""
    monkeypatch.setenv("TEST_KEY", KEY)
    made = []

    def make(offline: bool = False, **parameters: Any) -> RecordedModels:
        settings = {
            "model": "small",
            "base_url": base_url(kind, server),
            "api_key_env": "TEST_KEY",
            "first_wait_seconds": 0.001,
            "timeout_seconds": 5.0,
            **parameters,
        }
        made.append(KINDS[kind](tmp_path / "study" / "recordings", offline, **settings))
        return made[-1]

    yield make
    for source in made:
        source.close()


def asking(text: str = "Add up to 3.", **parts: Any) -> ModelRequest:
    return ModelRequest([Message("user", text)], **parts)


@pytest.fixture
def ask() -> Callable[..., ModelRequest]:
    return asking
