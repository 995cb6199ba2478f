"""Waiting for what must come: a test fails when something hangs, never for a slow machine."""

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 300  # seconds; nothing waits so long but what hangs


def eventually(condition: Callable[[], Any], every: float = 0.05) -> Any:
    """The first true value of a condition that is looked at again and again; else its last."""
    for _ in range(round(PATIENCE / every)):
        if found := condition():
            return found
        time.sleep(every)
    return condition()
