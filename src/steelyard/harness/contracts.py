"""Trials of a run judged by JSON contracts, beside what their domain says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import StudyError
from steelyard.evaluators.contract import ContractError, Policy, load_json_file, validate_policy
from steelyard.evaluators.contract.judging import judge_output
from steelyard.harness.protocols import Domain
from steelyard.trials.model import Trial


class ContractedDomain:
    """A domain whose trials are judged by policies as well.

    Everything is the domain's own; `measures` adds one measure per policy and one per rule, from
    the last step of kind ``final``.

    Parameters
    ----------
    domain : Domain
    policies : sequence of Policy
    """

    def __init__(self, domain: Domain, policies: Sequence[Policy]) -> None:
        self._domain = domain
        self._policies = policies

    def __getattr__(self, name: str) -> Any:
        return getattr(self._domain, name)

    def measures(
        self, trial: Trial, state: Mapping[str, Any], truth: Mapping[str, Any]
    ) -> Mapping[str, float | None]:
        """Return the domain's measures and those of the contracts."""
        found = dict(self._domain.measures(trial, state, truth))
        finals = [step.output for step in trial.steps if step.kind == "final"]
        for policy in self._policies:
            found |= judge_output(policy, finals[-1] if finals else None)
        return found


def read_policies(files: Sequence[str], folder: Path, where: str) -> list[Policy]:
    """Read the policies that a study judges its trials by.

    Parameters
    ----------
    files : sequence of str
        Paths below the experiment's folder.
    folder : pathlib.Path
        ``experiments/<study>``.
    where : str
        File, line and field, for messages.

    Raises
    ------
    StudyError
        For a file outside the folder, one that is no valid policy, or two of one id.
    """
    policies: list[Policy] = []
    for name in files:
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise StudyError(f"{where}: {name!r} is not in the experiment's folder")
        try:
            policy = validate_policy(load_json_file(str(path)))
        except ContractError as error:
            raise StudyError(f"{where}: {name}: {error}") from None
        if policy.policy_id in {known.policy_id for known in policies}:
            raise StudyError(f"{where}: two policies have the id {policy.policy_id!r}")
        policies.append(policy)
    return policies
