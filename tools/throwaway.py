"""A real control plane for as long as a test, a measurement or a look at its schemas takes.

with throwaway.plane(binaries, folder) as plane:
    plane.request("GET", "/version"), plane.kubeconfig("admin")
"""

import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.cli.credentials import Credentials, make


@dataclass(frozen=True, slots=True)
class Plane:
    url: str
    credentials: Credentials

    def kubeconfig(self, who: str) -> Path:
        return self.credentials.kubeconfig(who)

    def request(self, method: str, path: str, body: object = None) -> Any:
        """One request as admin; raises urllib.error.HTTPError for what isn't a success."""
        question = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.credentials.token('admin')}",
                "Content-Type": "application/json",
            },
        )
        trusted = ssl.create_default_context(cafile=self.credentials.authority)
        with urllib.request.urlopen(question, context=trusted, timeout=30) as answer:
            return json.load(answer)


@contextmanager
def plane(
    binaries: Path,
    folder: Path,
    *,
    companions: Sequence[str] = (),
    durable: bool = False,
    gates: str = "",
) -> Iterator[Plane]:
    """Ready when it is handed over; gone, with all that it started, when the block is left.

    `companions` are kube-controller-manager and kube-scheduler, where wanted. Without `durable`
    etcd doesn't sync to disk: quicker, and nothing here is to outlive the machine. `gates` are
    feature gates that are to be other than they are here.
    """
    watched, held = os.pipe()
    pid, running = launch(binaries, folder, watched, companions, durable=durable, gates=gates)
    os.close(watched)
    try:
        yield running
    finally:
        os.close(held)
        os.waitpid(pid, 0)


def launch(
    binaries: Path,
    folder: Path,
    leash: int,
    companions: Sequence[str] = (),
    *,
    durable: bool,
    gates: str = "",
) -> tuple[int, Plane]:
    """Its process and itself; it ends when nobody holds the other end of the leash any more."""
    keys = make(folder)
    command = [
        *(sys.executable, "-m", "tutti.cli.plane", "--exit-with-parent"),
        *(f"--binaries={binaries}", f"--data-dir={folder / 'control-plane'}"),
        *(f"--tls-ca={keys.authority}", *keys.server_flags()),
        *(f"--with={name}" for name in companions),
        *([] if durable else ["--no-fsync"]),
        f"--feature-gates={gates}",
    ]
    log = folder / "plane.log"
    heard, spoken = os.pipe()
    pid = os.posix_spawn(
        sys.executable,
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, leash, 0),
            (os.POSIX_SPAWN_DUP2, spoken, 1),
            (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ],
        setpgroup=0,  # a Ctrl-C is for us: the plane ends when we let go of it
    )
    os.close(spoken)
    with open(heard) as voice:
        said = voice.readline()
    if not said:
        os.waitpid(pid, 0)
        raise RuntimeError(f"no control plane: {log.read_text()}")
    running = Plane(f"https://127.0.0.1:{int(said.removeprefix('listening: '))}", keys)
    keys.write_kubeconfigs(running.url)
    return pid, running


def main() -> None:
    build = Path(__file__).parent / "control-plane" / "build.py"
    built = subprocess.run([sys.executable, build], stdout=subprocess.PIPE, text=True, check=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        tempfile.TemporaryDirectory(prefix="tutti-plane-") as folder,
        plane(Path(built.stdout.splitlines()[-1]), Path(folder)) as running,
        suppress(KeyboardInterrupt),
    ):
        print(f"ready: {running.url} kubeconfig={running.kubeconfig('admin')}", flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
