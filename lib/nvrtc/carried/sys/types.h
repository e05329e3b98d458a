/* The short names that C programs use.  SPDX-License-Identifier: MIT */
#pragma once
typedef unsigned char u_char;
typedef unsigned short u_short, ushort;
typedef unsigned int u_int, uint;
typedef unsigned long u_long, ulong;
typedef long ssize_t;
