"""What the store's tests put into it."""

from tutti.store import OPENING, Put, Remove


def value(text: str) -> bytes:
    """A stored value that can be told from others."""
    return OPENING + b'"name":"%s"}}' % text.encode()


def put(name: str, text: str = "v", *, expect: int | None = 0, namespace: str = "default") -> Put:
    return Put("pods", namespace, name, f"uid-{name}", value(text), expect)


def remove(name: str, expect: int, text: str = "last", *, namespace: str = "default") -> Remove:
    return Remove("pods", namespace, name, expect, value(text))
