"""What tokens cost. Prices are declared by the study: a list in a program would grow old."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.errors import InputError, UnknownNameError
from steelyard.harness.models.request import TokenUsage

PER = 1_000_000
"""Prices are stated per this many tokens."""

CACHE_WRITE = 1.25
"""Price of tokens that go into a cache, as a multiple of the input's, where none is declared."""


@dataclass(frozen=True)
class Price:
    """Prices of one model in US dollars per million tokens.

    Attributes
    ----------
    input, output : float
    cache_read : float, optional
        By default the input's price: no discount is assumed that is not declared.
    cache_write : float, optional
        By default 1.25 times the input's price.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def __post_init__(self) -> None:
        for name in ("input", "output", "cache_read", "cache_write"):
            price = getattr(self, name)
            if price is None and name.startswith("cache"):
                continue
            number = not isinstance(price, bool) and isinstance(price, int | float)
            if not number or not math.isfinite(price) or price < 0:
                raise InputError(f"the price of {name} is {price!r}; accepted are numbers from 0")

    @property
    def read_from_cache(self) -> float:
        """Price of tokens read from the cache."""
        return self.input if self.cache_read is None else self.cache_read

    @property
    def written_to_cache(self) -> float:
        """Price of tokens written to the cache."""
        return CACHE_WRITE * self.input if self.cache_write is None else self.cache_write

    def cost(self, usage: TokenUsage) -> float:
        """Return the cost of an answer in US dollars."""
        parts = (
            usage.input * self.input,
            usage.output * self.output,
            usage.cache_read * self.read_from_cache,
            usage.cache_write * self.written_to_cache,
        )
        return math.fsum(parts) / PER

    def largest_cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost in US dollars if so many tokens are read in the dearest way."""
        dearest = max(self.input, self.read_from_cache, self.written_to_cache)
        return math.fsum((input_tokens * dearest, output_tokens * self.output)) / PER


def price_of(model: str, prices: Mapping[str, Price]) -> Price:
    """Return the price of a model: that of the longest name in the list that its name begins with.

    Parameters
    ----------
    model : str
        For example ``"claude-opus-5-20260101"``.
    prices : mapping of str to Price

    Returns
    -------
    Price

    Raises
    ------
    UnknownNameError
        If the name begins with none of the list's.
    """
    fitting = [name for name in prices if model.startswith(name)]
    if not fitting:
        raise UnknownNameError("model", model, prices, "the declared prices")
    return prices[max(fitting, key=len)]


PUBLISHED_PRICES: Mapping[str, Price] = {
    name: Price(each, output, 0.1 * each, CACHE_WRITE * each)
    for name, each, output in (
        ("claude-haiku-4-5", 1.0, 5.0),
        ("claude-sonnet-4-6", 3.0, 15.0),
        ("claude-sonnet-5", 3.0, 15.0),
        ("claude-opus-4-8", 5.0, 25.0),
        ("claude-opus-5", 5.0, 25.0),
    )
}
"""The list that Plumbline 0.3.0 accounts with. No study is priced by it unless it says so."""
