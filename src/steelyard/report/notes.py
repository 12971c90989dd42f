"""What stands below a printed table, for readers who meet its words for the first time."""

from __future__ import annotations

from steelyard.analysis.certificate import GRADES

POLICIES = (
    "A trial without a score is left out (exclude), counts as a failure (fail), or as a failure in "
    "the worst case and a success in the best (bounds); recorded takes whatever value the table "
    "holds, also that of a trial that crashed. n = scored + counted without a score."
)

DIFFERENCES = (
    "Candidate minus reference. Trials as independent: Newcombe; for the very trials that were "
    "run. Tasks as the unit: over the differences of the tasks; for other tasks like these. Where "
    "every task shows the same difference, the spread between tasks is unseen and the interval "
    "rests on the number of tasks alone, which a handful of tasks leaves wide."
)

TESTS = (
    "p, tasks ignored: exact, labels exchanged among all trials. p, within tasks: exact, labels "
    "exchanged inside each task; it asks whether the arms differ on these tasks. p, sign flip over "
    "tasks, asks about other tasks like these, with one difference a task. Verdict, for other "
    "tasks like these: equivalent, where the 90% intervals over tasks and over trials (two "
    "one-sided tests) both lie within the margin; different, where the 95% interval over tasks "
    "leaves out 0; else inconclusive. So arms may differ on these tasks while the verdict is "
    "inconclusive. Smallest margin: the least with "
    "which the verdict would be equivalent."
)

READINGS = (
    "The verdict is for other tasks like these, from the interval with tasks as the unit; p is "
    "about these tasks."
)

CERTIFICATES = (
    "Bound: the smallest lower limit over the perturbations, so what can be promised under the "
    "worst of them. Grades, as the source gives them: "
    + ", ".join(f"{letter} from {lowest:.0%}" for lowest, letter in GRADES)
    + ", below that F."
)
