"""A trader's place: an emulated venue, a configuration for it, and `pawl order …` as a command."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

from emulation import Emulator

TIME_LIMIT_SECONDS = 90.0  # settle times are waited out for real
OKX_ORDER = ("--venue", "okx", "--inst", "BTC-USDT-SWAP", "--side", "buy", "--type", "limit")
SAXO_ORDER = ("--venue", "saxo", "--uic", "211", "--asset-type", "Stock", "--side", "buy")
# Below the emulated market: it rests.
WORDS = {
    "okx": (*OKX_ORDER, "--size", "0.1", "--price", "40000"),
    "saxo": (*SAXO_ORDER, "--type", "market", "--size", "10"),
}
CREDENTIALS = {
    "okx": "api_key: key, secret_key: secret, passphrase: phrase, simulated: true",
    "saxo": (
        "token_url: URL/token, access_token: access-1, refresh_token: refresh-1, app_key: app, "
        "app_secret: hush, client_key: client, account_key: account"
    ),
}


class Said:
    """What one command has said: its answer on stdout, its log on stderr."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.log = [json.loads(line) for line in done.stderr.splitlines() if line[:1] == "{"]

    def json(self) -> dict:
        return json.loads(self.out)

    def lines(self, level: str, text: str) -> list[dict]:
        """Log lines of that level in which some value has the text."""
        return [
            line
            for line in self.log
            if line["level"] == level and any(text in str(value) for value in line.values())
        ]

    def has(self, level: str, text: str) -> bool:
        return bool(self.lines(level, text))


class Trader:
    def __init__(self, pawl: Path, folder: Path, venue: str, market: Emulator) -> None:
        self.pawl, self.folder, self.venue, self.market = pawl, folder, venue, market
        self.configure()

    def configure(self, control: str = "", orders: str = "") -> None:
        """`control`: the frequency_limit section; `orders`: further lines of the orders section."""
        credentials = CREDENTIALS[self.venue].replace("URL", self.market.url)
        limit = f"order_control:\n  frequency_limit: {control}\n" if control else ""
        (self.folder / "pawl.yaml").write_text(
            f"{limit}orders:\n  database: orders.db\n{orders}"
            f"  venues:\n    {self.venue}: {{ base_url: {self.market.url}, {credentials} }}\n"
            "log: { level: debug, format: json }\n"
        )

    def command(self, *words: str) -> Said:
        done = subprocess.run(
            [self.pawl, *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=TIME_LIMIT_SECONDS,
        )
        return Said(done)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A command that is not waited for; its answer and its log come on one pipe each."""
        return subprocess.Popen(
            [self.pawl, *words],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def order(self, verb: str, *words: str) -> Said:
        return self.command("order", verb, *words, "--json")

    def place(self, reference: str, *more: str) -> Said:
        return self.order("place", *WORDS[self.venue], "--ref", reference, *more)

    def reduce(self, reference: str) -> Said:
        words = [*WORDS[self.venue], "--ref", reference, "--reduce-only"]
        words[words.index("buy")] = "sell"
        return self.order("place", *words)

    def rows(self, sql: str = "SELECT * FROM order_history") -> list[sqlite3.Row]:
        with sqlite3.connect(self.folder / "orders.db") as database:
            database.row_factory = sqlite3.Row
            return database.execute(sql).fetchall()

    def change(self, sql: str, *values: object) -> None:
        with sqlite3.connect(self.folder / "orders.db") as database:
            database.execute(sql, values)
