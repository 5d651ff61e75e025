"""Tests that need libarenaut-replay.so in front of the C library: ../pytest/test_torch_client.py runs
them so, in one process; otherwise they are not collected."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
for folder in (ROOT / "tests" / "models", ROOT / "python"):
    sys.path.insert(0, str(folder))

if "arenaut-replay" not in os.environ.get("LD_PRELOAD", ""):
    collect_ignore_glob = ["test_*.py"]
