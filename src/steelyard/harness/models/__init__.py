"""Model clients: asked through the official libraries, recorded, replayed, and kept to a budget.

A ``study.toml`` names a client and, for the arms that ask it, the code that does::

    [run.model]
    entry = "steelyard.harness.models:Anthropic"

    [run.model.parameters]
    model = "claude-haiku-4-5"
    max_tokens = 1024
    spend_cap_usd = 5.0                # of all runs that name the same journal
    journal = "../spend.journal"
    prices = { claude-haiku-4-5 = { input = 1.0, output = 5.0 } }   # per million tokens

    [run.arms.free]
    entry = "steelyard.harness.models:ToolAgent"
    parameters = { turns = 12 }

    [run.arms.guarded]
    entry = "steelyard.harness.models:ToolAgent"
    parameters = { turns = 12, veto = "domains.procure_to_pay_arms:veto_payment" }

The key is read from the environment, here from ``ANTHROPIC_API_KEY``; it is never declared. See
`steelyard.harness.models.settings.ClientSettings` for all parameters. Answers are recorded in
``experiments/<study>/recordings/`` before a trial sees them: a run that was killed goes on without
buying any of them again, and ``steelyard replay`` works from them alone.
"""

from __future__ import annotations

from steelyard.harness.models.agents import (
    ModelAgent,
    ModelInterpreter,
    Paraphrase,
    ToolAgent,
    ask_model,
)
from steelyard.harness.models.request import (
    Message,
    ModelRequest,
    ModelResponse,
    TokenUsage,
    ToolCall,
)
from steelyard.harness.models.source import Anthropic, OpenAICompatible, RecordedModels

__all__ = [
    "Anthropic",
    "Message",
    "ModelAgent",
    "ModelInterpreter",
    "ModelRequest",
    "ModelResponse",
    "OpenAICompatible",
    "Paraphrase",
    "RecordedModels",
    "TokenUsage",
    "ToolAgent",
    "ToolCall",
    "ask_model",
]
