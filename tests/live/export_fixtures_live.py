#!/usr/bin/env python3
"""export_fixtures_live.py: the fixtures of the exporter on ONNX Runtime too (tests/export/export_cases.py --ort)."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.exit(subprocess.run([sys.executable, str(ROOT / "tests" / "export" / "export_cases.py"), os.environ["ANYSHAPE"],
                         str(ROOT / "tests" / "fixtures" / "export"), "--ort", "--expected",
                         str(ROOT / "tests" / "export" / "expected_failures.txt")]).returncode)
