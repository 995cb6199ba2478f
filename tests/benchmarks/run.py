"""Measure speed, topic by topic, and print one table: `make bench`."""

import importlib
import pkgutil
import sys
from typing import NamedTuple

from memlib.tables import text_table
from tests.notebooks.refresh import ROOT

HEAD = """# Benchmarks

`make bench` writes this file. Ratios are taken within one run; milliseconds are those of a machine
of two x86-64 cores, Debian 12, Python 3.11. No test depends on them.

"""


class Row(NamedTuple):
    """One measure: what, how much, in which unit, and the most (or least) that it may be."""

    measure: str
    value: float
    unit: str
    limit: float | None = None
    at_most: bool = True

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return ""
        kept = self.value <= self.limit if self.at_most else self.value >= self.limit
        return "within" if kept else "MISSED"


def main(arguments: list[str]) -> int:
    """Run every benchmark; with --small quickly, on small inputs, without verdicts."""
    small = "--small" in arguments
    rows: list[Row] = []
    for module in pkgutil.iter_modules([str(ROOT / "tests" / "benchmarks")]):
        if module.name != "run":
            print(f"measuring {module.name} …", file=sys.stderr, flush=True)
            rows += importlib.import_module(f"tests.benchmarks.{module.name}").measure(small)
    columns = {
        "measure": [row.measure for row in rows],
        "value": [f"{row.value:.2f}" for row in rows],
        "unit": [row.unit for row in rows],
    }
    if not small:
        columns["limit"] = [
            "" if row.limit is None else f"{'at most' if row.at_most else 'at least'} {row.limit:g}"
            for row in rows
        ]
        columns["verdict"] = [row.verdict for row in rows]
    table = text_table(columns, left=["measure", "unit", "verdict"])
    print(table)
    if not small:
        text = f"{HEAD}```\n{table}\n```\n"
        (ROOT / "BENCHMARKS.md").write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
