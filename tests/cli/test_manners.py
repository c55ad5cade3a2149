"""What every process of ours does alike."""

import socket
import subprocess
import sys
from pathlib import Path


def test_a_port_that_is_taken_is_said_in_a_sentence(kubeconfig: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        flags = ["--kubeconfig", str(kubeconfig), "--port", str(port), "--log-level", "error"]
        command = ["-m", "tutti.cli", "controllers", "--controllers", "protection", *flags]
        ended = subprocess.run(
            [sys.executable, *command],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    said = f"tutti controllers: can't listen on 127.0.0.1, port {port}: Address already in use\n"
    assert (ended.returncode, ended.stderr) == (1, said)
