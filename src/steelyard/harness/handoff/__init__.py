"""Handoff trials: an agent command imports or exports bundles in a disposable root, measured."""
