"""Processor time as it is shown."""

from itersel.run.processor_time import format_hours, hours_of


def test_processor_time():
    found = [format_hours(hours_of(seconds)) for seconds in (0.004, 14.4, 60, 3599, 5400, 3.6e6)]
    assert found == ["0.004 s", "14.4 s", "1 min", "60 min", "1.5 h", "1,000 h"]
