"""Orders beside one write and sync of the same disk: what pawl adds before the first byte leaves.
How it is measured stands in docs/performance.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from programs import QUICK, Effort, Programs, Steps
from tables import MS, US, Row

CALL = "orders/call_to_first_byte/audited:0/iterations:1000/manual_time"
AUDITED = "orders/call_to_first_byte/audited:1/iterations:1000/manual_time"
QUOTA = "intents/quota_check/rows:10000/iterations:10000/real_time"
QUOTA_MANY = "intents/quota_check/rows:10000000/iterations:10000/real_time"
START = "intents/start_to_first_intent/intents:1000000/iterations:20/real_time"
ONE_AND_A_HALF = 0.67  # a ratio is how many times better pawl is: 1 / 1.5, rounded up

ROWS = (
    Row("call to first byte", US, CALL, "a write and sync", f"{CALL} sync", ONE_AND_A_HALF,
        target_is_ratio=True),
    Row("the same, audited on disk", US, AUDITED, "a write and sync", f"{AUDITED} sync",
        ONE_AND_A_HALF, target_is_ratio=True),
    Row("quota check, 10,000 orders", US, QUOTA, target=10_000),
    Row("quota check, 10 million", US, QUOTA_MANY, target=50),
    Row("start with a million intents", MS, START, target=1_000),
)  # fmt: skip


class Orders(Programs):
    def steps(self) -> Steps:
        return {
            **{name: lambda name=name: self._call(name) for name in (CALL, AUDITED)},
            **{name: lambda name=name: self._quota(name) for name in (QUOTA, QUOTA_MANY)},
            START: self._start,
        }

    def _call(self, name: str) -> dict[str, float]:
        found = self.asked(name)
        return {name: found["call_p50_us"], f"{name} sync": found["sync_p50_us"]}

    def _quota(self, name: str) -> dict[str, float]:
        return {name: self.asked(self._few(name, "10000000", "10000"))["check_p50_us"]}

    def _start(self) -> dict[str, float]:
        return {START: self.asked(self._few(START, "1000000", "1000"))["real_time"] / 1e6}

    def _few(self, name: str, many: str, few: str) -> str:
        """To fill the database takes minutes, which a quick round does not have."""
        return name.replace(f":{many}/", f":{few}/") if self.effort is QUICK else name


@contextlib.contextmanager
def steps(effort: Effort) -> Iterator[Steps]:
    yield Orders(effort).steps()


def made_with() -> tuple[str, ...]:
    return ()
