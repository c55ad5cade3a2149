"""How long ago, as Kubernetes' tables say it: two units at most, and coarser with age."""

from datetime import UTC, datetime

UNKNOWN = "<unknown>"


def since(timestamp: str | None, now: datetime) -> str:
    """The age of an RFC 3339 time stamp."""
    if not timestamp:
        return UNKNOWN
    return human((now - parse(timestamp)).total_seconds())


def parse(timestamp: str) -> datetime:
    """An RFC 3339 time stamp as a moment in UTC."""
    return datetime.fromisoformat(timestamp).astimezone(UTC)


def stamp(moment: datetime) -> str:
    """A moment as `metadata` has it: whole seconds in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def human(seconds: float) -> str:
    """A length of time in one or two units."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    years = days // 365
    if whole < 60 * 2:
        return f"{whole}s"
    if minutes < 10:
        return _two(minutes, "m", whole % 60, "s")
    if minutes < 60 * 3:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 365 * 2:
        return f"{days}d"
    if days < 365 * 8:
        return _two(years, "y", days % 365, "d")
    return f"{years}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"
