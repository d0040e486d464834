"""What goes to the extension and comes from it: lengths of time, instants, texts, JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, TypeVar

from pawl._errors import InvalidError

T = TypeVar("T")
Seconds = int | float | Decimal | timedelta

NANOSECONDS = 1_000_000_000
LONGEST = 2**63 - 1  # in nanoseconds, some 292 years: "never"
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)
SCOPES: Mapping[str, int] = {"task": 1, "key": 2, "type": 3, "queue": 4}


def to_length(seconds: Seconds, name: str) -> int:
    """In nanoseconds; what is too long for the queue is the longest it knows."""
    nanoseconds = _to_nanoseconds(seconds, name)
    if nanoseconds < 0:
        raise InvalidError(f"{name} is {seconds!r}; it must be 0 or more")
    return nanoseconds


def to_delay(seconds: Seconds, name: str) -> int:
    """A handler that reckons when to go on may find that it was a moment ago: then it is now."""
    return max(_to_nanoseconds(seconds, name), 0)


def _to_nanoseconds(seconds: Seconds, name: str) -> int:
    if isinstance(seconds, timedelta):
        exact: int | float | Decimal = seconds // MICROSECOND * 1000
    elif isinstance(seconds, bool) or not isinstance(seconds, (int, float, Decimal)):
        raise InvalidError(f"{name} is {seconds!r}; it must be a number of seconds")
    elif math.isnan(seconds):
        raise InvalidError(f"{name} is not a number; it must be a number of seconds")
    elif math.isinf(seconds):
        exact = seconds
    else:
        exact = seconds * NANOSECONDS
    if math.isinf(exact):
        exact = LONGEST if exact > 0 else -LONGEST
    # A fraction of a nanosecond below nothing is still less than nothing.
    return min(round(exact) if exact >= 0 else math.floor(exact), LONGEST)


def to_seconds(nanoseconds: int) -> float:
    return nanoseconds / NANOSECONDS


def to_instant(when: datetime, name: str) -> int:
    if not isinstance(when, datetime):
        raise InvalidError(f"{name} is {when!r}; it must be a datetime")
    if when.tzinfo is None:
        raise InvalidError(
            f"{name} is {when}, without a time zone; say which: datetime(…, tzinfo=timezone.utc)"
        )
    return min((when - EPOCH) // MICROSECOND * 1000, LONGEST)


def to_datetime(nanoseconds: int) -> datetime:
    """Rounded up: who waits until then has not waited too short."""
    return EPOCH + timedelta(microseconds=-(-nanoseconds // 1000))


def to_datetime_or_none(nanoseconds: int | None) -> datetime | None:
    return None if nanoseconds is None else to_datetime(nanoseconds)


def to_text(text: str | None, name: str) -> str:
    """None is an empty text."""
    if text is None:
        return ""
    if not isinstance(text, str):
        raise InvalidError(f"{name} is {text!r}; it must be a str")
    return encodable(text)


def to_whole(number: int, name: str, lowest: int, highest: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise InvalidError(f"{name} is {number!r}; it must be a whole number")
    if not lowest <= number <= highest:
        raise InvalidError(f"{name} is {number}; it must be {lowest} to {highest}")
    return number


def to_number(number: float, name: str, lowest: float, highest: float) -> float:
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    if not is_number or not lowest <= number <= highest:
        raise InvalidError(f"{name} is {number!r}; it must be a number, {lowest} to {highest}")
    return float(number)


def of_kind(value: T, kind: type[T], name: str) -> T:
    if not isinstance(value, kind):
        raise InvalidError(f"{name} is {value!r}; it must be a {kind.__name__}")
    return value


def to_scope(scope: str) -> int:
    if scope not in SCOPES:
        raise InvalidError(f"scope is {scope!r}; it must be one of {', '.join(SCOPES)}")
    return SCOPES[scope]


def to_json(value: Any, name: str) -> str:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidError(f"{name} cannot be written as JSON: {error}") from error


def encodable(text: str) -> str:
    """With lone surrogates, which are no characters, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
