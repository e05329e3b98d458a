/* The library's error record as messages of the command.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "request.h"
#include "session.h"
#include "suppress.h"

/* Is it the source file, perhaps by another path? */
static bool is_source(const plan *p, const char *file)
{
    if (!p || !p->source) return false;
    if (same_text(file, p->source->path)) return true;
    char *own = realpath(p->source->path, NULL), *other = realpath(file, NULL);
    bool same = own && other && same_text(own, other);
    free(own);
    free(other);
    return same;
}

static place place_of_detail(const plan *p, const gpul_detail *d)
{
    if (!d->file || !*d->file) return (place){ 0 };
    if (!is_source(p, d->file))
        return place_source(d->file, d->line, d->column, d->end_column,
                            d->source && *d->source ? d->source : NULL);
    return place_source(p->source->path, d->line, d->column, d->end_column,
                        source_line(p->source, d->line));
}

/* Remarks of the library to programmers, which say nothing to a user of the command. */
static bool for_programmers(const char *hint)
{
    return starts_with(hint, "free this device") ||
           starts_with(hint, "open the device with .checked") || strstr(hint, "gpul_") != NULL;
}

/* A hint that names a field of the library's options names the command's option instead. */
static const char *in_options(const char *hint)
{
    static const struct {
        const char *field, *option;
    } words[] = { { ".cooperative = true", "--cooperative" },
                  { ".cluster", "--cluster" },
                  { ".shared", "--shared" } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(hint, words[i].field);
        if (at)
            hint = mem_format("%.*s%s%s", (int)(at - hint), hint, words[i].option,
                              at + strlen(words[i].field));
    }
    return hint;
}

static void add_hints(message *m, const gpul_error *e)
{
    static const char instance[] = "name the instance that is wanted, such as ";
    if (m->code == CODE_COMPILE_EMPTY && e->hint && starts_with(e->hint, instance)) {
        message_hint(m, "-k %s", shell_quoted(e->hint + strlen(instance)));
        return;
    }
    if (!e->hint || for_programmers(e->hint)) return;
    for (const char *line = e->hint; *line;) { /* several hints stand on lines of their own */
        size_t length = strcspn(line, "\n");
        message_hint(m, "%s", in_options(mem_copy(line, length)));
        line += length + (line[length] != 0);
    }
}

static void add_native(message *m, const gpul_error *e)
{
    if (e->native_kind != GPUL_NATIVE_CUDA || !e->native_name || strstr(m->text, e->native_name))
        return;
    message_note(m, "in the driver's words: %s (%d)", e->native_name, e->native);
}

/* A compiler's mistakes are messages of their own, each at its place. */
static message *from_diagnostics(const plan *p, const gpul_error *e)
{
    message *first = NULL, *last = NULL;
    for (size_t i = 0; i < e->detail_count; i++) {
        const gpul_detail *d = &e->details[i];
        place at = place_of_detail(p, d);
        if (d->severity == GPUL_NOTE && last) {
            size_t kept = strlen(d->text);
            bool log = ends_with(d->text, "; the log has them"); /* which -v shows */
            if (log) kept -= strlen("; the log has them");
            message_note_at(last, at, "%.*s%s", (int)kept, d->text,
                            log ? common.verbose ? "" : " (see them with -v)" : "");
            continue;
        }
        last = message_new(d->severity == GPUL_ERROR ? SEVERITY_ERROR : SEVERITY_WARNING,
                           d->code ? d->code : e->code, "%s", d->text);
        message_at(last, at);
        if (!first) first = last;
    }
    return first;
}

/* The engine's sentence ends in ", FILE line N, PTX line M: INSTRUCTION; COUNT threads in all".  The place is shown
 * with its source line, so the sentence keeps the count only and the instruction becomes a note. */
static const char *without_place(const char *sentence, const gpul_detail *d,
                                 const char **instruction)
{
    *instruction = NULL;
    const char *from =
        d->file && d->line ? strstr(sentence, mem_format(", %s line %u", d->file, d->line)) : NULL;
    const char *ptx = from ? strstr(from, "PTX line ") : NULL,
               *count = ptx ? strstr(ptx, "; ") : NULL;
    if (!ptx) return sentence;
    *instruction = count ? mem_copy(ptx, (size_t)(count - ptx)) : mem_dup(ptx);
    return mem_format("%.*s%s", (int)(from - sentence), sentence, count ? count : "");
}

/* "at line 15" for "at /long/way/to/saxpy.cu line 15": the message names the file already. */
static const char *in_this_file(const plan *p, const char *sentence, const char *file)
{
    const char *at = file ? strstr(sentence, mem_format(" at %s line ", file)) : NULL;
    if (!at || !is_source(p, file)) return sentence;
    return mem_format("%.*s at%s", (int)(at - sentence), sentence,
                      at + strlen(" at ") + strlen(file));
}

/* Does the record's sentence already say what the detail says, perhaps without its first word? */
static bool is_said(const gpul_error *e, const char *detail)
{
    const char *colon = strstr(detail, ": ");
    return strstr(e->message, detail) || (colon && strstr(e->message, colon + 2));
}

/* The lines of the driver's log, without the last one, which only says that there were some. */
static void add_log(message *m, const char *log)
{
    bool first = true;
    while (*log) {
        size_t length = strcspn(log, "\r\n");
        const char *line = mem_copy(log, length);
        log += length;
        log += strspn(log, "\r\n");
        if (!*line || strstr(line, "aborted due to errors")) continue;
        message_note(m, "%s%s", first ? "the driver's log: " : "", line);
        first = false;
    }
}

bool finding_message(const plan *p, const char *line)
{
    static const char mark[] = "warning: '";
    const char *sentence = strstr(line, mark), *ptx = strstr(line, " (PTX line ");
    if (!sentence || (sentence != line && sentence[-1] != ' ')) return false;
    gpul_detail at = { 0 };
    if (sentence != line) { /* FILE:LINE: before it */
        const char *colon = sentence - 2;
        while (colon > line && colon[-1] != ':') colon--;
        at.line = (uint32_t)strtoul(colon, NULL, 10);
        at.file = mem_copy(line, colon > line ? (size_t)(colon - 1 - line) : 0);
        if (!at.line) return false;
    }
    sentence += strlen("warning: ");
    if (suppression_covers(sentence, at.file, at.line, true)) return true;
    size_t length = ptx > sentence ? (size_t)(ptx - sentence) : strlen(sentence);
    message *m =
        warn(CODE_EXECUTE_FINDING, "%s", in_this_file(p, mem_copy(sentence, length), at.file));
    const char *checks = getenv("GPULAUNCH_CPU_CHECKS");
    m->requested = checks && *checks;
    message_at(m, place_of_detail(p, &at));
    if (ptx > sentence) message_note(m, "%.*s", (int)strlen(ptx + 2) - 1, ptx + 2);
    return true;
}

/* What checkers found: a message for each finding, with the earlier access behind it. */
static message *from_findings(const plan *p, const gpul_error *e)
{
    message *first = NULL, *last = NULL;
    const char *end = strstr(e->message, "': ");
    int kernel = end ? (int)(end + 3 - e->message) : 0;
    for (size_t i = 0; i < e->detail_count; i++) {
        const gpul_detail *d = &e->details[i];
        place at = place_of_detail(p, d);
        if (d->severity == GPUL_NOTE) {
            if (last) message_note_at(last, at, "%s", d->text);
            continue;
        }
        last = NULL;
        if (suppression_covers(mem_format("%.*s%s", kernel, e->message, d->text), d->file, d->line,
                               true))
            continue;
        last = message_new(d->severity == GPUL_WARNING ? SEVERITY_WARNING : SEVERITY_ERROR, e->code,
                           "%.*s%s", kernel, e->message, in_this_file(p, d->text, d->file));
        last->layer = gpul_layer_text(e->layer);
        last->requested = true;
        message_at(last, at);
        if (d->source && *d->source) message_note(last, "PTX: %s", d->source);
        if (!first) first = last;
    }
    return first;
}

bool findings_suppressed(const plan *p)
{
    const gpul_error *e = gpul_last_error();
    const char *end = strstr(e->message, "': ");
    if (e->code != CODE_EXECUTE_FINDING || !e->detail_count || !end) return false;
    for (size_t i = 0; i < e->detail_count; i++) {
        const gpul_detail *d = &e->details[i];
        if (d->severity == GPUL_ERROR &&
            !suppression_covers(
                mem_format("%.*s%s", (int)(end + 3 - e->message), e->message, d->text), d->file,
                d->line, false))
            return false;
    }
    from_findings(p, e); /* warnings among them, and the count */
    return true;
}

message *library_message(const plan *p)
{
    const gpul_error *e = gpul_last_error();
    message *findings =
        e->code == CODE_EXECUTE_FINDING && e->detail_count ? from_findings(p, e) : NULL;
    if (findings) return findings;
    bool diagnostics = false;
    for (size_t i = 0; i < e->detail_count; i++)
        diagnostics |= e->layer == GPUL_LAYER_COMPILE && e->details[i].severity == GPUL_ERROR &&
                       e->details[i].file;
    if (diagnostics) {
        message *first = from_diagnostics(p, e);
        add_hints(first, e);
        return first;
    }
    message *m = fail(e->code ? e->code : CODE_INTERNAL, "%s", e->message);
    m->layer = gpul_layer_text(e->layer);
    for (size_t i = 0; i < e->detail_count; i++) {
        const gpul_detail *d = &e->details[i];
        place at = place_of_detail(p, d);
        bool said = is_said(e, d->text);
        if (at.kind != PLACE_NONE && at.line && m->at.kind == PLACE_NONE &&
            d->severity == GPUL_ERROR) {
            message_at(m, at);
            const char *instruction;
            m->text = without_place(m->text, d, &instruction);
            said = said || strstr(m->text, d->text);
            m->text = in_this_file(p, m->text, d->file);
            if (instruction) message_note(m, "%s", instruction);
            if (said) continue;
        } else if (said && at.kind == PLACE_NONE) {
            continue;
        }
        message_note_at(m, at, "%s", in_this_file(p, d->text, d->file));
    }
    add_native(m, e);
    if (e->layer == GPUL_LAYER_LOAD || e->layer == GPUL_LAYER_IMAGE) add_log(m, e->log);
    add_hints(m, e);
    return m;
}
