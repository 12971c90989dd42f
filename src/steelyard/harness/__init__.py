"""The harness: plans every trial of a study as a row, then runs what is missing."""
