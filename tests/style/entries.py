#!/usr/bin/env python3
"""The table of Driver API entries: which there are, and who calls them.  SPDX-License-Identifier: MIT

Usage: entries.py SOURCE_ROOT [--update]

Read from lib/driver/driver.def and the sources, and compared with docs/entries.md; --update writes that
page.  Exit 0: equal; 1: they differ.
"""
import pathlib
import re
import sys

HEAD = """# Driver API entries

Every entry of the Driver API in the library's table, in its order, with the files of lib/ that call it. *needed* entries are in
drivers of CUDA 11.2 and the library does not start without them; the others may be missing, and who calls them then refuses with a
sentence or goes on without. The number is the driver's release that brought the entry, where that is after 11.2. *CPU*: the CPU device
answers it too, the others with 801. Entries that nobody calls are there for the CPU device and for tests.

This page is made by `tests/style/entries.py . --update`, and a test compares it.

| entry | | CPU | called in lib/ |
|---|---|---|---|
"""


def rows(root):
    heading = None
    for line in (root / "lib/driver/driver.def").read_text().splitlines():
        found = re.match(r"X0?\((\w+),\s*(\w+),\s*(NEED|WANT)", line)
        if found:
            since = re.search(r"/\* (\d+\.\d+)", line)
            yield heading, *found.groups(), since.group(1) if since else ""
        elif line.startswith("/* ") and line.endswith("*/"):
            heading = line[3:-3]


def sources(root):
    for folder in ("driver", "core", "cpu"):
        for path in sorted((root / "lib" / folder).glob("*.[ch]")):
            if re.match(r"(record|fault|trace|table)", path.name):
                continue
            yield path.relative_to(root / "lib").as_posix(), path.read_text()


def page(root):
    texts = dict(sources(root))
    on_cpu = set(re.findall(r"CPU_HAS_(\w+) 1", texts["cpu/entries.h"]))
    lines, last = [], None
    for heading, field, symbol, need, since in rows(root):
        called = re.compile(rf"(->|\.){field}\s*\(|GPUL__(CALL|TAKE)\(\s*[^,]+,\s*{field}\b")
        users = [name for name, text in texts.items() if not name.startswith("cpu/") and called.search(text)]
        if heading != last:
            lines.append(f"| **{heading}** | | | |")
            last = heading
        state = "needed" if need == "NEED" else since
        lines.append(f"| {symbol} | {state} | {'CPU' if field in on_cpu else ''} | {', '.join(users)} |")
    if len(lines) < 150:
        sys.exit("the table could not be read")
    return HEAD + "\n".join(lines) + "\n"


root = pathlib.Path(sys.argv[1])
target, now = root / "docs/entries.md", page(root)
if "--update" in sys.argv:
    target.write_text(now)
elif not target.exists() or target.read_text() != now:
    sys.exit("docs/entries.md is not what the sources say: run tests/style/entries.py . --update")
