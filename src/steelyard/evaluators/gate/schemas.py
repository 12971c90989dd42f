"""What a host tells the gate: facts, rules, constraints, claims, causal graph, objective, action.

Field names and defaults are those of PrismThinker's schemas. The context as a whole is in
`context`; evidence is in `evidence`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from steelyard.evaluators.gate.enums import ActionKind, FactType, Modality, Severity
from steelyard.evaluators.gate.limits import (
    MAX_KEYS,
    MAX_RULES,
    MAX_TERMS,
    check_plain,
    check_text,
)
from steelyard.evaluators.gate.record import Number, Plain, Record, Text, compatibility_of

Authority = Literal["trusted", "unknown"]
Identifier = Annotated[str, Field(min_length=1), AfterValidator(check_text)]
Keys = Annotated[list[Text], Field(max_length=MAX_KEYS)]


class ConstraintSpec(Record):
    """A condition that must hold whatever the policies say.

    Parameters
    ----------
    id, predicate : str
        Name, and condition in the predicate language.
    text : str, optional
        For people.
    """

    id: Text
    predicate: Text
    text: Text = ""


class FactSpec(Record):
    """What a fact must look like.

    Parameters
    ----------
    key : str
        Name of the fact.
    fact_type : FactType
        Its type.
    required : bool, default False
        Whether a decision needs it.
    mutable : bool, default False
        Whether a counterfactual probe may vary it.
    minimum, maximum, step : float, optional
        Range and grid.
    enum_values : list of str
        The values of an ``enum``.
    unit : str, optional
        The unit in which range and rules are written; a fact in another unit is not accepted.
    description : str
        For people.
    """

    key: Text
    fact_type: FactType
    required: bool = False
    mutable: bool = False
    minimum: Number | None = None
    maximum: Number | None = None
    step: Number | None = None
    enum_values: list[Text] = Field(default_factory=list, max_length=MAX_KEYS)
    unit: Text | None = None
    description: Text = ""

    @model_validator(mode="after")
    def _range_is_not_empty(self, info: ValidationInfo) -> FactSpec:
        if compatibility_of(info).lenient_schemas:
            return self
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise PydanticCustomError("value_error", "minimum lies above maximum")
        if self.step is not None and self.step <= 0:
            raise PydanticCustomError("value_error", "step must be above 0")
        return self


class FactValue(Record):
    """A fact that the host vouches for.

    Parameters
    ----------
    key : str
        Its name.
    value : JSON value
        Finite when it is a number.
    unit : str, optional
        Unit of the value.
    observed_at : datetime, optional
        When it was observed.
    """

    key: Text
    value: Plain
    unit: Text | None = None
    observed_at: datetime | None = None


class CandidateAction(Record):
    """What is proposed to be done.

    Parameters
    ----------
    id, name : str
        Its id, and the name of the tool or change.
    kind : ActionKind
        Everything but an assertion acts.
    payload : dict
        Its arguments.
    description : str
        For people.
    """

    id: Text
    kind: ActionKind
    name: Text
    payload: dict[Text, Any] = Field(default_factory=dict)
    description: Text = ""

    @model_validator(mode="after")
    def _payload_is_plain(self, info: ValidationInfo) -> CandidateAction:
        if self.payload:
            check_plain(self.payload, finite=not compatibility_of(info).nonfinite_facts)
        return self


class Hypothesis(Record):
    """The statement under test, with the action it would justify."""

    id: Text
    statement: Text
    action: CandidateAction | None = None


class PolicyRule(Record):
    """An obligation, a prohibition or a permission.

    Parameters
    ----------
    id : str
        Its name.
    modality, severity : Modality, Severity
        What it does, and what breaking it costs.
    predicate : str
        When a prohibition or permission matches, or what an obligation demands.
    authority : {"unknown", "trusted"}
        Whether the host stands behind it. Only a trusted rule decides anything.
    action_name : str, optional
        The one action that it is about; every action when absent.
    applies_when : str, optional
        A predicate without which it does not apply.
    conflict_group : str, optional
        Rules of one group that contradict each other are an open question of authority.
    jurisdiction, text : str, optional
        For people.
    """

    published_defaults: ClassVar[dict[str, Any]] = {"authority": "trusted"}

    id: Text
    modality: Modality
    predicate: Text
    severity: Severity
    jurisdiction: Text | None = None
    text: Text = ""
    authority: Authority = "unknown"
    action_name: Text | None = None
    applies_when: Text | None = None
    conflict_group: Text | None = None


class AlignedClaim(Record):
    """A claim that can be compared with others about the same thing.

    Claims of one kind with equal subject, proposition and time scope must have equal values.
    """

    model_config = ConfigDict(strict=True, allow_inf_nan=False)
    always_strict: ClassVar[bool] = True

    id: Identifier
    subject: Identifier
    proposition: Identifier
    time_scope: Identifier
    source: Identifier
    value: str | bool | int | float
    kind: Literal["evidence", "authority"] = "evidence"
    authority: Authority = "unknown"
    status: Literal["active", "superseded", "unknown"] = "active"
    action_name: Text | None = None
    citations: Keys = Field(default_factory=list)
    fact_keys: Keys = Field(default_factory=list)

    published_defaults: ClassVar[dict[str, Any]] = {"authority": "trusted"}

    @model_validator(mode="after")
    def _value_is_plain(self) -> AlignedClaim:
        check_plain(self.value, finite=True)
        return self


class CausalEdge(Record):
    """An arrow of a causal graph with the sign of its effect; None is an unknown sign."""

    source: Text
    target: Text
    signed: Literal[-1, 0, 1] | None = None
    edge_id: Text


class CausalGraph(Record):
    """Nodes and signed edges."""

    nodes: Annotated[list[Text], Field(max_length=MAX_RULES)]
    edges: Annotated[list[CausalEdge], Field(max_length=MAX_RULES)]

    @model_validator(mode="after")
    def _edges_join_nodes(self, info: ValidationInfo) -> CausalGraph:
        if compatibility_of(info).lenient_schemas:
            return self
        nodes = set(self.nodes)
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in nodes:
                    raise PydanticCustomError(
                        "value_error", f"edge {edge.edge_id!r} ends at {end!r}, which is no node"
                    )
        return self


class ObjectiveTerm(Record):
    """One thing to minimise, maximise or hit.

    Parameters
    ----------
    fact_key : str
        The fact that is measured.
    weight : float
        Its weight.
    direction : {"minimize", "maximize", "hit"}
        What is better.
    target : float, optional
        Limit or aim.
    sla_breach_is_reject : bool, default False
        Whether missing the target forbids the action.
    """

    fact_key: Text
    weight: Number
    direction: Literal["minimize", "maximize", "hit"]
    target: Number | None = None
    sla_breach_is_reject: bool = False


class ObjectiveSpec(Record):
    """A weighted objective with the utilities below which it cautions and rejects."""

    id: Text
    terms: Annotated[list[ObjectiveTerm], Field(max_length=MAX_TERMS)]
    reject_below: Number | None = None
    caution_below: Number | None = None

    @model_validator(mode="after")
    def _has_terms(self, info: ValidationInfo) -> ObjectiveSpec:
        if not self.terms and not compatibility_of(info).lenient_schemas:
            raise PydanticCustomError("value_error", "an objective needs at least one term")
        return self
