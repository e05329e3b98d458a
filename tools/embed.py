#!/usr/bin/env python3
"""Turns text files into one C file of strings: gen_core.h becomes text_gen_core_h.

embed.py OUTPUT.c FILE...
SPDX-License-Identifier: MIT"""
import pathlib
import re
import sys

lines = ['/* Made by embed.py. */']
for path in map(pathlib.Path, sys.argv[2:]):
    codes = ','.join(str(byte) for byte in path.read_bytes() + b'\0')
    name = 'text_' + re.sub(r'\W', '_', path.name)
    lines += [f'extern const char {name}[];', f'const char {name}[] = {{{codes}}};']
pathlib.Path(sys.argv[1]).write_text('\n'.join(lines) + '\n', encoding='utf-8')
