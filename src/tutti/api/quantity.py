"""Amounts as Kubernetes writes them: `500m`, `1.5Gi`, `3e6`.

Exact throughout: an amount is a Fraction, never a float. What is smaller than a nano is rounded up,
away from nothing, as the API server does.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

FORMAT_ERROR: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
NUMERIC_ERROR: Final = "unable to parse numeric part of quantity"
SUFFIX_ERROR: Final = "unable to parse quantity's suffix"

_SHAPE: Final = re.compile(
    r"([+-]?)([0-9]*)(?:(\.)([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)\Z", re.ASCII
)
_EXPONENT: Final = re.compile(r"[eE]([-+]?[0-9]+)\Z", re.ASCII)
_DECIMAL: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_DECIMAL_SUFFIX: Final = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BINARY_SUFFIX: Final = ("", *_BINARY)
_NANO: Final = 10**9
_MOST: Final = 2**63 - 1


@lru_cache(maxsize=65_536)
def parse(text: str) -> Fraction:
    """The exact amount. Raises ValueError with Kubernetes' sentence."""
    return _parse(text)[0]


@lru_cache(maxsize=65_536)
def base_units(resource: str, text: str) -> int:
    """The amount in what the scheduler counts: millicores for cpu, whole units else; rounded up."""
    amount = parse(text)
    if resource == "cpu":
        amount *= 1000
    return -(-amount.numerator // amount.denominator)


@lru_cache(maxsize=65_536)
def canonical(text: str) -> str:
    """The one way in which a server shows this amount: `1000m` is `1`, `1024Mi` is `1Gi`."""
    amount, style = _parse(text)
    if style == "binary":
        if amount.denominator == 1 and not -1024 < amount < 1024:
            return _binary(amount.numerator)
        style = "decimal"
    return _decimal(amount, exponent=style == "exponent")


def _parse(text: str) -> tuple[Fraction, str]:
    shape = _SHAPE.match(text)
    if not text or shape is None:
        raise ValueError(FORMAT_ERROR)
    sign, whole, _, part, suffix = shape.groups(default="")
    scale, style = _scale(suffix)
    if not whole and not part:
        raise ValueError(NUMERIC_ERROR)
    nanos = Fraction(int(whole + part or "0"), 10 ** len(part)) * scale * _NANO
    rounded = -(-nanos.numerator // nanos.denominator)
    amount = min(Fraction(rounded, _NANO), Fraction(_MOST))
    return (-amount if sign == "-" else amount), style


def _scale(suffix: str) -> tuple[Fraction, str]:
    if suffix in _DECIMAL:
        return _power(_DECIMAL[suffix]), "decimal"
    if suffix in _BINARY:
        return Fraction(1 << _BINARY[suffix]), "binary"
    exponent = _EXPONENT.match(suffix)
    if exponent is None:
        raise ValueError(SUFFIX_ERROR)
    power = int(exponent[1])
    if abs(power) > 1_000:  # far beyond what is kept, and costly to compute
        raise ValueError(SUFFIX_ERROR)
    return _power(power), "exponent"


def _power(ten: int) -> Fraction:
    return Fraction(10**ten) if ten >= 0 else Fraction(1, 10**-ten)


def _decimal(amount: Fraction, *, exponent: bool) -> str:
    if amount == 0:
        return "0"
    power = 0
    while amount.denominator != 1:
        amount *= 1000
        power -= 3
    number = amount.numerator
    while number % 1000 == 0 and power < 18:
        number //= 1000
        power += 3
    if exponent:
        return f"{number}e{power}" if power else str(number)
    return f"{number}{_DECIMAL_SUFFIX[power]}"


def _binary(number: int) -> str:
    step = 0
    while number % 1024 == 0 and step < len(_BINARY_SUFFIX) - 1:
        number //= 1024
        step += 1
    return f"{number}{_BINARY_SUFFIX[step]}"
