/* What follows from a message's number.  SPDX-License-Identifier: MIT */
#include "codes.h"

int exit_status_of(int code)
{
    if (code == CODE_EXECUTE_TIMEOUT) return EXIT_TIMEOUT;
    if (code == CODE_COMPILE_OPTION)
        return EXIT_USAGE; /* a word of the command line, not the source */
    switch (code / 100) {
    case 1:
    case 2:
    case 3:
    case 7: return EXIT_USAGE;
    case 5:
    case 6: return EXIT_SOURCE;
    case 8:
    case 10: return EXIT_DEVICE;
    case 4:
    case 12: return EXIT_FILE;
    case 9: return EXIT_CHECK;
    case 11: return code == CODE_BENCH_SLOWER || code == CODE_BENCH_NOISE ? EXIT_CHECK : EXIT_USAGE;
    default: return EXIT_BUG;
    }
}

const char *layer_of(int code)
{
    switch (code / 100) {
    case 1: return "cli";
    case 2: return "directive";
    case 3: return "args";
    case 4: return "file";
    case 5: return "compile";
    case 6:
        if (code == 601 || code == 606 || code == 607) return "image";
        return code >= 608 && code <= 611 ? "symbol" : "load";
    case 7: return "launch";
    case 8:
        if (code == 804 || (code >= 810 && code <= 815)) return "memory";
        return "execute";
    case 9: return "check";
    case 10: return "environment";
    case 11: return "bench";
    case 12: return "cache";
    default: return "internal";
    }
}
