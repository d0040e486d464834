"""What tools/bench and tools/compare have in common: their options, and what becomes of a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

import rounds
from owned import Interrupted, interruptible
from programs import BenchError, install_peers
from services import ServiceError


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def parser(about: str | None, tables: Mapping[str, object]) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("table", nargs="?", choices=tables, help="this one; without it all")
    made.add_argument("--quick", action="store_true", help="one short round")
    made.add_argument("--write", action="store_true", help="into docs/performance.md as well")
    return made


def run(
    taking: argparse.ArgumentParser,
    arguments: Sequence[str],
    tables: Sequence[str],
    taken: Callable[[str, argparse.Namespace], str],
) -> int:
    """Takes the tables that were asked for, and prints each as soon as it is there."""
    options = taking.parse_args(arguments)
    if options.quick and options.write:
        taking.error("the figures of --quick mean nothing: they are not written down")
    if not options.quick:
        rounds.warn_if_busy(say)
    try:
        with interruptible():
            install_peers(say)
            for name in [options.table] if options.table else tables:
                text = taken(name, options)
                print(text, end="\n\n", flush=True)
                if options.write:
                    rounds.write_down(name, text)
    except (BenchError, ServiceError) as error:
        say(f"{taking.prog}: {error}")
        return 1
    except Interrupted as interrupt:
        return 128 + interrupt.number
    return 0
