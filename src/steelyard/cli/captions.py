"""What stands below a readable table: the estimand, the missing policy, and who was counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from steelyard.analysis import Equivalence

POLICIES = {
    "exclude": "a trial without a score is left out",
    "fail": "a trial without a score counts as a failure",
    "bounds": "a trial without a score counts as a failure (worst case) and as a success (best)",
    "recorded": "every recorded value counts, also that of a trial that crashed",
}
_GROUPS = ("arm", "perturbation", "variant", "repeat")
_WHOM = {
    "assigned": "all trials assigned to the condition",
    "applied": "only trials in which the perturbation is known to have happened",
}


def rates(frame: pd.DataFrame) -> str:
    """Describe a table of rates."""
    return (
        f"{_estimand(frame)}\n{_denominators(frame)}\n"
        "Over trials: Wilson, each trial taken as independent. Over tasks: the task taken as what "
        "was sampled (effective sample size, t quantile)."
    )


def certificates(frame: pd.DataFrame) -> str:
    """Describe a table of certificates."""
    lines = [
        _estimand(frame),
        _denominators(frame),
        "Bound: smallest lower Wilson limit over the perturbations.",
        "As Plumbline prints: the limit of the lowest rate, not always the smallest limit.",
    ]
    limited = frame[frame["reason"] != ""]
    lines += [f"{row.arm}: {row.reason}." for row in limited.itertuples()]
    return "\n".join(lines)


def manipulation(frame: pd.DataFrame) -> str:
    """Describe a manipulation check."""
    assigned, recorded = int(frame["assigned"].sum()), int(frame["recorded"].sum())
    applied = int(frame["applied"].sum())
    return (
        f"Share of trials in which the perturbation happened: applied / recorded.\n"
        f"{assigned:,} assigned, {recorded:,} recorded, {applied:,} applied."
    )


def reliability(frame: pd.DataFrame) -> str:
    """Describe a reliability curve."""
    once = frame[frame["k"] == frame["k"].iloc[0]]
    return (
        f"{_estimand(frame)}\n{_denominators(once)}\n"
        "pass^k: all of k attempts at a task succeed. pass@k: at least one does. Each averaged "
        "over the tasks with k counted trials; interval of pass^k over tasks."
        f"{_too_far(frame)}"
    )


def _too_far(frame: pd.DataFrame) -> str:
    """Say from which k on no task has enough trials for an estimate."""
    beyond = frame[frame["tasks_used"] == 0]
    if beyond.empty:
        return ""
    return (
        f"\nNo estimate from k = {int(beyond['k'].min())} in some group: no task of it has as many "
        "counted trials."
    )


def comparison(frame: pd.DataFrame) -> str:
    """Describe a comparison of two arms."""
    lines = [
        _estimand(frame),
        f"{_pairs(frame)}; points: candidate minus reference.",
        _sides(frame),
        "p within tasks: exact, labels exchanged inside each task.",
        f"Adjusted: {frame['adjustment'].iloc[0]}, family of {_families(frame)}.",
        "Least margin, in points: the smallest at which the arms could be called equivalent.",
    ]
    stated = frame["margin"].dropna().unique()
    if len(stated) == 1:
        lines.append(f"Verdict for a margin of {100 * stated[0]:g} points.")
    elif len(stated) == 0:
        lines.append("No margin was stated, so no verdict can be 'equivalent' (--margin).")
    return "\n".join(lines)


def parity(result: Equivalence) -> str:
    """Describe how far a replacement does what the incumbent does."""
    counts = {
        "intended": result.intended,
        "compared": result.pairs,
        "without a counterpart": result.unpaired,
        "excluded": result.excluded,
    }
    bounds = [f"{100 * bound:.1f}%" for bound in (result.bound, result.clustered_bound)]
    lines = [
        f"{result.replacement} in the place of {result.incumbent}; "
        + POLICIES[result.missing_policy],
        f"Its trials: {', '.join(f'{count:,} {name}' for name, count in counts.items())}.",
        f"Lowest outcome limit {bounds[0]} ({result.worst_perturbation}), over tasks {bounds[1]}.",
        f"Target {100 * result.target:g}%: outcomes {result.verdict}, paths {result.path_verdict}.",
    ]
    if result.compatibility:
        lines.append(f"With the definitions of {result.compatibility}: {result.plumbline_verdict}.")
    return "\n".join(lines)


def consensus(frame: pd.DataFrame) -> str:
    """Describe how often trials leave the usual path of their task."""
    keys = [name for name in ("task", *_GROUPS) if name in frame]
    groups = frame.drop_duplicates(keys)
    intended, excluded = int(groups["intended"].sum()), int(groups["excluded"].sum())
    return (
        "Trials that skip a step of their task's most frequent path, do something else in its "
        "place, or something more after it.\n"
        f"Trials: {intended:,} intended, {intended - excluded:,} scored, {excluded:,} excluded. "
        "Within a task the variants are what was sampled."
    )


def attestation(frame: pd.DataFrame) -> str:
    """Describe tests of controls."""
    first = frame.iloc[0]
    excluded = int(first["excluded"])
    return (
        f"Deviations of the trials that test the control; {int(first['intended']):,} trials "
        f"intended, {excluded:,} excluded.\n"
        f"Upper limit: exact, one-sided, {100 * first['confidence']:g}%. Needed: trials without a "
        "deviation that would carry the tolerable rate; none can where no deviation is tolerable."
        + "".join(
            f"\n{row['control']}: {row['reason']}."
            for row in frame.to_dict("records")
            if row["reason"]
        )
    )


SIMILARITIES = {
    "levenshtein": "1 - edits / length of the longer path",
    "alignment_score": "alignment score / that of the longer path with itself",
}


def similarity(frame: pd.DataFrame) -> str:
    """Describe similarities in classes of pairs."""
    first = frame.iloc[0]
    return (
        f"Pairs of trials of one task; similarity = {SIMILARITIES[first['definition']]}. "
        f"Success: {first['measure']}.\n"
        f"Trials: {int(first['intended']):,} intended, {int(first['scored']):,} scored, "
        f"{int(first['excluded']):,} excluded. Whether classes differ within tasks: --test."
    )


def similarity_test(frame: pd.DataFrame) -> str:
    """Describe the test of similarity and outcome."""
    first = frame.iloc[0]
    return (
        f"Difference of mean similarities ({SIMILARITIES[first['definition']]}) within tasks, "
        f"averaged over tasks.\np: outcomes ({first['measure']}) exchanged within "
        f"{first['within']}; {_draws(frame)}. Adjusted: Holm, family of {_families(frame)}."
    )


def behaviour_shift(frame: pd.DataFrame) -> str:
    """Describe the test whether perturbations move behaviour."""
    first = frame.iloc[0]
    return (
        f"Similarity within conditions less similarity between them, against {first['reference']}; "
        "above 0 where behaviour moved.\n"
        f"p: conditions exchanged within tasks, one-sided; {_draws(frame)}. Adjusted: Holm over "
        f"the perturbations, family of {_families(frame)}."
    )


def first_divergence(frame: pd.DataFrame, by: Sequence[str]) -> str:
    """Describe failures by their first divergence."""
    groups = frame.drop_duplicates(list(by)) if by else frame.head(1)
    intended, excluded = int(groups["intended"].sum()), int(groups["excluded"].sum())
    return (
        "First step at which trials leave the path that the successful trials of their task took "
        "most often; none: they never do.\n"
        f"Trials: {intended:,} intended, {intended - excluded:,} scored, {excluded:,} excluded. "
        "Failed: failures among the trials with this first divergence."
    )


def _draws(frame: pd.DataFrame) -> str:
    """Say how the p-values of permutation tests were computed."""
    drawn = frame[frame["n_resamples"].notna()]
    if drawn.empty:
        return "exact"
    return f"{int(drawn['n_resamples'].iloc[0]):,} draws, seed {int(drawn['seed'].iloc[0])}"


def _estimand(frame: pd.DataFrame) -> str:
    measures = ", ".join(dict.fromkeys(frame["measure"]))
    first = frame.iloc[0]
    return (
        f"{measures}: {_WHOM[first['population']]}; {POLICIES[first['missing_policy']]} "
        f"(--missing {first['missing_policy']})."
    )


def _denominators(frame: pd.DataFrame) -> str:
    if "case" in frame:
        frame = frame[frame["case"] == frame["case"].iloc[0]]
    names = ["intended", "scored", "excluded"]
    if "imputed" in frame and frame["imputed"].any():
        names.insert(2, "imputed")
    return "Trials: " + ", ".join(f"{int(frame[name].sum()):,} {name}" for name in names) + "."


def _sides(frame: pd.DataFrame) -> str:
    """Count both sides; of several comparisons each by itself, since they may share arms."""
    frame = frame[frame["case"] == frame["case"].iloc[0]]
    pairs = frame.groupby(["reference", "candidate"], sort=False)
    if len(pairs) == 1:
        return f"Trials: {_counts(frame)}."
    lines = (f"{pair[0]}, {pair[1]}: {_counts(rows)}." for pair, rows in pairs)
    return "Trials of\n" + "\n".join(f"- {line}" for line in lines)


def _counts(frame: pd.DataFrame) -> str:
    sides = []
    for side in ("reference", "candidate"):
        counts = (
            f"{int(frame[f'{side}_{name}'].sum()):,} {name}"
            for name in ("intended", "scored", "excluded")
        )
        sides.append(f"{side} {', '.join(counts)}")
    return "; ".join(sides)


def _pairs(frame: pd.DataFrame) -> str:
    pairs = dict.fromkeys(zip(frame["reference"], frame["candidate"], strict=True))
    return "; ".join(f"reference {a}, candidate {b}" for a, b in pairs)


def _families(frame: pd.DataFrame) -> str:
    sizes = dict.fromkeys(int(size) for size in frame["family_size"])
    return ", ".join(map(str, sizes))
