"""Child processes that never outlive us, however we end."""

import asyncio
import ctypes
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None, use_errno=True).prctl

OnLine = Callable[[str], None]


class Ended(Exception):
    """A child ended before it did what it was started for."""

    def __init__(self, child: "Child", status: int) -> None:
        super().__init__(f"{child.name} ended ({how(status)}); it said last:\n{child.last_words()}")
        self.status = status


def how(status: int) -> str:
    """How a process ended, in words: `status 1`, `signal SIGKILL`."""
    return f"status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"


class Child:
    """A running program, its lines, its end.

    The kernel kills it when the *thread* that spawned it ends, so that must be one which lives as
    long as the child is wanted: the main thread. Its stdin is a pipe that we hold, so a child that
    watches for its end (`parent_ended`) can leave in good order. It has a process group of its
    own: a Ctrl-C at the terminal reaches us alone, and we decide who stops when.
    """

    def __init__(self, name: str, process: asyncio.subprocess.Process, on_line: OnLine) -> None:
        self.name = name
        self._process = process
        self._on_line = on_line
        self._said: deque[str] = deque(maxlen=20)
        self._news = asyncio.Event()
        self._readers = [
            asyncio.create_task(self._read(stream), name=f"lines of {name}")
            for stream in (process.stdout, process.stderr)
            if stream is not None
        ]

    @classmethod
    async def spawn(
        cls,
        name: str,
        command: Sequence[str | Path],
        *,
        on_line: OnLine = lambda line: None,
        env: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> Self:
        """`on_line` is told each line of stdout and stderr as it comes."""
        parent = os.getpid()

        def end_with_parent() -> None:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it ended before we asked to be told
                os._exit(1)

        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=env,
            cwd=folder,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
        return cls(name, process, on_line)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.returncode is not None

    def last_words(self) -> str:
        return "\n".join(self._said)

    async def line_starting(self, start: str) -> str:
        """What follows `start` in the first line that begins so; raises Ended if none comes."""
        while True:
            for line in self._said:
                if line.startswith(start):
                    return line.removeprefix(start)
            if all(reader.done() for reader in self._readers):
                raise Ended(self, await self.wait())
            self._news.clear()
            await self._news.wait()

    async def wait(self) -> int:
        """Its exit status, once it has ended and all it said has been read."""
        status = await self._process.wait()
        await asyncio.gather(*self._readers)
        return status

    async def stop(self, grace: float) -> int:
        """Ask it to end, and kill it when it takes longer than `grace` seconds."""
        if not self.ended:
            self._process.terminate()
        try:
            async with asyncio.timeout(grace):
                return await self._process.wait()
        except TimeoutError:
            self._process.kill()
            return await self._process.wait()

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await stream.readline()
            except ValueError:  # longer than any line that a person would read: left out
                continue
            if not line:
                break
            text = line.decode(errors="replace").rstrip("\n")
            self._said.append(text)
            self._on_line(text)
            self._news.set()
        # The caller of line_starting looks again once both streams are at their end.
        asyncio.get_running_loop().call_soon(self._news.set)


async def parent_ended() -> None:
    """Returns when the parent that spawned us as a `Child` has ended, however it did."""
    loop = asyncio.get_running_loop()
    closed = asyncio.Event()

    def read() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            closed.set()

    loop.add_reader(sys.stdin.fileno(), read)
    try:
        await closed.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
