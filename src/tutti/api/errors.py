"""What can go wrong between a client and a Kubernetes API, as one tree.

    ApiError                     the server answered: code, reason, message, details of a v1 Status
    ├── BadRequest 400   ├── Unauthorized 401      ├── Forbidden 403         ├── NotFound 404
    ├── MethodNotAllowed 405  ├── NotAcceptable 406
    ├── AlreadyExists 409     ├── Conflict 409
    ├── Gone 410         └── Expired 410           (a version that history no longer holds)
    ├── TooLarge 413     ├── UnsupportedMediaType 415
    ├── Invalid 422                                (carries one cause per field error)
    ├── TooManyRequests 429   ├── InternalError 500
    ├── ServiceUnavailable 503    ├── Timeout 504  └── InsufficientStorage 507
    Unanswered                   it is not known whether the server did it
    └── Unreachable              it is known that the request was never sent

The server raises these and answers with `status()`; the client makes them again with `from_status`.
Texts are those of Kubernetes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from typing import Any, ClassVar, Final, Self

import msgspec

Details = dict[str, Any]
"""The `details` of a Status: name, group, kind, uid, causes, retryAfterSeconds."""


class ApiError(Exception):
    """An answer with a Status of failure."""

    code: int = 500
    reason: str = ""
    prefix: ClassVar[str] = ""

    def __init__(
        self,
        message: str,
        details: Details | None = None,
        *,
        code: int | None = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details: Details = {} if details is None else details
        self._shows_details = details is not None
        if code is not None:
            self.code = code
        if reason is not None:
            self.reason = reason

    def status(self) -> dict[str, Any]:
        """This error as the v1 Status that goes over the wire."""
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self._shows_details:
            status["details"] = self.details
        status["code"] = self.code
        return status

    @property
    def causes(self) -> list[dict[str, str]]:
        return list(self.details.get("causes") or ())

    @property
    def retry_after(self) -> int | None:
        """Seconds after which the server asks to be asked again."""
        return self.details.get("retryAfterSeconds")


class BadRequest(ApiError):
    code, reason = 400, "BadRequest"


class Unauthorized(ApiError):
    code, reason = 401, "Unauthorized"

    def __init__(self, message: str = "Unauthorized", details: Details | None = None) -> None:
        super().__init__(message, details)


class Forbidden(ApiError):
    code, reason = 403, "Forbidden"

    @classmethod
    def of(cls, resource: str, name: str, why: str) -> Self:
        """`resource` is plural and qualified, as in `podgroups.scheduling.k8s.io`."""
        subject = f'{resource} "{name}"' if name else resource
        return cls(f"{subject} is forbidden: {why}", _about(resource, name))


class NotFound(ApiError):
    code, reason = 404, "NotFound"

    @classmethod
    def of(cls, resource: str, name: str) -> Self:
        return cls(f'{resource} "{name}" not found', _about(resource, name))

    @classmethod
    def path(cls) -> Self:
        """There is nothing of that path at all."""
        return cls("the server could not find the requested resource", {})


class MethodNotAllowed(ApiError):
    code, reason = 405, "MethodNotAllowed"

    @classmethod
    def path(cls) -> Self:
        return cls("the server does not allow this method on the requested resource", {})


class NotAcceptable(ApiError):
    code, reason = 406, "NotAcceptable"


class AlreadyExists(ApiError):
    code, reason = 409, "AlreadyExists"

    @classmethod
    def of(cls, resource: str, name: str) -> Self:
        return cls(f'{resource} "{name}" already exists', _about(resource, name))


MODIFIED: Final = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class Conflict(ApiError):
    code, reason = 409, "Conflict"

    @classmethod
    def of(cls, resource: str, name: str, why: str = MODIFIED) -> Self:
        message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
        return cls(message, _about(resource, name))


class Gone(ApiError):
    code, reason = 410, "Gone"


class Expired(Gone):
    reason = "Expired"


class TooLarge(ApiError):
    code, reason = 413, "RequestEntityTooLarge"

    @classmethod
    def over(cls, limit: int) -> Self:
        return cls(f"Request entity too large: limit is {limit}")


class UnsupportedMediaType(ApiError):
    code, reason = 415, "UnsupportedMediaType"


class Invalid(ApiError):
    code, reason = 422, "Invalid"

    @classmethod
    def of(cls, kind: str, name: str, errors: Sequence[FieldError]) -> Self:
        """`kind` is qualified, as in `PodGroup.scheduling.k8s.io`; core kinds stand alone."""
        message = f'{kind} "{name}" is invalid'
        sentences = list(dict.fromkeys(error.sentence for error in errors))
        if len(sentences) == 1:
            message += f": {sentences[0]}"
        elif sentences:
            message += f": [{', '.join(sentences)}]"
        details = _about(kind, name)
        details["causes"] = [error.cause() for error in errors]
        return cls(message, details)


class TooManyRequests(ApiError):
    code, reason = 429, "TooManyRequests"


class InternalError(ApiError):
    code, reason = 500, "InternalError"

    @classmethod
    def because(cls, why: str) -> Self:
        return cls(f"Internal error occurred: {why}", {"causes": [{"message": why}]})


class ServiceUnavailable(ApiError):
    code, reason = 503, "ServiceUnavailable"


class Timeout(ApiError):
    code, reason = 504, "Timeout"


class InsufficientStorage(ApiError):
    code, reason = 507, "InsufficientStorage"


class Unanswered(Exception):
    """No answer came: time-out, reset. Whether the server did it must be found out by looking."""


class Unreachable(Unanswered):
    """The request was never sent, so that it certainly was not done."""


def from_status(code: int, body: bytes) -> ApiError:
    """The error that an answer with this code and body stands for; any body will do."""
    try:
        status = msgspec.json.decode(body)
    except msgspec.DecodeError:
        status = None
    if not isinstance(status, dict) or status.get("kind") != "Status":
        text = body[:512].decode(errors="replace").strip()
        return _of_code(code, text or _phrase(code), "", None)
    details = status.get("details")
    return _of_code(
        code,
        str(status.get("message") or _phrase(code)),
        str(status.get("reason") or ""),
        details if isinstance(details, dict) else None,
    )


def _of_code(code: int, message: str, reason: str, details: Details | None) -> ApiError:
    kind = _BY_REASON.get(reason)
    if kind is None or kind.code != code:
        kind = _BY_CODE.get(code, ApiError)
    error = kind(message, details)
    error.code = code
    error.reason = reason or kind.reason
    return error


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return f"status {code}"


_KINDS: Final[tuple[type[ApiError], ...]] = (
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    NotAcceptable,
    Conflict,
    AlreadyExists,
    Expired,
    Gone,
    TooLarge,
    UnsupportedMediaType,
    Invalid,
    TooManyRequests,
    InternalError,
    ServiceUnavailable,
    Timeout,
    InsufficientStorage,
)
_BY_REASON: Final = {kind.reason: kind for kind in _KINDS}
_BY_CODE: Final = {kind.code: kind for kind in reversed(_KINDS)}


def _about(qualified: str, name: str) -> Details:
    kind, _, group = qualified.partition(".")
    about: Details = {}
    if name:
        about["name"] = name
    if group:
        about["group"] = group
    if kind:
        about["kind"] = kind
    return about


# -- what is wrong with one field ---------------------------------------------------------------

_WORDS: Final = {
    "FieldValueNotFound": "Not found",
    "FieldValueRequired": "Required value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueInvalid": "Invalid value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "InternalError": "Internal error",
    "FieldValueTypeInvalid": "Invalid value",
}
OMITTED: Final = object()
"""A bad value that is not to be shown."""
_WITHOUT_VALUE: Final = frozenset(
    {"FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "InternalError"}
)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with one field, in Kubernetes' words."""

    type: str
    field: str
    bad_value: Any
    detail: str

    @property
    def body(self) -> str:
        """All but the field's path."""
        text = _WORDS[self.type]
        if self.type not in _WITHOUT_VALUE and self.bad_value is not OMITTED:
            text += f": {_shown(self.bad_value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def cause(self) -> dict[str, str]:
        return {"reason": self.type, "message": self.body, "field": self.field}

    @property
    def sentence(self) -> str:
        return f"{self.field}: {self.body}"


def required(field: str, detail: str = "") -> FieldError:
    return FieldError("FieldValueRequired", field, "", detail)


def invalid(field: str, value: Any, detail: str) -> FieldError:
    return FieldError("FieldValueInvalid", field, value, detail)


def forbidden(field: str, detail: str = "") -> FieldError:
    return FieldError("FieldValueForbidden", field, "", detail)


def duplicate(field: str, value: Any, detail: str = "") -> FieldError:
    return FieldError("FieldValueDuplicate", field, value, detail)


def not_supported(field: str, value: Any, supported: Iterable[str]) -> FieldError:
    quoted = ", ".join(_shown(name) for name in supported)
    detail = f"supported values: {quoted}" if quoted else ""
    return FieldError("FieldValueNotSupported", field, value, detail)


def too_many(field: str, count: int, most: int) -> FieldError:
    noun = "item" if most == 1 else "items"
    return FieldError("FieldValueTooMany", field, count, f"must have at most {most} {noun}")


def too_long(field: str, most: int, unit: str = "bytes") -> FieldError:
    return FieldError("FieldValueTooLong", field, "", f"may not be more than {most} {unit}")


def not_found(field: str, value: Any, detail: str = "") -> FieldError:
    return FieldError("FieldValueNotFound", field, value, detail)


def _shown(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
