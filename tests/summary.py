#!/usr/bin/env python3
"""Adds up what the test programs said.  SPDX-License-Identifier: MIT

Usage: summary.py BUILD_FOLDER STATUS_OF_MESON_TEST

Each program of the suites ends with 'N passed, N failed, N skipped'; one without that line counts as
a single test.  Every failure and the reason of every skip are shown.  The exit status is 1 when
anything failed, when a program ended badly whatever it printed, or when nothing was run.
"""
import json
import pathlib
import re
import sys

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)


def main():
    build = pathlib.Path(sys.argv[1])
    status = int(sys.argv[2])
    log = build / "meson-logs" / "testlog.json"
    passed = failed = skipped = 0
    reasons = {}
    if log.exists():
        for line in log.read_text(errors="replace").splitlines():
            test = json.loads(line)
            name, result = test["name"], test["result"]
            output = test.get("stdout", "")
            counts = COUNTS.findall(output)
            good = result in ("OK", "SKIP", "EXPECTEDFAIL")
            if counts:
                p, f, s = (int(sum(int(c[i]) for c in counts)) for i in range(3))
            else:
                p, f, s = int(result == "OK"), 0, int(result == "SKIP")
            if not good and f == 0:
                f = 1
            passed, failed, skipped = passed + p, failed + f, skipped + s
            if not good:
                print(f"FAILED {name} ({result})")
                text = (output + "\n" + test.get("stderr", "")).strip().splitlines()
                for row in text[-60:]:
                    print("    " + row)
            if s:
                found = re.findall(r"^\s*SKIP: *(.*)", output + test.get("stderr", ""), re.M)
                for why in found or ["no reason given"]:
                    reasons.setdefault(why.strip(), set()).add(name)
    for why, names in sorted(reasons.items()):
        shown = ", ".join(sorted(names)[:6]) + (" ..." if len(names) > 6 else "")
        print(f"skipped: {why}   [{shown}]")
    if passed + failed + skipped == 0:
        print("no test was run", file=sys.stderr)
        failed = 1
    if status != 0 and failed == 0:
        print(f"meson test ended with status {status}", file=sys.stderr)
        failed = 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
