"""Questions over the trial tables: each returns a tidy DataFrame or one frozen dataclass.

The names are imported here and not looked up when first used, because several functions carry
the name of their module: a late look-up would give the function or the module depending on what
was imported before. ``import steelyard`` itself does not import this package.
"""

from steelyard.analysis.attestation import attest
from steelyard.analysis.audit import audit
from steelyard.analysis.behaviour_shift import behaviour_shift
from steelyard.analysis.certificate import Certificate, certify
from steelyard.analysis.comparison import compare, pairwise
from steelyard.analysis.conformance import Conformance, conformance
from steelyard.analysis.consensus import aligned_steps, consensus
from steelyard.analysis.consistency import consistency
from steelyard.analysis.equivalence import equivalence
from steelyard.analysis.first_divergence import first_divergence
from steelyard.analysis.manipulation import manipulation
from steelyard.analysis.rates import rates
from steelyard.analysis.reliability import reliability
from steelyard.analysis.repeats import repeat_agreement, seeds
from steelyard.analysis.selection import select
from steelyard.analysis.similarity import similarity
from steelyard.analysis.similarity_tests import similarity_test
from steelyard.analysis.step_rates import step_rates
from steelyard.analysis.stopping import (
    calibrated_threshold,
    compare_policies,
    stop_points,
    stopping_summary,
    stopping_sweep,
    weight_sensitivity,
)
from steelyard.analysis.trajectory_results import Consistency, Equivalence

__all__ = [
    "Certificate",
    "Conformance",
    "Consistency",
    "Equivalence",
    "aligned_steps",
    "attest",
    "audit",
    "behaviour_shift",
    "calibrated_threshold",
    "certify",
    "compare",
    "compare_policies",
    "conformance",
    "consensus",
    "consistency",
    "equivalence",
    "first_divergence",
    "manipulation",
    "pairwise",
    "rates",
    "reliability",
    "repeat_agreement",
    "seeds",
    "select",
    "similarity",
    "similarity_test",
    "step_rates",
    "stop_points",
    "stopping_summary",
    "stopping_sweep",
    "weight_sensitivity",
]
