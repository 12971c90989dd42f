"""Adapters of the model clients to Plumbline's vectors: keys of recordings, prices, costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from steelyard.harness.models.keys import recording_key
from steelyard.harness.models.prices import PUBLISHED_PRICES, price_of
from steelyard.harness.models.request import TokenUsage


def cache_key(case: Mapping[str, Any]) -> str:
    content = {name: case[name] for name in ("model", "system", "messages", "tools", "temperature")}
    return recording_key(case["trial_key"], case["turn"], content)


def resolve_price(case: Mapping[str, Any]) -> list[float]:
    price = price_of(case["model"], PUBLISHED_PRICES)
    return [price.input, price.output]


def budget_cost(case: Mapping[str, Any]) -> float:
    usage = TokenUsage(
        case["tokens_in"], case["tokens_out"], case["cache_read"], case["cache_write"]
    )
    return price_of(case["model"], PUBLISHED_PRICES).cost(usage)


ADAPTERS: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("plumbline", "cache_key"): cache_key,
    ("plumbline", "resolve_price"): resolve_price,
    ("plumbline", "budget_cost"): budget_cost,
}
