#!/usr/bin/env python3
"""Turns the headers of carried/ into one C file: a table of names and texts.  Comments stay out.

embed.py OUTPUT.c FOLDER FILE...
SPDX-License-Identifier: MIT"""
import pathlib
import re
import sys

output, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
lines = ['/* Made by embed.py from lib/nvrtc/carried. */', '#include "nvrtc/headers.h"', '']
table = []
for number, path in enumerate(sorted(sys.argv[3:])):
    text = re.sub(r'/\*.*?\*/\n?', '', pathlib.Path(path).read_text(encoding='utf-8'), flags=re.S)
    codes = ','.join(str(byte) for byte in text.encode('utf-8') + b'\0')
    lines.append(f'static const char text_{number}[] = {{{codes}}};')
    name = pathlib.Path(path).resolve().relative_to(folder.resolve()).as_posix()
    table.append(f'    {{ "{name}", text_{number} }},')
lines += ['', 'const gpul__carried_header gpul__carried[] = {', *table, '};',
          f'const size_t gpul__carried_count = {len(table)};', '']
output.write_text('\n'.join(lines), encoding='utf-8')
