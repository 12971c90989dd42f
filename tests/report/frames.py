"""Small frames with the columns that the analysis room documents; every number is made up."""

import numpy as np
import pandas as pd


def rates_frame():
    rows = []
    for perturbation in ("baseline", "tool_fault"):
        for arm, (passed, total) in {"plan_execute": (52, 64), "react": (55, 56)}.items():
            rows.append(
                {
                    "perturbation": perturbation,
                    "arm": arm,
                    "successes": passed,
                    "total": total,
                    "estimate": passed / total,
                    "low": 0.7,
                    "high": 0.95,
                    "clustered_low": 0.4,
                    "clustered_high": 0.97,
                }
            )
    return pd.DataFrame(rows)


def manipulation_frame():
    return pd.DataFrame(
        {
            "arm": ["plan_execute", "react", "plan_execute", "react"],
            "perturbation": ["distractor", "distractor", "tool_fault", "tool_fault"],
            "assigned": [64, 64, 64, 64],
            "recorded": [0, 0, 64, 56],
            "applied": [0, 0, 64, 0],
            "rate": [np.nan, np.nan, 1.0, 0.0],
        }
    )


def difference_frame():
    return pd.DataFrame(
        {
            "head": ["react, plan_execute", "react, plan_execute", "plan, react"],
            "stratum": ["baseline", "tool_fault", "tool_fault"],
            "reference_successes": [64, 52, 0],
            "reference_total": [64, 64, 0],
            "candidate_successes": [56, 55, 0],
            "candidate_total": [56, 56, 0],
            "difference": [0.0, 0.17, np.nan],
            "newcombe_low": [-0.06, 0.06, -1.0],
            "newcombe_high": [0.06, 0.28, 1.0],
            "clustered_difference": [0.0, 0.17, np.nan],
            "clustered_low": [-1.0, -0.1, np.nan],
            "clustered_high": [1.0, 0.4, np.nan],
            "margin": [0.05, 0.05, np.nan],
            "verdict": ["inconclusive", "different", "inconclusive"],
        }
    )


def reliability_frame(arms=1):
    return pd.DataFrame(
        [
            {
                "arm": f"agent {arm}",
                "k": k,
                "pass_hat_k": rate * (1 - arm * 0.02),
                "low": rate - 0.1 if k < 4 else np.nan,
                "high": rate + 0.1 if k < 4 else np.nan,
                "tasks_used": 50 if k < 4 else 1,
            }
            for arm in range(arms)
            for k, rate in zip((1, 2, 3, 4), (0.42, 0.27, 0.22, 0.2), strict=True)
        ]
    )


def spread_frame():
    return pd.DataFrame(
        {
            "group": ["low", "high"],
            "scored": [66, 45],
            "estimate": [0.62, 0.33],
            "standard_error_over_repeats": [0.0152, 0.0],
            "standard_error_over_tasks": [0.0988, np.nan],
        }
    )
