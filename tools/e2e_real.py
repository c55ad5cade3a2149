"""Run the tests that want a real API server: `make e2e-real`. What follows is for pytest.

The programs are built first, where they never were. Where that can't be, because no Go module
registry answers, the tests count as skipped, which one line says; under CI=true that is a failure,
so that a green run means that a real API server was there. TUTTI_E2E_REAL=off says that none is
wanted.
"""

import os
import subprocess
import sys
from pathlib import Path

BUILD = Path(__file__).parent / "control-plane" / "build.py"
NOTHING_TO_BUILD_FROM = 69


def main() -> int:
    if os.environ.get("TUTTI_E2E_REAL") == "off":
        return skipped("TUTTI_E2E_REAL is off")
    built = subprocess.run([sys.executable, BUILD], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode == NOTHING_TO_BUILD_FROM:
        if os.environ.get("CI") == "true":
            print("e2e-real: failed: in CI there must be a real API server, or TUTTI_E2E_REAL=off")
            return 1
        return skipped("there is no real control plane, and nothing to build one from")
    if built.returncode:
        return built.returncode
    os.environ["TUTTI_CONTROL_PLANE"] = built.stdout.splitlines()[-1]
    return subprocess.call([sys.executable, "-m", "pytest", "-m", "real", *sys.argv[1:]])


def skipped(why: str) -> int:
    print(f"e2e-real: skipped: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
