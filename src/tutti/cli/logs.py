"""Log lines of our processes: one line an entry, on stderr, the values beside the message."""

import logging
import sys

_KNOWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class Line(logging.Formatter):
    def format(  # type: ignore[explicit-override]  # Python 3.12 has it
        self, record: logging.LogRecord
    ) -> str:
        values = {k: v for k, v in vars(record).items() if k not in _KNOWN}
        beside = "".join(f" {name}={_shown(value)}" for name, value in values.items())
        time = self.formatTime(record, "%H:%M:%S")
        line = f"{time} {record.levelname.lower()} {record.getMessage()}{beside}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def to_stderr(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Line())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def _shown(value: object) -> str:
    text = str(value)
    return repr(text) if not text or any(c.isspace() for c in text) else text
