"""Times of platforms, to one kind."""

from datetime import datetime, timezone

import pytest

from tito.grading.times import parse_time

NOON = datetime(2030, 6, 1, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "text",
    [
        "2030-06-01 12:00:00.000000 UTC",
        "2030-06-01 12:00:00",
        "2030-06-01T14:00:00+02:00",
        "2030-06-01 14:00:00.0 +0200",
        "2030-06-01 08:00 America/New_York",
        "2030-06-01_12-00-00 Z",
    ],
)
def test_a_time_and_its_zone_are_read(text):
    assert parse_time(text) == NOON


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2030-13-01 12:00",
        "2030-06-01 12:00 Nowhere/At_All",
        "2030-06-01 12:00 ../x",
        "2030-06-01 12:00:00 +9999",
        "0001-01-01 00:00 +0100",
    ],
)
def test_what_is_no_time_is_none(text):
    assert parse_time(text) is None
