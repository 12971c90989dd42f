"""Adapters of the contract room to CAT's vectors (release 0.6.0)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.evaluators import contract
from vectors.compare import AtLeast
from vectors.declared_evaluators import DeclaredEvaluator

LOCATION = ("policy_id", "rule_id", "rule_index")
SINGLE = {
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": float("-inf"),
    "bytes": b"x",
    "set": {1},
    "object": object(),
    "lone_surrogate": "\ud800",
    "negative_zero": -0.0,
}


def text_of(value: Any) -> str:
    """Return a text of the vectors, which may be declared in parts."""
    if isinstance(value, str):
        return value
    if "repeat" in value:
        return value["repeat"] * value["times"]
    return "".join(map(text_of, value["concat"]))


def object_of(value: Any) -> Any:
    """Return an in-memory value, in which tags stand for what JSON cannot hold."""
    if isinstance(value, list):
        return [object_of(member) for member in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and next(iter(value)) in TAGS:
        ((tag, declared),) = value.items()
        return TAGS[tag](declared)
    return {name: object_of(member) for name, member in value.items()}


def nested(declared: Mapping[str, Any]) -> Any:
    value = object_of(declared["leaf"])
    for _ in range(declared["times"]):
        value = [value] if declared["kind"] == "array" else {"k": value}
    return value


TAGS: dict[str, Callable[[Any], Any]] = {
    "$py": SINGLE.__getitem__,
    "$tuple": lambda members: tuple(map(object_of, members)),
    "$intkey": lambda value: {1: object_of(value)},
    "$nest": nested,
    "$fill": lambda declared: [object_of(declared["item"])] * declared["times"],
    "$long": lambda declared: declared["repeat"] * declared["times"],
}


def loaded(case: Mapping[str, Any], name: str) -> Any:
    """Return a document of the case, through the loader unless it is handed over in memory."""
    if case.get("via") == "object":
        return object_of(case[name])
    return contract.load_json(text_of(case[f"{name}_text"]).encode())


def with_outcome(function: Callable[[dict], Any]) -> Callable[[dict], Any]:
    """Write the outcome as the vectors do: ``ok`` beside the result, or all fields of the error."""

    def adapter(case: dict) -> Any:
        try:
            return AtLeast({"ok": True, **function(case)})
        except contract.ContractError as error:
            place = {name: getattr(error, name) for name in LOCATION}
            known = {name: value for name, value in place.items() if value is not None}
            return {"ok": False, "code": error.code, **known}

    return adapter


def canonical_forms(text: str) -> dict[str, Any]:
    content = text.encode()
    return {
        "canonical": text,
        "canonical_bytes": len(content),
        "canonical_sha256": hashlib.sha256(content).hexdigest(),
    }


@with_outcome
def load_json(case: dict) -> dict[str, Any]:
    content = bytes.fromhex(case["hex"]) if "hex" in case else text_of(case["text"]).encode()
    return canonical_forms(contract.canonical_text(contract.load_json(content)))


def canonical_equal(case: dict) -> dict[str, Any]:
    left, right = (contract.load_json(text_of(case[f"{side}_text"])) for side in ("left", "right"))
    return {"equal": contract.canonical_equal(left, right)}


def canonical_json(case: dict) -> dict[str, Any]:
    value = contract.load_json(text_of(case["text"]))
    return {"canonical": contract.canonical_text(value), "sha256": contract.fingerprint(value)}


@with_outcome
def validate_policy(case: dict) -> dict[str, Any]:
    policy = contract.validate_policy(loaded(case, "policy"))
    return {
        "policy_id": policy.policy_id,
        "schema_version": policy.document()["schema_version"],
        "rule_ids": policy.rule_ids,
        "rule_count": len(policy.rules),
    }


@with_outcome
def evaluate(case: dict) -> dict[str, Any]:
    policy, response = loaded(case, "policy"), loaded(case, "response")
    return {"result": contract.evaluate(policy, response)}


@with_outcome
def generate_synthetic(case: dict) -> dict[str, Any]:
    policy = loaded(case, "policy")
    bundle = contract.generate_synthetic(policy)
    rows = bundle["failing_case"]["evaluation"]["rule_results"]
    return {
        "policy_id": bundle["policy_id"],
        "passing_response_canonical": contract.canonical_text(bundle["passing_case"]["response"]),
        "failing_response_canonical": contract.canonical_text(bundle["failing_case"]["response"]),
        "failing_rule_ids": [row["rule_id"] for row in rows if not row["passed"]],
        "properties": [name for name, holds in PROPERTIES.items() if holds(policy, bundle)],
    }


PROPERTIES: dict[str, Callable[[Any, dict], bool]] = {
    "passing_response_passes_every_rule": lambda _policy, bundle: all(
        row["passed"] for row in bundle["passing_case"]["evaluation"]["rule_results"]
    ),
    "failing_response_fails_overall": lambda _policy, bundle: (
        not bundle["failing_case"]["evaluation"]["passed"]
    ),
    "first_declared_rule_fails_with_FIELD_MISSING": lambda _policy, bundle: (
        bundle["failing_case"]["evaluation"]["rule_results"][0]["reason_code"] == "FIELD_MISSING"
    ),
    "identical_on_every_run": lambda policy, bundle: contract.generate_synthetic(policy) == bundle,
    "bundle_evaluations_equal_fresh_evaluation": lambda policy, bundle: all(
        contract.evaluate(policy, bundle[name]["response"]) == bundle[name]["evaluation"]
        for name in ("passing_case", "failing_case")
    ),
}


def synthetic(case: dict) -> dict[str, Any]:
    found = generate_synthetic(case)
    if not found["ok"]:
        again = generate_synthetic(case)
        found["properties"] = ["refuses_without_partial_output"]
        found["properties"] += ["same_error_on_every_run"] if again.items() <= found.items() else []
    return found


@with_outcome
def check_order(case: dict) -> dict[str, Any]:
    policy, response = loaded(case, "policy"), loaded(case, "response")
    declared = case["evaluator"]
    evaluator = None if declared is None else DeclaredEvaluator(declared)
    return {"report": contract.check_order(policy, response, evaluator)}


def command_line(case: dict) -> dict[str, Any]:
    """Run the program in a folder of the case's files; its verbs have shorter names with us."""
    arguments = [VERBS.get(word, word) for word in case["argv"][:1]] + case["argv"][1:]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in case.get("files", {}).items():
            Path(name).write_text(text_of(text), encoding="utf-8", newline="")
        given = text_of(case.get("stdin_text", "")).encode()
        outcome = CliRunner().invoke(app, ["contract", *arguments], input=given)
        files = {str(path): path.read_text("utf-8") for path in Path().rglob("*") if path.is_file()}
    found = AtLeast(exit=outcome.exit_code, stderr_text=outcome.stderr)
    found |= {"stdout_text": outcome.stdout, "stdout_kind": kind_of_help(outcome.stdout)}
    found["files_after"] = AtLeast(dict.fromkeys(arguments) | files)
    if outcome.stdout.startswith("{"):
        found["stdout_json"] = json.loads(outcome.stdout)
    if outcome.stderr.startswith("{"):
        found["stderr_error"] = json.loads(outcome.stderr)["error"]
        del found["stderr_error"]["message"]
    return found


def kind_of_help(text: str) -> str:
    if all(verb in text for verb in VERBS.values()):
        return "plain_text_nonempty_mentioning_every_command"
    return f"plain_text_nonempty_mentioning_{'--strict-exit' if '--strict-exit' in text else ''}"


VERBS = {
    "validate-policy": "validate",
    "evaluate": "evaluate",
    "check-order": "check-order",
    "generate-synthetic": "synthesize",
    "playground": "playground",
}

ADAPTERS: dict[tuple[str, str], Callable[[dict], Any]] = {
    ("cat", "load_json"): load_json,
    ("cat", "canonical_equal"): canonical_equal,
    ("cat", "canonical_json"): canonical_json,
    ("cat", "validate_policy"): validate_policy,
    ("cat", "evaluate"): evaluate,
    ("cat", "generate_synthetic"): synthetic,
    ("cat", "check_order"): check_order,
    ("cat", "cli"): command_line,
}
