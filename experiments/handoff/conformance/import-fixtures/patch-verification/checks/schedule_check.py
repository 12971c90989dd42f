"""Run with: python3 checks/schedule_check.py"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from oven.schedule import start_minutes

assert start_minutes(3, 2, 40) == [0, 0, 40], start_minutes(3, 2, 40)
print("schedule_check: as wanted")
