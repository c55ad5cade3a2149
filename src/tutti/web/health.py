"""/healthz, /livez and /readyz, in the form of Kubernetes' components."""

from collections.abc import Callable, Mapping
from typing import Final

from tutti.web.app import TEXT, Request, Response

KINDS: Final = ("healthz", "livez", "readyz")

Check = Callable[[], str | None]
"""Says what is wrong, or None."""


class Health:
    """Named checks. `ready` ones count for /readyz alone: who is not ready need not be restarted.
    `remarks` are what is worth knowing about a check that passes."""

    def __init__(
        self,
        alive: Mapping[str, Check] | None = None,
        ready: Mapping[str, Check] | None = None,
        remarks: Mapping[str, Check] | None = None,
    ) -> None:
        self._alive: dict[str, Check] = {"ping": lambda: None, **(alive or {})}
        self._ready: dict[str, Check] = {**self._alive, **(ready or {})}
        self._remarks = remarks or {}

    def response(self, request: Request) -> Response | None:
        """The answer, where the path is one of health; None elsewhere."""
        kind, _, name = request.path[1:].partition("/")
        if kind not in KINDS:
            return None
        checks = self._ready if kind == "readyz" else self._alive
        if name:
            if name not in checks:
                return None
            checks = {name: checks[name]}
        excluded = {value for key, value in request.query if key == "exclude"}
        verbose = any(key == "verbose" for key, _ in request.query)
        checks = {name: check for name, check in checks.items() if name not in excluded}
        return self._report(kind, checks, verbose)

    def _report(self, kind: str, checks: Mapping[str, Check], verbose: bool) -> Response:
        wrong = {name: check() for name, check in checks.items()}
        lines = [
            f"[+]{name} ok{self._remark(name)}" if why is None else f"[-]{name} failed: {why}"
            for name, why in wrong.items()
        ]
        if any(why is not None for why in wrong.values()):
            return _text(500, "\n".join([*lines, f"{kind} check failed", ""]))
        if verbose:
            return _text(200, "\n".join([*lines, f"{kind} check passed", ""]))
        return _text(200, "ok")

    def _remark(self, name: str) -> str:
        remark = self._remarks[name]() if name in self._remarks else None
        return f": {remark}" if remark else ""


def is_health(path: str) -> bool:
    return path[1:].partition("/")[0] in KINDS


def _text(status: int, text: str) -> Response:
    return Response(status, text.encode(), (TEXT, (b"cache-control", b"no-cache, private")))
