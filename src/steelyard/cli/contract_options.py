"""The arguments and options of ``steelyard contract``, each declared once."""

from __future__ import annotations

from typing import Annotated

import typer

PolicyFile = Annotated[
    str, typer.Argument(metavar="POLICY", help="A policy of schema 1.0 (JSON); - is stdin.")
]
ResponseFile = Annotated[
    str, typer.Argument(metavar="RESPONSE", help="The response, a JSON object; - is stdin.")
]
Output = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write the result there, all at once, and say so."),
]
StrictExit = Annotated[
    bool, typer.Option("--strict-exit", help="Exit with 1 if the result is not a clean pass.")
]
Hook = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:FUNCTION",
        help="Check this Python function instead of the built-in evaluator; it runs in a "
        "process of its own, but is trusted code.",
    ),
]
HookCommand = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND",
        help="Check this program: a JSON request per line in, a JSON result per line out. "
        "Trusted code too.",
    ),
]
HookErrors = Annotated[
    bool, typer.Option("--hook-errors", help="Show what the hook writes to standard error.")
]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", help="For one evaluation by a hook.")]
Interleave = Annotated[
    bool,
    typer.Option(
        "--interleave",
        help="All orders, with the repeats in shuffled sequence: tells an effect of the order "
        "from one of the number of the call, and names the pairs of rules.",
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="So many random orders, for any number of rules."),
]
Bound = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="As many random orders as show, if none drifts, that at most this share does.",
    ),
]
# No default here: one that is given without --interleave, --sample or --bound is refused.
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="SEED", min=0, help="Of the sequence of calls and of the sample; 0 by default."
    ),
]
Repeats = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=2, help="Calls per order, if interleaved or sampled; 3 by default."
    ),
]
Confidence = Annotated[
    float | None,
    typer.Option(metavar="LEVEL", help="Of the bound and the intervals; 0.95 by default."),
]
SwapsPerPair = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, help="With a sample: random swaps per pair, to attribute drift."
    ),
]
Runs = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="If interleaved or sampled: every call, as a DuckDB file."),
]
FirstPolicy = Annotated[
    str | None, typer.Argument(metavar="[POLICY]", help="A file to begin with.")
]
FirstResponse = Annotated[
    str | None, typer.Argument(metavar="[RESPONSE]", help="A file to begin with.")
]
SmokeTest = Annotated[
    bool, typer.Option("--smoke-test", help="Open nothing; judge the documents and say so.")
]
