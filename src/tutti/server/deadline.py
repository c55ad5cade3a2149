"""How long a client says that it waits (`timeout=30s` in the query), as Go writes a duration."""

import asyncio
import re
from collections.abc import Coroutine
from typing import TypeVar

from tutti.api.errors import BadRequest, Timeout
from tutti.server.options import Query, quoted

_LONGEST_S = 60.0
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")

_Answer = TypeVar("_Answer")


def asked(query: Query) -> float | None:
    """The seconds that the client gives us; None where it doesn't say."""
    for name, value in query:
        if name == "timeout" and value:
            return min(_seconds(value) or _LONGEST_S, _LONGEST_S)
    return None


async def within(seconds: float, answering: Coroutine[None, None, _Answer]) -> _Answer:
    """The answer, or Timeout. What was begun is finished all the same: a write is never torn."""
    task = asyncio.ensure_future(answering)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if not done:
        task.add_done_callback(lambda late: late.exception())
        raise Timeout("Timeout: request did not complete within the allotted timeout")
    return task.result()


def _seconds(text: str) -> float:
    """A Go duration: numbers with units, one after the other; a bare 0 is one, too."""
    if text == "0":
        return 0.0
    if not re.fullmatch(f"({_PART.pattern})+", text):
        why = f"time: invalid duration {quoted(text)}"
        if re.fullmatch(r"\d+", text):
            why = f"time: missing unit in duration {quoted(text)}"
        raise BadRequest(f"invalid timeout specified in the request URL - {why}")
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
