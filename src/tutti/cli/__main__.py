"""`python -m tutti.cli` is `tutti`: how one of our processes starts another with the same Python."""

import sys

from tutti.cli.main import main

sys.exit(main())
