/* Bench results as JSON.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_BENCH_JSON_H
#define TOOLS_BENCH_JSON_H

#include "bench.h"

bool write_bench_json(FILE *to, const bench_report *r); /* a message when it is not possible */

#endif
