"""Where the models are that tests and benchmarks read and the repository does not ship: the folder
that ARENAUT_CORPUS names, else ../shared/corpus beside the checkout. FOLDER.is_dir() says whether
it is there. The C tests follow the same rule (tests/support/corpus.h)."""

import os
from pathlib import Path

_BESIDE = Path(__file__).parents[2] / "shared" / "corpus"
# An empty value means none, and the path of a file that is no folder stands for that.
FOLDER = Path(os.environ.get("ARENAUT_CORPUS", _BESIDE) or os.devnull)
HINT = "skipped: set ARENAUT_CORPUS=FOLDER"
