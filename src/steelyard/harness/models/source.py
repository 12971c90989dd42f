"""Models as a study's trials see them: recorded first, asked where that may be, always accounted.

``[run.model] entry`` names one of the two classes here. A trial that asks gets the recorded answer,
if there is one under its own id, turn and request; else the provider is asked, and its answer is
recorded before the trial sees it. ``steelyard replay`` asks nobody.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, SteelyardError
from steelyard.harness.arms import ArmError
from steelyard.harness.models import anthropic_messages, openai_chat
from steelyard.harness.models.failures import RequestRefusedError
from steelyard.harness.models.journal import SpendJournal
from steelyard.harness.models.keys import recording_key, request_text
from steelyard.harness.models.recordings import Recordings
from steelyard.harness.models.request import ModelRequest, ModelResponse
from steelyard.harness.models.sender import Keep, Sender, Wire, not_of_the_arm
from steelyard.harness.models.settings import ClientSettings, checked_settings
from steelyard.harness.protocols import NotRunError, StopRunError, Usage

JOURNAL = "spend.journal"


class RequestTooLargeError(ArmError):
    """A trial's conversation has grown beyond ``max_request_bytes``."""


class RecordedModels:
    """A model source that records; see `OpenAICompatible` and `Anthropic`.

    Parameters
    ----------
    recordings : pathlib.Path
        The study's folder of recordings.
    offline : bool
        Answer from recordings only.
    **parameters
        See `steelyard.harness.models.settings.ClientSettings`.

    Raises
    ------
    InputError
        If a parameter is not as declared there. Keys are not needed before a request is made.
    StoreError
        If the recordings or the spend journal cannot be read.
    """

    library: str
    wire: Wire
    settings_type: type[ClientSettings]

    def __init__(self, recordings: Path, offline: bool, **parameters: Any) -> None:
        self.settings = checked_settings(self.settings_type, parameters)
        self.offline = offline
        self.recordings = Recordings(Path(recordings))
        self.price = self.settings.price()
        self.study = Path(recordings).resolve().parent.name
        self.journal = None if offline else self._journal(Path(recordings).parent)
        self._sender = Sender(self.library, self.wire, self.settings, self.journal)
        self._bought = 0
        self._lock = threading.Lock()
        self._known: set[tuple[str, int]] | None = None

    @property
    def bought(self) -> int:
        """Answers that were asked for and recorded by this source."""
        return self._bought

    def account(self) -> str:
        """Return in a few words what was bought, and what is spent of the cap."""
        if self.offline:
            return ""
        text = f"{self._bought} answers bought"
        if self.journal is not None:
            cap = self.settings.spend_cap_usd
            text += f", {self.journal.spent_usd:.4f} USD spent"
            text += "" if cap is None else f" of {cap:g}"
        return text

    def client_for(self, identity: str) -> RecordedModel:
        """Return a model for one trial (its trial id) or one set of variants."""
        return RecordedModel(self, identity)

    def close(self) -> None:
        """Let go of connections and files; merge the recordings of this run with the others."""
        self._sender.close()
        if self.journal is not None:
            self.journal.close()
        self.recordings.close()

    def largest_cost_usd(self, calls: int) -> float:
        """Return the most that so many requests can cost; NaN where no prices are declared.

        Every request is taken to be as large as it may be, and every answer as long. A spend cap
        that is lower is the bound. Attempts for which a provider charges although no answer
        arrives are in the cap and not in this number.
        """
        settings = self.settings
        each = settings.largest_cost(settings.max_request_bytes, settings.max_tokens)
        whole = calls * each
        cap = settings.spend_cap_usd
        return whole if cap is None or math.isnan(whole) else min(whole, cap)

    def answer(self, identity: str, turn: int, request: ModelRequest) -> ModelResponse:
        """Return the answer to one request of one trial.

        Raises
        ------
        NotRunError
            If there is no recording, and nobody may be asked or nobody answers.
        StopRunError
            If the run has to end.
        ArmError
            If the request is refused, or too large: the trial has failed.
        """
        settings = self.settings
        if (request.max_tokens or 0) > settings.max_tokens:
            raise StopRunError(
                f"a request asks for {request.max_tokens} tokens; max_tokens of [run.model] is "
                f"{settings.max_tokens}"
            )
        content = request.content(settings.model, settings.max_tokens, settings.options)
        size = len(request_text(content))
        if size > settings.max_request_bytes:
            raise RequestTooLargeError(
                f"the request has {size} bytes; max_request_bytes is {settings.max_request_bytes}"
            )
        key = recording_key(identity, turn, content)
        try:
            return self._recorded(key) or self._buy(key, identity, turn, content)
        except RequestRefusedError as refusal:
            # Raised here, live and replayed: the place of an error is part of a trial's tables.
            raise RequestRefusedError(str(refusal)) from None
        except (NotRunError, StopRunError):
            raise
        except (SteelyardError, OSError) as error:  # of files; no fault of the arm
            raise not_of_the_arm(error) from error

    def _recorded(self, key: str) -> ModelResponse | None:
        record = self.recordings.find(key)
        if record is None:
            return None
        response = None if "refused" in record else ModelResponse.from_record(record["response"])
        if self.journal is not None:
            cost = 0.0 if response is None else self.cost_usd(response)
            self.journal.settle_recorded(self._owner(key), cost)
        if response is None:
            raise RequestRefusedError(record["refused"])
        return response

    def _buy(self, key: str, identity: str, turn: int, content: Mapping[str, Any]) -> ModelResponse:
        if self.offline:
            raise NotRunError(self._lacking(identity, turn))
        with self.recordings.claim(key):
            response = self._recorded(key)  # another run may have bought it meanwhile
            if response is not None:
                return response
            self.recordings.prepare()
            keep = self._keeper(key, identity, turn)
            return self._sender.ask(content, key, self._owner(key), keep)

    def _keeper(self, key: str, identity: str, turn: int) -> Keep:
        def keep(result: ModelResponse | RequestRefusedError) -> None:
            named: dict[str, Any] = {"trial": identity, "turn": turn}
            if isinstance(result, ModelResponse):
                named["response"] = result.to_record()
            else:
                named["refused"] = str(result)
            self.recordings.record(key, named)
            with self._lock:
                self._bought += 1

        return keep

    def cost_usd(self, response: ModelResponse) -> float | None:
        """Return what an answer did cost; None where its price or its tokens are not known."""
        if self.price is None or response.usage is None:
            return None
        return self.price.cost(response.usage)

    def _owner(self, key: str) -> str:
        return f"{self.study}/{key[:32]}"

    def _journal(self, folder: Path) -> SpendJournal | None:
        settings = self.settings
        name = settings.journal
        if name is None and settings.spend_cap_usd is None:
            return None
        if name == "":
            raise InputError("journal is empty; accepted is the path of a file")
        longest = settings.timeout_seconds + settings.longest_wait_seconds
        return SpendJournal(folder / (name or JOURNAL), settings.spend_cap_usd, longest)

    def _lacking(self, identity: str, turn: int) -> str:
        """Say which recording there is none of, and why that may be."""
        with self._lock:
            if self._known is None:
                self._known = {
                    (record["trial"], record["turn"])
                    for record in map(self.recordings.find, self.recordings.keys())
                    if record is not None
                }
        text = f"there is no recording of turn {turn}"
        if (identity, turn) in self._known:
            text += "; there is one of another request: the arm, the model or its settings changed"
        damages = self.recordings.damages
        if damages:
            text += f"; {len(damages)} recordings are damaged, first {damages[0]}"
        return text


class RecordedModel:
    """A model as one trial sees it.

    Attributes
    ----------
    usage : Usage
        What was asked and answered so far, the same live and replayed.
    """

    def __init__(self, source: RecordedModels, identity: str) -> None:
        self._source = source
        self._identity = identity
        self._turn = 0
        self._lock = threading.Lock()
        self.usage = Usage()

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer a request; see `RecordedModels.answer`."""
        if not isinstance(request, ModelRequest):
            raise InputError(f"a model is asked by a ModelRequest, not by {request!r:.60}")
        with self._lock:
            turn, self._turn = self._turn, self._turn + 1
        response = self._source.answer(self._identity, turn, request)
        cost = self._source.cost_usd(response)
        tokens = response.usage
        with self._lock:
            usage = self.usage
            unknown = cost is None or usage.cost_usd is None
            self.usage = replace(
                usage,
                calls=usage.calls + 1,
                tokens_in=usage.tokens_in + (tokens.all_input if tokens else 0),
                tokens_out=usage.tokens_out + (tokens.output if tokens else 0),
                cost_usd=None if unknown else (usage.cost_usd or 0.0) + (cost or 0.0),
                model=response.model or self._source.settings.model,
            )
        return response


class OpenAICompatible(RecordedModels):
    """Models behind the chat-completions protocol: OpenAI's, and those of compatible servers.

    Parameters are those of `steelyard.harness.models.openai_chat.OpenAISettings`. It needs the
    extra ``openai``.
    """

    library = "openai"
    wire = openai_chat
    settings_type = openai_chat.OpenAISettings


class Anthropic(RecordedModels):
    """Models behind Anthropic's messages protocol.

    Parameters are those of `steelyard.harness.models.anthropic_messages.AnthropicSettings`. It
    needs the extra ``anthropic``.
    """

    library = "anthropic"
    wire = anthropic_messages
    settings_type = anthropic_messages.AnthropicSettings
