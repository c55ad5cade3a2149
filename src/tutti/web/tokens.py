"""Bearer tokens and the users they stand for."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import msgspec

_SCHEME = b"bearer "


class User(msgspec.Struct, frozen=True):
    """Who asks."""

    name: str
    groups: tuple[str, ...] = ()


class Tokens:
    """Knows its tokens by their digests only, so that neither a look into memory nor the time
    that a comparison takes gives one away."""

    def __init__(self, users: Mapping[str, User]) -> None:
        self._users = {_digest(token.encode()): user for token, user in users.items()}

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read a JSON object: token -> {"name": ..., "groups": [...]}."""
        try:
            users = msgspec.json.decode(file.read_bytes(), type=dict[str, User])
        except msgspec.MsgspecError:
            # What was read is not repeated, and neither is the error, which could quote it.
            raise ValueError(f"{file} is not a JSON object of tokens and their users") from None
        if "" in users:
            raise ValueError(f"{file} has an empty token")
        return cls(users)

    def user_of(self, authorization: bytes | None) -> User | None:
        """The user whose token this Authorization header carries; None for no or a wrong token."""
        if authorization is None or authorization[: len(_SCHEME)].lower() != _SCHEME:
            return None
        return self._users.get(_digest(authorization[len(_SCHEME) :].strip()))


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
