"""Play the journal of a scheduler again (tutti scheduler --journal DIR), and say how things stood.

Every turn is decided anew from what the scheduler had heard by then, and compared with what it did.
Times are seconds from the beginning of a segment.

  tutti replay DIR                                          does the same come out again?
  tutti replay DIR --until 12.5 --root PodGroup/default/train    how did it stand with it then?
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tutti.cli import output
from tutti.cli.output import Trouble

if TYPE_CHECKING:
    from tutti.engine.journal import Step


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "journal", type=Path, metavar="DIR", help="the folder, or one segment of it"
    )
    parser.add_argument("--until", type=float, metavar="SECONDS", help="stop there")
    parser.add_argument("--root", metavar="KIND/NAMESPACE/NAME", help="show how it stands with it")
    parser.add_argument("--actions", action="store_true", help="show what was done, line by line")


def run(args: argparse.Namespace) -> int:
    outcomes = [_replayed(file, args) for file in _segments(args.journal)]
    return 0 if all(outcomes) else 1


def _segments(journal: Path) -> list[Path]:
    from tutti.controllers.journal import segments

    if journal.is_file():
        return [journal]
    found = segments(journal)
    if not found:
        raise Trouble(f"{journal} is no journal: there is no segment in it")
    return found


def _replayed(file: Path, args: argparse.Namespace) -> bool:
    """Play one segment, say what there is to say, and whether it came out as it was."""
    import msgspec

    from tutti.engine.journal import Replay

    began = _first_moment(file)
    until = None if args.until is None else began + args.until
    turns = actions = 0
    differs = None
    with file.open("rb") as lines:
        replay = Replay(lines)
        try:
            for step in replay.steps(until):
                turns += 1
                actions += len(step.actions)
                if args.actions:
                    print("\n".join(_told(step, began)))
                if not step.same and differs is None:
                    differs = step.at - began
        except msgspec.DecodeError as error:
            raise Trouble(f"{file} is no segment of a journal: {error}") from error
    wrong = replay.engine.check()
    outcome = "as it was" if differs is None else f"otherwise from second {differs:.3f} on"
    print(f"{file.name}: {turns:,} turns, {actions:,} actions: {outcome}")
    for sentence in wrong:
        print(f"  the columns don't agree with the objects: {sentence}")
    if args.root:
        report = replay.engine.explain(args.root)
        print(output.as_json(msgspec.to_builtins(report)) if report else f"no {args.root} is known")
    return differs is None and not wrong


def _told(step: "Step", began: float) -> Iterator[str]:
    import msgspec

    for action in step.actions:
        yield f"{step.at - began:10.3f} {msgspec.json.encode(action).decode()}"


def _first_moment(file: Path) -> float:
    """The time of a segment's first event or turn; a journal's clock begins anywhere."""
    import msgspec

    class Timed(msgspec.Struct):
        at: float | None = None

    with file.open("rb") as lines:
        for line in lines:
            try:
                at = msgspec.json.decode(line, type=Timed).at
            except msgspec.DecodeError as error:
                raise Trouble(f"{file} is no segment of a journal: {error}") from error
            if at is not None:
                return at
    return 0.0
