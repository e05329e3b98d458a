/* Reports of check: text, TAP, JUnit and GitHub annotations.  SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "check.h"
#include "messages.h"
#include "session.h"
#include "show.h"

static const char *const words[] = { "PASS", "FAIL", "SKIP" };

static void totals(const check_list *list, size_t count[3])
{
    count[0] = count[1] = count[2] = 0;
    for (size_t i = 0; i < list->cases.count; i++) count[list->results[i].status]++;
}

static size_t widest_file(const check_list *list)
{
    size_t widest = 0;
    for (size_t i = 0; i < list->cases.count; i++) {
        size_t length = utf8_length(list->cases.items[i].source->path,
                                    strlen(list->cases.items[i].source->path));
        if (length > widest) widest = length;
    }
    return widest < 20 ? 20 : widest;
}

void report_begin(const check_list *list)
{
    if (list->format == CHECK_TAP) printf("TAP version 13\n1..%zu\n", list->cases.count);
    fflush(stdout);
}

static void text_case(const check_list *list, size_t index)
{
    const check_case *c = &list->cases.items[index];
    const check_result *r = &list->results[index];
    text line = { 0 };
    text_format(&line, "%s   %s", words[r->status], c->source->path);
    pad_to(&line, 7 + widest_file(list) + 3);
    text_add(&line, c->name);
    pad_to(&line, 7 + widest_file(list) + 3 + 16);
    if (r->status == CASE_PASS) text_format(&line, "%5.0f ms", r->milliseconds);
    else if (strlen(r->summary) > 100) text_format(&line, "   %.100s...", r->summary);
    else text_format(&line, "   %s", r->summary);
    puts(text_of(&line));
    fflush(stdout);
    if (r->status == CASE_FAIL) fputs(r->details, stderr);
}

/* Lines of a YAML block, indented. */
static void indented(const char *block, const char *indent)
{
    while (*block) {
        size_t length = strcspn(block, "\n");
        printf("%s%.*s\n", indent, (int)length, block);
        block += length + (block[length] != 0);
    }
}

static void tap_case(const check_list *list, size_t index)
{
    const check_case *c = &list->cases.items[index];
    const check_result *r = &list->results[index];
    printf("%s %zu - %s/%s", r->status == CASE_FAIL ? "not ok" : "ok", index + 1, c->source->path,
           c->name);
    if (r->status == CASE_SKIP) printf(" # SKIP %s", r->summary);
    putchar('\n');
    if (r->status != CASE_FAIL) return;
    puts("  ---\n  message: |");
    indented(r->details, "    ");
    puts("  ...");
    fflush(stdout);
}

static void github_case(const check_list *list, size_t index)
{
    const check_result *r = &list->results[index];
    text_case(list, index);
    if (r->status != CASE_FAIL) return;
    printf("::error file=%s", *r->file ? r->file : list->cases.items[index].source->path);
    if (r->line) printf(",line=%u", r->line);
    if (r->column) printf(",col=%u", r->column);
    printf(",title=%s/%s::", list->cases.items[index].source->path, list->cases.items[index].name);
    for (const char *s = r->summary; *s; s++) {
        if (*s == '%') fputs("%25", stdout);
        else if (*s == '\n') fputs("%0A", stdout);
        else putchar(*s);
    }
    putchar('\n');
}

void report_case(const check_list *list, size_t index)
{
    if (list->format == CHECK_TEXT && summary_stream) text_case(list, index);
    else if (list->format == CHECK_TEXT && list->results[index].status == CASE_FAIL)
        fputs(list->results[index].details, stderr);
    if (list->format == CHECK_TAP) tap_case(list, index);
    if (list->format == CHECK_GITHUB) github_case(list, index);
}

/* ---- JUnit ---- */

static void xml(const char *source)
{
    size_t length = strlen(source);
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)source[i];
        size_t step_bytes = utf8_step(source + i, length - i);
        if (c == '&') fputs("&amp;", stdout);
        else if (c == '<') fputs("&lt;", stdout);
        else if (c == '>') fputs("&gt;", stdout);
        else if (c == '"') fputs("&quot;", stdout);
        else if ((c < 32 && c != '\n' && c != '\t') || (c >= 128 && step_bytes == 1)) putchar('?');
        else fwrite(source + i, 1, step_bytes, stdout);
        i += step_bytes;
    }
}

static void junit(const check_list *list)
{
    size_t count[3];
    double seconds = 0;
    totals(list, count);
    for (size_t i = 0; i < list->cases.count; i++) seconds += list->results[i].milliseconds / 1e3;
    puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    printf(
        "<testsuites>\n<testsuite name=\"gpulaunch\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
        list->cases.count, count[CASE_FAIL], count[CASE_SKIP], seconds);
    for (size_t i = 0; i < list->cases.count; i++) {
        const check_result *r = &list->results[i];
        fputs("<testcase classname=\"", stdout);
        xml(list->cases.items[i].source->path);
        fputs("\" name=\"", stdout);
        xml(list->cases.items[i].name);
        printf("\" time=\"%.3f\"", r->milliseconds / 1e3);
        if (r->status == CASE_PASS) {
            puts("/>");
            continue;
        }
        printf("><%s message=\"", r->status == CASE_FAIL ? "failure" : "skipped");
        xml(r->summary);
        if (r->status == CASE_SKIP) {
            puts("\"/></testcase>");
            continue;
        }
        fputs("\">", stdout);
        xml(r->details);
        puts("</failure></testcase>");
    }
    puts("</testsuite>\n</testsuites>");
}

void report_end(const check_list *list)
{
    size_t count[3];
    totals(list, count);
    if (list->format == CHECK_JUNIT) junit(list);
    bool people = (list->format == CHECK_TEXT || list->format == CHECK_GITHUB) && summary_stream;
    if (people)
        printf("%zu case%s: %zu passed, %zu failed, %zu skipped\n", list->cases.count,
               list->cases.count == 1 ? "" : "s", count[CASE_PASS], count[CASE_FAIL],
               count[CASE_SKIP]);
    fflush(stdout);
}
