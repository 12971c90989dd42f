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
from vectors.declared_values import bytes_of, object_of

LOCATION = ("policy_id", "rule_id", "rule_index")


def loaded(case: Mapping[str, Any], name: str) -> Any:
    """Return a document of the case, through the loader unless it is handed over in memory."""
    if f"{name}_text" in case:
        return contract.load_json(bytes_of(case[f"{name}_text"]))
    return object_of(case[name])


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
    content = bytes_of(case if "hex" in case else case["text"])
    return canonical_forms(contract.canonical_text(contract.load_json(content)))


@with_outcome
def canonical_equal(case: dict) -> dict[str, Any]:
    left, right = (contract.load_json(bytes_of(case[f"{side}_text"])) for side in ("left", "right"))
    return {"equal": contract.canonical_equal(left, right)}


@with_outcome
def canonical_json(case: dict) -> dict[str, Any]:
    value = contract.load_json(bytes_of(case["text"]))
    text = contract.canonical_text(value)
    return {**canonical_forms(text), "sha256": contract.fingerprint(value)}


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
    declared = case.get("evaluator")
    evaluator = None if declared is None else DeclaredEvaluator(declared)
    return {"report": contract.check_order(policy, response, evaluator)}


def command_line(case: dict) -> dict[str, Any]:
    """Run the program in a folder of the case's files; its verbs have shorter names with us."""
    arguments = [VERBS.get(word, word) for word in case["argv"][:1]] + case["argv"][1:]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in case.get("files", {}).items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(bytes_of(text))
        given = bytes_of(case.get("stdin_text", ""))
        outcome = CliRunner().invoke(app, ["contract", *arguments], input=given)
        # Files have the names that the arguments give them, however these are spelt.
        named = [word.partition("=")[2] if word.startswith("--") else word for word in arguments]
        files = {name: content(name) for name in (*named, *map(str, Path().rglob("*")))}
    found = AtLeast(exit=outcome.exit_code, stderr_text=outcome.stderr)
    found |= {"stdout_text": outcome.stdout, "stdout_kind": kind_of_text(arguments, outcome.stdout)}
    found["files_after"] = AtLeast(files)
    if outcome.stdout.startswith("{"):
        found["stdout_json"] = json.loads(outcome.stdout)
    if outcome.stderr.startswith("{"):
        found["stderr_error"] = json.loads(outcome.stderr)["error"]
        del found["stderr_error"]["message"]
    return found


def content(name: str) -> str | None:
    """Return what a file holds; None if there is no such file."""
    path = Path(name)
    return path.read_bytes().decode(errors="backslashreplace") if path.is_file() else None


def kind_of_text(arguments: list[str], text: str) -> str:
    """Return what the vectors call a text that is no JSON: help names the verb's own option."""
    option = OPTIONS.get(arguments[0] if arguments else "", "")
    if text and all(verb in text for verb in VERBS.values()):
        return "plain_text_nonempty_mentioning_every_command"
    if text and option and option in text:
        return f"plain_text_nonempty_mentioning_{option}"
    return "plain_text_nonempty" if text.strip() else "empty"


VERBS = {
    "validate-policy": "validate",
    "evaluate": "evaluate",
    "check-order": "check-order",
    "generate-synthetic": "synthesize",
    "playground": "playground",
}

OPTIONS = {
    "evaluate": "--strict-exit",
    "check-order": "--strict-exit",
    "synthesize": "--output",
    "playground": "--smoke-test",
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
