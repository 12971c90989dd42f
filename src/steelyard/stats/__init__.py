"""Pure numerics for agent trials: arrays in, arrays or frozen dataclasses out.

Nothing here reads a file or knows a table. Importing this package is cheap; scipy's special
functions load at their first use.
"""

from steelyard.stats.clustered import (
    ClusteredInterval,
    MeanInterval,
    clustered_mean_interval,
    clustered_wilson_interval,
)
from steelyard.stats.clusters import (
    ClusteredMean,
    ClusterSummary,
    cluster_summary,
    clustered_standard_error,
    design_effect,
    effective_sample_size,
    intraclass_correlation,
)
from steelyard.stats.differences import (
    ClusteredDifference,
    DifferenceInterval,
    TaskDifferences,
    clustered_difference,
    miettinen_nurminen_interval,
    newcombe_interval,
    task_differences,
)
from steelyard.stats.intervals import (
    Interval,
    IntervalArray,
    clopper_pearson_interval,
    jeffreys_interval,
    wilson_interval,
)
from steelyard.stats.multiplicity import benjamini_hochberg, family_size, holm
from steelyard.stats.partition import Partition, partition
from steelyard.stats.permutation import PermutationTest, exact_permutation
from steelyard.stats.reliability import (
    Reliability,
    pass_at_k,
    pass_at_k_per_task,
    pass_hat_k,
    pass_hat_k_per_task,
)
from steelyard.stats.results import Result
from steelyard.stats.sign_flip import SignFlipTest, sign_flip
from steelyard.stats.stratified import StratifiedTest, stratified_permutation

__all__ = [
    "ClusterSummary",
    "ClusteredDifference",
    "ClusteredInterval",
    "ClusteredMean",
    "DifferenceInterval",
    "Interval",
    "IntervalArray",
    "MeanInterval",
    "Partition",
    "PermutationTest",
    "Reliability",
    "Result",
    "SignFlipTest",
    "StratifiedTest",
    "TaskDifferences",
    "benjamini_hochberg",
    "clopper_pearson_interval",
    "cluster_summary",
    "clustered_difference",
    "clustered_mean_interval",
    "clustered_standard_error",
    "clustered_wilson_interval",
    "design_effect",
    "effective_sample_size",
    "exact_permutation",
    "family_size",
    "holm",
    "intraclass_correlation",
    "jeffreys_interval",
    "miettinen_nurminen_interval",
    "newcombe_interval",
    "partition",
    "pass_at_k",
    "pass_at_k_per_task",
    "pass_hat_k",
    "pass_hat_k_per_task",
    "sign_flip",
    "stratified_permutation",
    "task_differences",
    "wilson_interval",
]
