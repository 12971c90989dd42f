"""Handoff conformance: whether a coding agent's handoff bundle can be trusted and was understood.

Bundles are checked against their format, against a live Git repository and against a request;
an importing agent's observation against what it should have read; an exporting agent's bundle
against what was measured. Everything here is a verdict over data: no agent is started.

Where the published tool is known to be wrong, the default is the right behaviour and
``compatibility=True`` gives the published one.
"""
