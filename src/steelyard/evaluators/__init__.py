"""Judges of single trials, one subpackage each."""
