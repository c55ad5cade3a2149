"""What admission looks at: namespaces and priority classes, as the last write left them."""

from collections.abc import Iterable

import msgspec

NAMESPACES = "namespaces"
CLASSES = "priorityclasses.scheduling.k8s.io"


class PriorityClass(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a class gives to those who name it."""

    value: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"


class _Status(msgspec.Struct, frozen=True):
    phase: str = "Active"


class _Namespace(msgspec.Struct, frozen=True):
    status: _Status = _Status()


_namespace = msgspec.json.Decoder(_Namespace)
_class = msgspec.json.Decoder(PriorityClass)


class View:
    """Kept by the one process that writes, in the order of its writes; so it is never behind."""

    resources = (NAMESPACES, CLASSES)

    def __init__(self) -> None:
        self._phases: dict[str, str] = {}
        self._classes: dict[str, PriorityClass] = {}

    def saw(self, resource: str, name: str, value: bytes | None) -> None:
        """An object was written, or is gone (None)."""
        match resource:
            case "namespaces":
                if value is None:
                    self._phases.pop(name, None)
                else:
                    self._phases[name] = _namespace.decode(value).status.phase
            case "priorityclasses.scheduling.k8s.io":
                if value is None:
                    self._classes.pop(name, None)
                else:
                    self._classes[name] = _class.decode(value)

    def phase(self, namespace: str) -> str | None:
        """The phase of a namespace, None where there is none."""
        return self._phases.get(namespace)

    def priority_class(self, name: str) -> PriorityClass | None:
        """The class of that name."""
        return self._classes.get(name)

    def default_class(self) -> tuple[str, PriorityClass] | None:
        """The class of those who name none; the least valued, should there be several."""
        defaults: Iterable[tuple[str, PriorityClass]] = (
            (name, one) for name, one in self._classes.items() if one.global_default
        )
        return min(defaults, key=lambda one: (one[1].value, one[0]), default=None)
