/* What follows from a message's number.  SPDX-License-Identifier: MIT */
#include "codes.h"

#include <gpulaunch/gpulaunch.h>

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
    const gpul_code_info *info = gpul_code_find(code);
    return info ? gpul_layer_text(info->layer) : gpul_layer_text(GPUL_LAYER_INTERNAL);
}
