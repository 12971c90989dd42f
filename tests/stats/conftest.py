"""Property tests of this room: the same examples on every run, and no clock on a busy machine."""

from hypothesis import settings

settings.register_profile("steelyard", deadline=None, derandomize=True)
settings.load_profile("steelyard")
