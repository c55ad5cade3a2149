"""The scheduling loop without its loop: events in, actions out."""

from tutti.engine.engine import Engine
from tutti.engine.settings import Settings

__all__ = ["Engine", "Settings"]
