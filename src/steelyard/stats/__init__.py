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
from steelyard.stats.clustered_differences import (
    ClusteredDifference,
    TaskDifferences,
    clustered_difference,
    task_differences,
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
    DifferenceInterval,
    miettinen_nurminen_interval,
    newcombe_interval,
)
from steelyard.stats.equivalence import (
    EquivalenceTest,
    clustered_two_one_sided_tests,
    two_one_sided_tests,
)
from steelyard.stats.intervals import (
    Interval,
    IntervalArray,
    clopper_pearson_interval,
    jeffreys_interval,
    wilson_interval,
)
from steelyard.stats.multiplicity import benjamini_hochberg, family_size, holm
from steelyard.stats.paired import McNemarTest, mcnemar
from steelyard.stats.partitions import Partition, partition
from steelyard.stats.permutation import PermutationTest, exact_permutation, fisher_exact
from steelyard.stats.planning import (
    Power,
    power_exact_permutation,
    sample_size_for_bound,
    tasks_for_bound,
    trials_for_power,
)
from steelyard.stats.published import (
    monte_carlo_permutation,
    plumbline_bootstrap_interval,
    plumbline_wilson,
    statsmodels_score_interval,
)
from steelyard.stats.reliability import (
    Reliability,
    pass_at_k,
    pass_at_k_per_task,
    pass_hat_k,
    pass_hat_k_per_task,
)
from steelyard.stats.repeats import (
    CombinedMean,
    RepeatSummary,
    combine_groups,
    mean_and_sem_over_repeats,
)
from steelyard.stats.resampling import (
    BootstrapInterval,
    bootstrap_interval,
    cluster_bootstrap_interval,
)
from steelyard.stats.results import Result
from steelyard.stats.sign_flips import SignFlipTest, sign_flip
from steelyard.stats.stratified import StratifiedTest, stratified_permutation
from steelyard.stats.verdicts import Verdict, smallest_margin, verdict

__all__ = [
    "BootstrapInterval",
    "ClusterSummary",
    "ClusteredDifference",
    "ClusteredInterval",
    "ClusteredMean",
    "CombinedMean",
    "DifferenceInterval",
    "EquivalenceTest",
    "Interval",
    "IntervalArray",
    "McNemarTest",
    "MeanInterval",
    "Partition",
    "PermutationTest",
    "Power",
    "Reliability",
    "RepeatSummary",
    "Result",
    "SignFlipTest",
    "StratifiedTest",
    "TaskDifferences",
    "Verdict",
    "benjamini_hochberg",
    "bootstrap_interval",
    "clopper_pearson_interval",
    "cluster_bootstrap_interval",
    "cluster_summary",
    "clustered_difference",
    "clustered_mean_interval",
    "clustered_standard_error",
    "clustered_two_one_sided_tests",
    "clustered_wilson_interval",
    "combine_groups",
    "design_effect",
    "effective_sample_size",
    "exact_permutation",
    "family_size",
    "fisher_exact",
    "holm",
    "intraclass_correlation",
    "jeffreys_interval",
    "mcnemar",
    "mean_and_sem_over_repeats",
    "miettinen_nurminen_interval",
    "monte_carlo_permutation",
    "newcombe_interval",
    "partition",
    "pass_at_k",
    "pass_at_k_per_task",
    "pass_hat_k",
    "pass_hat_k_per_task",
    "plumbline_bootstrap_interval",
    "plumbline_wilson",
    "power_exact_permutation",
    "sample_size_for_bound",
    "sign_flip",
    "smallest_margin",
    "statsmodels_score_interval",
    "stratified_permutation",
    "task_differences",
    "tasks_for_bound",
    "trials_for_power",
    "two_one_sided_tests",
    "verdict",
    "wilson_interval",
]
