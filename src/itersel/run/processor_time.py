"""Processor time: it is measured in seconds, recorded in hours, and shown in the unit that fits.

For times on the clock, see `itersel.run.progress.duration`.
"""

from __future__ import annotations

SECONDS_PER_HOUR = 3600
MINUTES_PER_HOUR = 60


def hours_of(seconds: float) -> float:
    """Return seconds in hours."""
    return seconds / SECONDS_PER_HOUR


def minutes_of(hours: float) -> float:
    """Return hours in minutes, the unit of comparisons of runs."""
    return MINUTES_PER_HOUR * hours


def format_hours(hours: float) -> str:
    """Format a time given in hours, in the largest unit of which it has at least one."""
    units = {"h": hours, "min": hours * MINUTES_PER_HOUR, "s": hours * SECONDS_PER_HOUR}
    unit, value = next((one for one in units.items() if one[1] >= 1), ("s", units["s"]))
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
