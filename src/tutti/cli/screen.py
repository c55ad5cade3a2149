"""Where a picture is shown: redrawn in place on a terminal, written once elsewhere."""

import os
import shutil
from typing import TextIO

HOME_AND_CLEAR = "\x1b[H\x1b[J"


class Screen:
    """`is_live`: what is drawn can be drawn over. `colour`: people want colours and can see them."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self.is_live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.colour = self.is_live and not os.environ.get("NO_COLOR")
        self._shown: list[str] = []

    @property
    def width(self) -> int:
        return shutil.get_terminal_size().columns if self.is_live else 160

    def draw(self, lines: list[str]) -> None:
        """The whole picture anew, if it is another one than is there."""
        if lines != self._shown:
            self._shown = lines
            text = "".join(f"{line}\n" for line in lines)
            self._out.write((HOME_AND_CLEAR if self.is_live else "") + text)
            self._out.flush()
