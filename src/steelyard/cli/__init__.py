"""The command line: each verb reads options, calls one function and prints what it returns."""
