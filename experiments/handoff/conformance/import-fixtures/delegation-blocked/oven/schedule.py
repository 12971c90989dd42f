"""When each loaf goes into the oven."""


def start_minutes(loaves, oven_places, bake_minutes):
    """Return the minute at which each loaf starts, in order."""
    return [number // oven_places * bake_minutes for number in range(loaves)]
