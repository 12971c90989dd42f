"""Model clients: asked through the official libraries, recorded, replayed, and kept to a budget.

A ``study.toml`` names a client and, for the arms that ask it, the code that does::

    [run.model]
    entry = "steelyard.harness.models:OpenAICompatible"

    [run.arms.free]
    entry = "steelyard.harness.models:ToolAgent"
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
