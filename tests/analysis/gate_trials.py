"""Small studies of gates, made by hand: arm -> task -> one mapping of measures per repeat."""

from __future__ import annotations

from steelyard.store.connect import create
from steelyard.store.declaration import Declaration
from steelyard.store.rows import add_rows, add_study
from steelyard.store.tables import StudyTables

STUDY = "doors"


def study(trials, harmful=(), answers=None):
    """Return tables; a repeat that is None never ran, a measure that is None was not evaluated.

    ``answers`` gives the answer of each arm to each task; one that is not there is null.
    """
    declaration = Declaration.of(
        study={
            "id": STUDY,
            "title": "Doors",
            "question": "Which?",
            "origin": "run",
            "source": "here",
            "licence": "MIT",
        },
        data={"source": STUDY},
        design={"arms": list(trials), "perturbations": ["baseline"]},
        measures={"primary": "passed", "harmful": list(harmful)},
    )
    connection = create()
    add_study(connection, declaration)
    rows, values, states = [], [], []
    for arm, tasks in trials.items():
        for task, repeats in tasks.items():
            for repeat, measures in enumerate(repeats):
                key = {"arm": arm, "task": task, "perturbation": "baseline", "variant": "0"}
                status = "missing" if measures is None else "completed"
                rows.append({"study": STUDY, **key, "repeat": repeat, "status": status})
                trial_id = f"{arm}/{task}/baseline/0/{repeat}"
                values += [
                    {
                        "study": STUDY,
                        "trial_id": trial_id,
                        "measure": name,
                        "value": None if value is None else float(value),
                    }
                    for name, value in (measures or {}).items()
                ]
                answer = (answers or {}).get(arm, {}).get(task)
                states.append({"study": STUDY, "trial_id": trial_id, "state": {"answer": answer}})
    add_rows(connection, "trials", rows)
    add_rows(connection, "measures", values)
    add_rows(connection, "states", states)
    return StudyTables(connection, STUDY)


def row(frame, **where):
    for name, value in where.items():
        frame = frame[frame[name] == value]
    (found,) = frame.to_dict("records")
    return found


def gates(did=0, **values):
    """Return a trial's measures: it passed when every gate that was evaluated did."""
    passed = all(value != 0 for value in values.values())
    return {"passed": passed, "did": did, **values}
