"""The programs of a real control plane that a folder holds, and whether their versions will do.

Standard library only: `tools/control-plane/build.py` reads this before there is any environment.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

KUBERNETES = (1, 37)
OLDEST_ETCD = (3, 5)

REQUIRED = ("etcd", "kube-apiserver")
OPTIONAL = ("kube-controller-manager", "kube-scheduler", "kubectl")

Version = tuple[int, int, int]


class Unusable(Exception):
    """A folder was named that can't serve as a control plane; the message says what is wrong with it."""


def folder_from(environment: Mapping[str, str]) -> Path | None:
    """The folder of ready-made programs that the user points at: ours by name, or envtest's."""
    for variable in ("TUTTI_CONTROL_PLANE", "KUBEBUILDER_ASSETS"):
        if environment.get(variable):
            return Path(environment[variable]).absolute()
    return None


def cache_folder(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tutti"


def missing(folder: Path) -> list[str]:
    """The optional programs that the folder lacks; without a required one it is refused.

    Programs of another version than Tutti is made for are refused, too.
    """
    if not folder.is_dir():
        raise Unusable(f"{folder} is not a folder")
    absent = [name for name in (*REQUIRED, *OPTIONAL) if not os.access(folder / name, os.X_OK)]
    present = [name for name in (*REQUIRED, *OPTIONAL) if name not in absent]
    wrong = [
        *(f"{name} is missing" for name in REQUIRED if name in absent),
        *filter(None, (_complaint(name, version(folder / name)) for name in present)),
    ]
    if wrong:
        raise Unusable(f"no control plane in {folder}: {', '.join(wrong)}")
    return absent


def version(program: Path) -> Version:
    """What the program says of itself; remembered for as long as the file stays as it is."""
    memory = cache_folder(os.environ) / "versions.json"
    known = _read(memory)
    stat = program.stat()
    key = f"{program.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    if key not in known:
        known[key] = list(_ask(program))
        _write(memory, known)
    major, minor, patch = known[key]
    return major, minor, patch


def _complaint(name: str, found: Version) -> str | None:
    said = ".".join(map(str, found))
    if name == "etcd":
        wanted, fits = f"{_dotted(OLDEST_ETCD)} or newer", found >= OLDEST_ETCD
    else:
        wanted, fits = _dotted(KUBERNETES), found[:2] == KUBERNETES
    return None if fits else f"{name} is {said} (needed: {wanted})"


def _ask(program: Path) -> Version:
    arguments = ["version", "--client"] if program.name == "kubectl" else ["--version"]
    try:
        answer = subprocess.run(
            [program, *arguments], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unusable(f"{program} does not run: {error}") from error
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", answer.stdout)
    if not found:
        raise Unusable(f"{program} does not say which version it is")
    return int(found[1]), int(found[2]), int(found[3])


def _read(memory: Path) -> dict[str, list[int]]:
    try:
        known = json.loads(memory.read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write(memory: Path, known: dict[str, list[int]]) -> None:
    memory.parent.mkdir(parents=True, exist_ok=True)
    draft = memory.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(known))
    draft.replace(memory)


def _dotted(parts: tuple[int, ...]) -> str:
    return ".".join(map(str, parts))
