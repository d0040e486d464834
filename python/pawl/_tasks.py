"""Tasks and what is known of them, as values."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pawl import _values
from pawl._errors import InvalidError, PawlError
from pawl._values import Seconds, to_datetime, to_datetime_or_none


class TaskStatus(enum.StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def is_over(self) -> bool:
        return self not in (TaskStatus.PENDING, TaskStatus.RUNNING)


@dataclasses.dataclass(frozen=True)
class Task:
    """A task as it was when it was looked at, with the names of its JSON form."""

    id: str
    task_type: str
    status: TaskStatus
    input: Any
    input_json: str  # with every digit as it was submitted
    output: Any  # when completed
    output_json: str | None
    key: str | None
    unique: str | None
    priority: int
    attempt: int  # claims so far
    retry_count: int
    max_retries: int
    reschedule_count: int
    max_reschedules: int | None  # None: unlimited
    timeout_seconds: float
    created_at: datetime
    available_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    lease_expires_at: datetime | None  # while it runs
    completed_at: datetime | None  # of any end
    fence: int  # of the last claim
    worker_id: str | None
    last_error: str | None
    cancel_requested: bool
    cancelled_by: str | None


_TIMES = ("created_at", "available_at", "updated_at")
_TIMES_OR_NONE = ("expires_at", "lease_expires_at", "completed_at")


def task_of(told: dict[str, Any]) -> Task:
    fields = dict(told)
    fields["status"] = TaskStatus(fields["status"])
    fields["input"] = json.loads(fields["input_json"])
    output = fields["output_json"]
    fields["output"] = None if output is None else json.loads(output)
    fields["timeout_seconds"] = _values.to_seconds(fields.pop("timeout"))
    for name in _TIMES:
        fields[name] = to_datetime(fields[name])
    for name in _TIMES_OR_NONE:
        fields[name] = to_datetime_or_none(fields[name])
    return Task(**fields)


@dataclasses.dataclass(frozen=True)
class Submitted:
    """What a submit gives back; wherever an id is asked for, this does as well."""

    id: str
    fresh: bool  # False: it was there already, under the same id or unique name


class SubmitManyError(PawlError):
    """Some of many were not submitted; `results` has the answer to each, in order."""

    def __init__(self, results: Sequence[Submitted | PawlError]) -> None:
        wrong = [(i, each) for i, each in enumerate(results) if isinstance(each, PawlError)]
        index, first = wrong[0]
        super().__init__(
            f"{len(wrong)} of {len(results)} tasks were not submitted; task {index}: {first}",
            first.outcome,
        )
        self.code = first.code
        self.results = results


@dataclasses.dataclass(frozen=True)
class Backoff:
    """Waits before retries: base · multiplierⁿ ± jitter, at most the longest; or a table, whose
    last entry repeats."""

    base_seconds: Seconds = 1
    max_seconds: Seconds = 60
    multiplier: float = 2.0
    jitter: float = 0.25
    delays_seconds: Sequence[Seconds] = ()

    def told(self) -> dict[str, Any]:
        to_length = _values.to_length
        if not isinstance(self.delays_seconds, Sequence) or isinstance(self.delays_seconds, str):
            raise InvalidError(f"delays_seconds is {self.delays_seconds!r}; it must be a list")
        return {
            "base": to_length(self.base_seconds, "base_seconds"),
            "max": to_length(self.max_seconds, "max_seconds"),
            "multiplier": _values.to_number(self.multiplier, "multiplier", 1, 10),
            "jitter": _values.to_number(self.jitter, "jitter", 0, 1),
            "delays": [to_length(each, "delays_seconds") for each in self.delays_seconds],
        }


@dataclasses.dataclass(frozen=True)
class NewTask:
    """One of submit_many(); the fields are the arguments of submit()."""

    task_type: str
    input: Any = dataclasses.field(default_factory=dict)
    id: str | None = None
    key: str | None = None
    unique: str | None = None
    priority: int = 0
    max_retries: int = 3
    max_reschedules: int | None = None
    timeout_seconds: Seconds = 300
    backoff: Backoff = Backoff()
    delay_seconds: Seconds = 0
    at: datetime | None = None
    ttl_seconds: Seconds | None = None
    expires_at: datetime | None = None

    def _check_times(self) -> None:
        delay = _values.to_length(self.delay_seconds, "delay_seconds")
        if delay > 0 and self.at is not None:
            raise InvalidError("give delay_seconds or at, not both")
        if self.ttl_seconds is None:
            return
        if self.expires_at is not None:
            raise InvalidError("give ttl_seconds or expires_at, not both")
        if _values.to_length(self.ttl_seconds, "ttl_seconds") == 0:
            raise InvalidError(
                f"ttl_seconds is {self.ttl_seconds!r}; it must be more than 0, or None: for ever"
            )

    def told(self) -> dict[str, Any]:
        """For the extension; raises InvalidError for what cannot be."""
        if not isinstance(self.task_type, str):
            raise InvalidError(f"the type of a task is {self.task_type!r}; it must be a str")
        self._check_times()
        most = 2**32 - 1
        to_length, to_text = _values.to_length, _values.to_text
        return {
            "task_type": to_text(self.task_type, "task_type"),
            "input_json": _values.to_json(self.input, f"the input of {self.task_type!r}"),
            "id": to_text(self.id, "id"),
            "key": to_text(self.key, "key"),
            "unique": to_text(self.unique, "unique"),
            "priority": _values.to_whole(self.priority, "priority", -(2**31), 2**31 - 1),
            "max_retries": _values.to_whole(self.max_retries, "max_retries", 0, 10**6),
            "max_reschedules": None
            if self.max_reschedules is None
            else _values.to_whole(self.max_reschedules, "max_reschedules", 0, most),
            "timeout": to_length(self.timeout_seconds, "timeout_seconds"),
            "backoff": _values.of_kind(self.backoff, Backoff, "backoff").told(),
            "delay": to_length(self.delay_seconds, "delay_seconds"),
            "at": None if self.at is None else _values.to_instant(self.at, "at"),
            "time_to_live": 0
            if self.ttl_seconds is None
            else to_length(self.ttl_seconds, "ttl_seconds"),
            "expires_at": None
            if self.expires_at is None
            else _values.to_instant(self.expires_at, "expires_at"),
        }


def new_task_of(given: NewTask | tuple[str, Any] | Mapping[str, Any]) -> NewTask:
    """A pair is type and input; a mapping has the names of submit()'s arguments."""
    if isinstance(given, NewTask):
        return given
    try:
        if isinstance(given, Mapping):
            return NewTask(**given)
        if not isinstance(given, (tuple, list)):
            raise TypeError("it is a " + type(given).__name__)
        return NewTask(*given)
    except TypeError as error:
        raise InvalidError(
            f"{given!r} is no task: give a NewTask, (type, input) or a dict with its arguments"
            f" ({error})"
        ) from error


@dataclasses.dataclass(frozen=True)
class Version:
    """A step in the history of a task."""

    at: datetime
    status: TaskStatus
    text: str  # "Version 3: pending (rescheduled, available_at: +60s, count: 1)"

    def __str__(self) -> str:
        return self.text


def version_of(told: tuple[int, str, str]) -> Version:
    at, status, text = told
    return Version(to_datetime(at), TaskStatus(status), text)


class Hold(enum.StrEnum):
    """Why a task does not run."""

    IS_OVER = "is_over"
    RUNNING = "running"  # worker, until
    NOT_DUE = "not_due"  # until
    CLOSED = "closed"  # scope, name, until
    RATE = "rate"  # scope, name, until
    CONCURRENCY = "concurrency"  # scope, name: as many run as may
    WAITS = "waits"  # it may be claimed; `ahead` of its type come first


_HOLDS = list(Hold)  # in the order of their numbers, from 1


@dataclasses.dataclass(frozen=True)
class Why:
    hold: Hold
    scope: str | None
    name: str | None
    until: datetime | None
    ahead: int
    worker: str | None


def why_of(told: dict[str, Any]) -> Why:
    until = to_datetime_or_none(told["until"])
    return Why(**{**told, "hold": _HOLDS[told["hold"] - 1], "until": until})


@dataclasses.dataclass(frozen=True)
class TypeStats:
    task_type: str
    pending: int  # due or not
    due: int
    running: int
    completed: int  # those that are kept, as the rest
    failed: int
    cancelled: int
    expired: int
    oldest_due: datetime | None


@dataclasses.dataclass(frozen=True)
class QueueStats:
    types: list[TypeStats]
    # Since the queue was made, by all.
    submitted: int
    completed: int
    failed: int
    retried: int
    rescheduled: int
    # Of this process, or of the broker.
    commits: int
    puts: int
    gets: int
    store: str


def queue_stats_of(told: dict[str, Any]) -> QueueStats:
    types = []
    for each in told["types"]:
        of_type: dict[str, Any] = {**each, "oldest_due": to_datetime_or_none(each["oldest_due"])}
        types.append(TypeStats(**of_type))
    of_all: dict[str, Any] = {**told, "types": types}
    return QueueStats(**of_all)


@dataclasses.dataclass(frozen=True)
class WorkerStats:
    """What one run of a worker did."""

    claimed: int
    completed: int
    retried: int
    rescheduled: int
    failed: int
    cancelled: int
    timed_out: int
    given_back: int  # by its end
    refused: int  # too late: another has it
