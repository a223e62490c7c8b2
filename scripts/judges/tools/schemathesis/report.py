"""What Schemathesis did. Whatever it left out is a failure, too."""

import json
from pathlib import Path

report = json.loads(Path("report.json").read_text())
phases, operations, cases = report["phases"], report["operations"], report["test_cases"]
for name, phase in phases.items():
    assert phase["status"] == "success", f"{name}: {phase['status']}"
assert operations["tested"] == operations["total"] > 0, operations
assert cases["with_failures"] + cases["errored"] == 0, cases
print(f"{cases['generated']} cases ({', '.join(phases)}) on {operations['tested']} operations")
