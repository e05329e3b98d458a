/* Prints docs/errors.md from the library's own table; a test compares the two.
 * SPDX-License-Identifier: MIT */
#include <gpulaunch/gpulaunch.h>
#include <stdio.h>

static void part(const char *title, const char *text)
{
    if (!text || !*text) return;
    printf("%s: ", title);
    for (; *text; text++) {
        putchar(*text);
        if (*text == '\n' && text[1]) fputs("  ", stdout);
    }
    puts("\n");
}

int main(void)
{
    puts(
        "# Errors\n\n"
        "Every error has a stable code, a layer and a status; `gpulaunch explain GL0703` shows one entry.\n"
        "The first two digits are the group: 01 cli, 02 directive, 03 args, 04 file, 05 compile, 06 image,\n"
        "load and symbol, 07 launch, 08 execute and memory, 09 check, 10 environment, 11 bench, 12 cache,\n"
        "99 internal.  This page is made by tests/style/errors_page.c from lib/core/explain.def.\n");
    for (size_t i = 0; gpul_code_at(i); i++) {
        const gpul_code_info *c = gpul_code_at(i);
        printf("## GL%04d: %s\n\nLayer %s; %s.\n\n%s\n\n", c->code, c->title,
               gpul_layer_text(c->layer), gpul_status_text(c->status), c->meaning);
        part("Causes", c->causes);
        part("Remedy", c->remedy);
    }
    return 0;
}
