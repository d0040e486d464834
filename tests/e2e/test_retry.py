"""Goal: operators see how often each category is retried, what an answer means, and which row of
which table says so.

Method: `pawl retry policies` and `pawl retry classify` beside a configuration, and without one.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

TIME_LIMIT_SECONDS = 30
USAGE, INVALID, NOT_FOUND = 2, 1, 5

CONFIG = """retry:
  policies:
    RETRY_API_REQUEST: {max_attempts: 9}
  classify:
    http:
      - {status: 503, failure: rate_limited, outcome: not_applied, retryable: true}
    shop:
      - {code: OutOfStock, failure: client_error, outcome: not_applied}
      - {transport: timed_out, failure: transient_network, outcome: not_applied, retryable: true}
"""

Retry = Callable[..., str]


@pytest.fixture
def retry(pawl: Path, tmp_path: Path) -> Retry:
    """What `pawl retry …` printed; what it complained of when another code is expected."""
    (tmp_path / "shop.yaml").write_text(CONFIG)

    def run(*words: str, code: int = 0) -> str:
        done = subprocess.run(
            [pawl, "retry", *words],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout if code == 0 else done.stderr

    return run


def test_the_policies_in_force_are_printed(retry: Retry) -> None:
    lines = retry("policies", "--config", "shop.yaml").splitlines()
    assert [line.split()[1] for line in lines if line.startswith("RETRY_API_REQUEST ")] == ["*9"]
    told = json.loads(retry("policies", "--config", "shop.yaml", "--json"))
    changed = {each["category"]: each["changed"] for each in told["policies"] if each["changed"]}
    assert changed == {"RETRY_API_REQUEST": ["max_attempts"]}


def test_an_answer_is_classified_by_what_is_built_in(retry: Retry) -> None:
    assert retry("classify", "--status", "503") == (
        "failure: server_error\n"
        "outcome: unknown\n"
        "retryable: true\n"
        "then: what became of it is found out first; if nothing, it may be sent again\n"
        "decided by: a built-in row (status: 500-599)\n"
    )


def test_rows_of_the_configuration_come_first(retry: Retry) -> None:
    assert retry("classify", "--config", "shop.yaml", "--status", "503") == (
        "failure: rate_limited\n"
        "outcome: not_applied\n"
        "retryable: true\n"
        "then: it may be sent again\n"
        "decided by: retry.classify.http[0] (status: 503)\n"
    )


@pytest.mark.parametrize(
    ("words", "row", "next_step"),
    [
        (["--status", "409", "--code", "OutOfStock"], "retry.classify.shop[0]", "give_up"),
        (["--transport", "timed_out"], "retry.classify.shop[1]", "backoff"),
        (["--status", "503"], "retry.classify.http[0]", "backoff"),
        (["--status", "200", "--transport", "answered"], None, "done"),
        (["--status", "400", "--names-effect"], None, "reconcile"),
        (["--status", "400"], None, "give_up"),
        (["--transport", "not_sent"], None, "backoff"),
        (["--transport", "broke_off"], None, "reconcile"),
    ],
)
def test_a_table_of_ones_own_goes_on_with_http(
    retry: Retry, words: list[str], row: str | None, next_step: str
) -> None:
    told = json.loads(retry("classify", "--config=shop.yaml", "--table=shop", "--json", *words))
    assert (told["decided_by"]["path"], told["next"]) == (row, next_step)


def test_what_no_row_matches_is_unknown(retry: Retry) -> None:
    told = json.loads(retry("classify", "--transport", "raised", "--code", "Oops", "--json"))
    assert told["decided_by"] is None
    assert (told["failure"], told["outcome"], told["next"]) == ("unknown", "unknown", "reconcile")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--status is missing: an answer has one"),
        (["--transport", "answered"], "--status is missing: an answer has one"),
        (["--status", "503", "--transport", "timed_out"], "contradict each other"),
        (["--status", "5xx"], "--status is '5xx'; it is a number from 100 to 999"),
        (["--transport", "lost"], "timed_out"),
    ],
)
def test_what_cannot_have_been_seen_is_a_usage_error(
    retry: Retry, words: list[str], message: str
) -> None:
    assert message in retry("classify", *words, code=USAGE)


def test_a_table_that_nobody_defined_is_not_found(retry: Retry) -> None:
    words = ("--config", "shop.yaml", "--table", "shp", "--status", "503")
    assert "take http or shop" in retry("classify", *words, code=NOT_FOUND)


def test_a_row_that_contradicts_itself_is_refused_where_it_stands(
    retry: Retry, tmp_path: Path
) -> None:
    (tmp_path / "pawl.yaml").write_text(
        "retry:\n  classify:\n    http:\n"
        "      - {status: 503, transport: timed_out, failure: unknown, outcome: unknown}\n"
    )
    assert "pawl.yaml:4: retry.classify.http[0]: " in retry(
        "classify", "--status", "503", code=INVALID
    )
