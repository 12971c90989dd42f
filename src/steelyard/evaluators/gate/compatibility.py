"""Where the gate differs from the published one, PrismThinker 1.2.0, and how to switch it back.

Every row is a weakness of the published gate. The default is the repair; a flag of
`Compatibility` restores the published behaviour, and `PUBLISHED` sets them all. Bounds on time
and memory hold in both: a hostile expression, a deep predicate or a huge context is an error.

========================  =======================================  ==============================
flag                      published                                default
========================  =======================================  ==============================
arithmetic_executes       a query such as ``1`` approves any       arithmetic answers; an action
                          action, and no evaluator is heard        is judged as any other
statement_becomes_query   an untrusted statement replaces the      the query stays the host's
                          host's query
vacuous_approval          formal approves on nothing, empirical    both abstain
                          when an argument equals a fact
default_allow             without any rule an action executes;     EXECUTE needs a trusted
                          a permission authorises nothing          permission that holds; else
                                                                   ESCALATE
payload_unchecked         arguments are never compared with the    an argument that differs from
                          facts; the proposer chooses kind and     the fact of its name needs
                          causal question                          review; kind and causal
                                                                   question are the host's
nonfinite_facts           NaN passes every limit and prohibition;  NaN and infinities are refused
                          ``1e400`` is an answer
units_ignored             units are stored and never read          a fact in another unit than
                                                                   its specification is unknown
any_conflict_counts       any two contradicting items force        both sides must be trusted and
                          review and soften a proven block         about something that is used;
                                                                   only named keys soften a block
order_dependent_unknowns  ``missing or true`` is unknown,          Kleene's logic: both are true
                          ``true or missing`` is true
literals_only             a comparison's right side is a literal,  it may be a path as well; digits
                          of any script's digits                   are 0 to 9
wall_clock                ages of evidence read the clock          ages need an injected time
unbound_tools             EXECUTE returns the caller's whole list  the action's name must be in
                                                                   the list, and only it returns
lenient_schemas           unknown fields, repeated ids, empty      all refused; authority must be
                          ranges and objectives pass; a rule is    stated
                          trusted unless it says otherwise
unproven_recovery         a probe resolves when disagreement ends  it resolves when the changed
                                                                   facts would be approved
type_error_hides_veto     a wrongly typed fact turns a matched     the veto stands
                          hard veto into a review
keys_from_text            keys to gather are read out of           they come from structured lists
                          sentences
distance_of_agreement     evaluators that agree are in conflict    only contradictions count
                          for resting on different things          between those that agree
pooled_variation          values of different metrics share one    each metric has its own; the
                          coefficient of variation                 largest counts
substring_lexemes         ``disallowed`` counts as ``allow``; a    whole words; one word is no
                          one-word query is mathematics            mathematics
lossy_documents           documents replace the host's evidence;   they join it; trust is a finite
                          a trust of NaN or ``true`` is full, one  number, else the score, else half
                          without a score or trust is not trusted
========================  =======================================  ==============================

What a load-dependent time limit does to a published decision has no flag: time limits exist only
with ``isolation="threads"`` and ``"processes"``, and there in both behaviours.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Compatibility:
    """Which published behaviours are kept; see the table of this module.

    Every parameter is False by default, and True restores the published behaviour.
    """

    arithmetic_executes: bool = False
    statement_becomes_query: bool = False
    vacuous_approval: bool = False
    default_allow: bool = False
    payload_unchecked: bool = False
    nonfinite_facts: bool = False
    units_ignored: bool = False
    any_conflict_counts: bool = False
    order_dependent_unknowns: bool = False
    literals_only: bool = False
    wall_clock: bool = False
    unbound_tools: bool = False
    lenient_schemas: bool = False
    unproven_recovery: bool = False
    type_error_hides_veto: bool = False
    keys_from_text: bool = False
    distance_of_agreement: bool = False
    pooled_variation: bool = False
    substring_lexemes: bool = False
    lossy_documents: bool = False


DEFAULT = Compatibility()
"""Every repair."""

PUBLISHED = Compatibility(**{flag.name: True for flag in fields(Compatibility)})
"""The published gate."""
