"""``[run.model]`` of a ``study.toml``: what a model client may be told."""

from __future__ import annotations

import math
import os
import re
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError, field_validator, model_validator

from steelyard.errors import InputError
from steelyard.harness.models.keys import request_text
from steelyard.harness.models.prices import Price, price_of
from steelyard.harness.protocols import StopRunError
from steelyard.store.toml_files import Declared
from steelyard.trials.schema_faults import fault_reason

_KEY = re.compile(r"[\x21-\x7e]+")
_VARIABLE = re.compile(r"[A-Za-z_]\w*|")

RESERVED = {"model", "messages", "system", "tools", "temperature", "stream", "n"}
LIMITS = {"max_tokens", "max_completion_tokens", "max_output_tokens"}
"""Members of a request that its own fields decide, or on which its largest cost depends."""

TOKENS_BESIDES = 1_000
"""Input tokens that a provider may add to a request, its instructions for tools among them."""

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class DeclaredPrice(Declared):
    """US dollars per million tokens; see `steelyard.harness.models.prices.Price`."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None


class ClientSettings(Declared):
    """The parameters of a model client.

    Attributes
    ----------
    model : str
        As the provider calls it.
    base_url : str, optional
        Of another server that speaks the protocol; by default the provider's own, or what the
        client library's own environment variable names.
    api_key_env : str
        The environment variable that holds the key; ``""`` for a server that wants none. A key is
        never declared.
    max_tokens : int
        Of an answer at most; a request may ask for fewer.
    options : dict
        Further members of every request, in the provider's words.
    timeout_seconds : float
        For one attempt.
    retries : int
        After a failure that may pass.
    longest_wait_seconds : float
        Between two attempts. A server that asks for more is not waited for: the trial stays
        missing.
    first_wait_seconds : float
        The first wait between two attempts at most; each further one may be twice as long.
    concurrency : int
        Requests under way at a time, in this process.
    max_request_bytes : int
        Largest request; a trial whose conversation grows beyond it has failed. A token is at
        least one byte, so this bounds what a request can cost.
    prices : dict of str to DeclaredPrice
        By (the beginning of) the model's name.
    spend_cap_usd : float, optional
        Of all runs that name the same journal; needs prices.
    journal : str, optional
        The spend journal, from the study's folder; by default ``spend.journal`` where there is a
        cap. Needs prices.
    """

    model: Annotated[str, Field(min_length=1)]
    base_url: str | None = None
    api_key_env: str
    max_tokens: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] = 1024
    options: dict[str, Any] = Field(default_factory=dict)
    timeout_seconds: Seconds = 120.0
    retries: Annotated[int, Field(ge=0, le=100, strict=True)] = 5
    longest_wait_seconds: Seconds = 120.0
    first_wait_seconds: Seconds = 1.0
    concurrency: Annotated[int, Field(ge=1, le=1024, strict=True)] = 8
    max_request_bytes: Annotated[int, Field(ge=1, strict=True)] = 200_000
    prices: dict[str, DeclaredPrice] = Field(default_factory=dict)
    spend_cap_usd: Dollars | None = None
    journal: str | None = None

    @field_validator("base_url")
    @classmethod
    def _check_url(cls, value: str | None) -> str | None:
        if value is None:
            return None
        host = re.fullmatch(r"https?://([^/?#\s]+)(/[^?#\s]*)?", value)
        if host is None or "@" in host[1]:
            raise ValueError("accepted is http(s)://host[:port][/path], without user or password")
        return value

    @field_validator("api_key_env")
    @classmethod
    def _check_variable(cls, value: str) -> str:
        if not _VARIABLE.fullmatch(value):
            raise ValueError("accepted is the name of an environment variable, not a key")
        return value

    @field_validator("options")
    @classmethod
    def _check_options(cls, value: dict[str, Any]) -> dict[str, Any]:
        taken = sorted((RESERVED | LIMITS) & set(value))
        if taken:
            raise ValueError(f"{', '.join(taken)} cannot be set here")
        request_text(value)
        return value

    @model_validator(mode="after")
    def _check_cap(self) -> ClientSettings:
        named = "spend_cap_usd" if self.spend_cap_usd is not None else "journal"
        if not self.prices and (self.spend_cap_usd, self.journal) != (None, None):
            raise ValueError(f"{named} needs prices: without them nothing can be counted")
        if self.prices:
            self.price()
        return self

    def price(self) -> Price | None:
        """Return the model's price, or None where no prices are declared."""
        if not self.prices:
            return None
        prices = {name: Price(**price.model_dump()) for name, price in self.prices.items()}
        return price_of(self.model, prices)

    def key(self) -> str:
        """Return the key from the environment; a text without meaning where none is needed.

        Raises
        ------
        StopRunError
            If the variable is not set, or does not hold what a key can be. Its value is not shown.
        """
        if not self.api_key_env:
            return "none"
        value = os.environ.get(self.api_key_env, "").strip()
        if not value:
            raise StopRunError(f"the environment variable {self.api_key_env} holds no key")
        if not _KEY.fullmatch(value):
            raise StopRunError(
                f"the environment variable {self.api_key_env} holds characters that no key has"
            )
        return value

    def largest_cost(self, request_bytes: int, max_tokens: int) -> float:
        """Return the most that one request can cost in US dollars; NaN without prices."""
        price = self.price()
        if price is None:
            return math.nan
        return price.largest_cost(request_bytes + TOKENS_BESIDES, max_tokens)


Settings = TypeVar("Settings", bound=ClientSettings)


def checked_settings(kind: type[Settings], given: dict[str, Any]) -> Settings:
    """Return settings, or raise InputError that names each fault and shows no value.

    A value might be a key that stands where none belongs.
    """
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'the model'}: {fault_reason(fault)}"
            for fault in error.errors(include_url=False, include_input=False)
        ]
        raise InputError("; ".join(faults)) from None
