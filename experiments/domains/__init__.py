"""Domains that several experiments share: what an agent works on, and how it is judged."""
