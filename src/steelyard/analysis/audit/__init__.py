"""What do the tables and the claims made from them not support? A checklist that finds out."""

from __future__ import annotations

from steelyard.analysis.audit.checklist import CHECKS, audit, audit_evidence
from steelyard.analysis.audit.findings import VERDICTS, Finding

__all__ = ["CHECKS", "VERDICTS", "Finding", "audit", "audit_evidence"]
