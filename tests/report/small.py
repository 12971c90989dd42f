"""Two small studies that use everything a report can show; every number is made up."""

import random

COMPARISONS = [
    {
        "name": "b against a",
        "measure": "success",
        "reference": "a",
        "candidate": "b",
        "margin": 0.05,
    },
    {
        "name": "b against the earlier a",
        "measure": "success",
        "reference": "earlier:a",
        "candidate": "b",
        "perturbations": ["fault"],
        "margin": 0.05,
    },
]
CLAIMS = [
    {"claim": "c1", "successes": 5, "total": 6, "value": 0.8333},
    {"claim": "c2", "value": 0.5},
]


def trials(applied=True, seed=None):
    """Two arms, three tasks, a baseline and a fault, two repeats; one trial failed."""
    rows = []
    for arm in ("a", "b"):
        for task in ("t1", "t2", "t3"):
            for perturbation in ("baseline", "fault"):
                for repeat in (0, 1):
                    row = {
                        "arm": arm,
                        "task": task,
                        "perturbation": perturbation,
                        "repeat": repeat,
                        "success": int(not (perturbation == "fault" and task == "t1")),
                        "steps_taken": 3 + repeat,
                    }
                    if perturbation == "fault" and applied:
                        row["perturbation_applied"] = arm == "a" and repeat == 0
                    rows.append(row)
    del rows[-1]["success"], rows[-1]["steps_taken"]
    rows[-1] |= {"status": "failed", "error": "crashed"}
    if seed is not None:
        random.Random(seed).shuffle(rows)  # noqa: S311 - the order, nothing secret
    return rows


def pair(small_study, seed=None):
    """Return the later study, which compares itself with an earlier one beside it."""
    design = {"arms": ["a", "b"], "perturbations": ["baseline", "fault"]}
    order = {"primary": "success", "others": ["steps_taken"]}
    earlier = small_study(trials(seed=seed), study="earlier", design=design, measures=order)
    return small_study(
        trials(applied=False, seed=seed),
        study="later",
        beside=earlier,
        design=design,
        measures=order,
        comparisons=COMPARISONS,
        claims=CLAIMS if seed is None else CLAIMS[::-1],
    )


def single(small_study, seed=None):
    """Return a study of one condition in two splits, two repeats per task."""
    rows = [
        {
            "arm": "solo",
            "task": f"t{task}",
            "variant": "easy" if task < 3 else "hard",
            "repeat": repeat,
            "success": int((task + repeat) % 3 > 0),
        }
        for task in range(6)
        for repeat in range(2)
    ]
    if seed is not None:
        random.Random(seed).shuffle(rows)  # noqa: S311
    return small_study(rows, study="solo", design={"arms": ["solo"], "variant_meaning": "split"})
