"""What an agent says whose own sandbox cannot start."""

from __future__ import annotations

import sys


def complain() -> None:
    """Print the message by which a runner knows it, whether or not it is true."""
    message = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"
    print(message, file=sys.stderr, flush=True)
