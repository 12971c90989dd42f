"""``python -m steelyard`` is the program ``steelyard``."""

from steelyard.cli.main import run

if __name__ == "__main__":
    run()
