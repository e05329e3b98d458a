/* Setting host code aside.  SPDX-License-Identifier: MIT */
#include "core/source_host.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

bool gpul__is_host_header(const char *name, size_t length)
{
    static const char *const names[] = {
        "algorithm",
        "any",
        "array",
        "atomic",
        "barrier",
        "bit",
        "bitset",
        "charconv",
        "chrono",
        "codecvt",
        "compare",
        "complex",
        "concepts",
        "condition_variable",
        "coroutine",
        "deque",
        "exception",
        "execution",
        "expected",
        "filesystem",
        "format",
        "forward_list",
        "fstream",
        "functional",
        "future",
        "initializer_list",
        "iomanip",
        "ios",
        "iosfwd",
        "iostream",
        "istream",
        "iterator",
        "latch",
        "list",
        "locale",
        "map",
        "memory",
        "memory_resource",
        "mutex",
        "new",
        "numbers",
        "numeric",
        "optional",
        "ostream",
        "print",
        "queue",
        "random",
        "ranges",
        "ratio",
        "regex",
        "scoped_allocator",
        "semaphore",
        "set",
        "shared_mutex",
        "source_location",
        "span",
        "sstream",
        "stack",
        "stdexcept",
        "stop_token",
        "streambuf",
        "string",
        "string_view",
        "strstream",
        "syncstream",
        "system_error",
        "thread",
        "tuple",
        "typeindex",
        "typeinfo",
        "unordered_map",
        "unordered_set",
        "valarray",
        "variant",
        "vector",
        "version",
        "cctype",
        "cerrno",
        "cfenv",
        "clocale",
        "csetjmp",
        "csignal",
        "cstdarg",
        "cwchar",
        "cwctype",
        "ctype.h",
        "errno.h",
        "fenv.h",
        "locale.h",
        "setjmp.h",
        "signal.h",
        "stdarg.h",
        "wchar.h",
        "complex.h",
        "tgmath.h",
        "threads.h",
        "unistd.h",
        "fcntl.h",
        "getopt.h",
        "dirent.h",
        "pthread.h",
        "sched.h",
        "semaphore.h",
        "dlfcn.h",
        "malloc.h",
        "strings.h",
        "omp.h",
        "mpi.h",
        "windows.h",
        "sys/time.h",
        "sys/stat.h",
        "sys/wait.h",
        "sys/mman.h",
        "sys/socket.h",
        "sys/resource.h",
        "sys/ioctl.h",
        "cublas_v2.h",
        "cublas.h",
        "cufft.h",
        "curand.h",
        "cusparse.h",
        "cusolverDn.h",
        "cudnn.h",
        "nccl.h",
        "nvrtc.h",
        "cuda_profiler_api.h",
        "cudaProfiler.h",
        "nvToolsExt.h",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(name, names[i], length) == 0) return true;
    return (length > 7 && memcmp(name, "thrust/", 7) == 0) ||
           (length > 6 && memcmp(name, "nvtx3/", 6) == 0) ||
           (length > 6 && memcmp(name, "boost/", 6) == 0);
}

/* What has a name: the declarations, and behind them the macros of the text. */
struct finder {
    gpul__host_code *out;
    gpul__arena *arena;
    const gpul__scan *scan;
    const gpul__tokens *tokens;
    size_t length; /* of the source: what is behind it belongs to headers */
    size_t *macros, macro_count, macro_capacity; /* tokens of #define */
    bool *reached;                               /* of each node */
    size_t *queue, queue_first, queue_end;
    size_t *table, table_size; /* nodes by name: index + 1 */
    size_t *same_name;         /* the next node of the same name: index + 1 */
    bool failed;
};

static const char *text_of(const struct finder *f, size_t token)
{
    return f->tokens->text + f->tokens->items[token].offset;
}

static size_t word_length(const char *at, const char *end)
{
    size_t length = 0;
    while (at + length < end && (isalnum((unsigned char)at[length]) || at[length] == '_')) length++;
    return length;
}

static size_t name_of(const struct finder *f, size_t node, const char **name)
{
    if (node < f->scan->count) {
        size_t token = f->scan->decls[node].name;
        /* Operators are not called by name. */
        if (token == GPUL__NO_TOKEN || gpul__token_is(f->tokens, token, "operator")) return 0;
        *name = text_of(f, token);
        return f->tokens->items[token].length;
    }
    size_t left;
    if (!gpul__directive_is(f->tokens->text, &f->tokens->items[f->macros[node - f->scan->count]],
                            "define", name, &left))
        return 0;
    return word_length(*name, *name + left);
}

static size_t slot_of(const struct finder *f, const char *name, size_t length)
{
    size_t slot = (size_t)gpul__hash(name, length) & (f->table_size - 1);
    while (f->table[slot]) {
        const char *other;
        if (name_of(f, f->table[slot] - 1, &other) == length && memcmp(other, name, length) == 0)
            break;
        slot = (slot + 1) & (f->table_size - 1);
    }
    return slot;
}

static bool build_table(struct finder *f)
{
    for (size_t i = 0; i < f->tokens->count; i++) {
        const char *rest;
        size_t left;
        if (f->tokens->items[i].kind != GPUL__TOKEN_DIRECTIVE ||
            !gpul__directive_is(f->tokens->text, &f->tokens->items[i], "define", &rest, &left))
            continue;
        if (!gpul__grow(&f->macros, &f->macro_capacity, f->macro_count, sizeof *f->macros))
            return false;
        f->macros[f->macro_count++] = i;
    }
    size_t count = f->scan->count + f->macro_count;
    f->table_size = 16;
    while (f->table_size < count * 2 + 2) f->table_size *= 2;
    f->table = gpul__calloc(f->table_size, sizeof *f->table);
    f->same_name = gpul__calloc(count, sizeof *f->same_name);
    f->reached = gpul__calloc(count, sizeof *f->reached);
    f->queue = gpul__calloc(count, sizeof *f->queue);
    if (!f->table || !f->same_name || !f->reached || !f->queue) return false;
    for (size_t i = 0; i < count; i++) {
        const char *name;
        size_t length = name_of(f, i, &name);
        if (!length) continue;
        size_t slot = slot_of(f, name, length);
        f->same_name[i] = f->table[slot];
        f->table[slot] = i + 1;
    }
    return true;
}

static void reach(struct finder *f, size_t node)
{
    if (f->reached[node]) return;
    f->reached[node] = true;
    f->queue[f->queue_end++] = node;
}

static void reach_name(struct finder *f, const char *name, size_t length)
{
    for (size_t i = f->table[slot_of(f, name, length)]; i; i = f->same_name[i - 1]) reach(f, i - 1);
}

static void reach_words(struct finder *f, const char *at, const char *end)
{
    while (at < end) {
        size_t length = word_length(at, end);
        if (length) reach_name(f, at, length);
        at += length ? length : 1;
    }
}

static bool mentions(const struct finder *f, const gpul__decl *decl, const char *word)
{
    for (size_t i = decl->first; i < decl->end; i++)
        if (gpul__token_is(f->tokens, i, word)) return true;
    return false;
}

static bool is_unannotated(const gpul__decl *decl)
{
    return !decl->is_global && !decl->is_device && !decl->is_constant && !decl->has_macro;
}

static bool is_operator(const struct finder *f, const gpul__decl *decl)
{
    return decl->name != GPUL__NO_TOKEN && gpul__token_is(f->tokens, decl->name, "operator");
}

/* What is kept whether a kernel mentions it or not. */
static bool is_root(const struct finder *f, const gpul__decl *decl)
{
    if (decl->is_class_member) return false;
    switch (decl->kind) {
    case GPUL__DECLARED_FUNCTION:
        if (is_operator(f, decl) && !decl->is_host)
            return !mentions(f, decl, "std") && !mentions(f, decl, "ostream");
        return decl->is_global || decl->is_device || (decl->has_macro && !decl->is_host);
    case GPUL__DECLARED_VARIABLE: return decl->is_device || decl->is_constant || decl->has_macro;
    case GPUL__DECLARED_OTHER: return true;
    case GPUL__DECLARED_USING: return mentions(f, decl, "namespace");
    default: return false;
    }
}

static void reach_all(struct finder *f, const char *const *expressions)
{
    for (size_t i = 0; i < f->scan->count; i++)
        if (is_root(f, &f->scan->decls[i])) reach(f, i);
    for (; expressions && *expressions; expressions++)
        reach_words(f, *expressions, *expressions + strlen(*expressions));
    while (f->queue_first < f->queue_end) {
        size_t node = f->queue[f->queue_first++];
        if (node >= f->scan->count) {
            const gpul__token *token = &f->tokens->items[f->macros[node - f->scan->count]];
            const char *text = f->tokens->text + token->offset;
            reach_words(f, text, text + token->length);
            continue;
        }
        const gpul__decl *decl = &f->scan->decls[node];
        for (size_t i = decl->first; i < decl->end; i++)
            if (f->tokens->items[i].kind == GPUL__TOKEN_WORD)
                reach_name(f, text_of(f, i), f->tokens->items[i].length);
    }
}

/* ---- Blanking ---- */

/* Conditions and macros inside what is set aside still hold for what follows. */
static bool is_kept_directive(const char *line, const char *end)
{
    static const char *const words[] = { "if",   "ifdef", "ifndef", "else",
                                         "elif", "endif", "define", "undef" };
    while (line < end && (*line == ' ' || *line == '\t')) line++;
    if (line == end || *line != '#') return false;
    for (line++; line < end && (*line == ' ' || *line == '\t');) line++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - line) >= length && memcmp(line, words[i], length) == 0 &&
            ((size_t)(end - line) == length || !isalpha((unsigned char)line[length])))
            return true;
    }
    return false;
}

static void blank(char *text, size_t first, size_t end)
{
    bool keep = false, line_start = first == 0 || text[first - 1] == '\n';
    for (size_t i = first; i < end; i++) {
        if (line_start) {
            const char *stop = memchr(text + i, '\n', end - i);
            bool continued = keep && i >= 2 && text[i - 2] == '\\';
            keep = continued || is_kept_directive(text + i, stop ? stop : text + end);
        }
        line_start = text[i] == '\n';
        if (!keep && text[i] != '\n' && text[i] != '\r') text[i] = ' ';
    }
}

static bool remember(struct finder *f, const char ***list, size_t *count, const char *text,
                     size_t length)
{
    /* Few and short: the list doubles at powers of two. */
    if ((*count & (*count - 1)) == 0) {
        const char **grown = gpul__arena_alloc(f->arena, (*count ? *count * 2 : 1) * sizeof *grown);
        if (!grown) return false;
        if (*count) memcpy(grown, *list, *count * sizeof *grown);
        *list = grown;
    }
    const char *copy = gpul__arena_strndup(f->arena, text, length);
    if (!copy) return false;
    (*list)[(*count)++] = copy;
    return true;
}

static bool is_given(const gpul_header *own, const char *name, size_t length)
{
    for (; own && own->name; own++)
        if (strlen(own->name) == length && memcmp(own->name, name, length) == 0) return true;
    return false;
}

static void found(struct finder *f, const char *name, size_t offset, size_t length, bool telling)
{
    gpul__host_code *out = f->out;
    if (out->found && !telling) return;
    out->found = true;
    out->name = gpul__arena_strndup(f->arena, name, length);
    out->offset = offset;
    out->name_length = length;
    if (!out->name) f->failed = true;
}

/* What NVRTC would refuse as it stands. */
static void look(struct finder *f, const gpul_header *own, bool default_device)
{
    for (size_t i = 0; i < f->scan->count && !f->failed; i++) {
        const gpul__decl *decl = &f->scan->decls[i];
        if (decl->is_class_member || decl->name == GPUL__NO_TOKEN || decl->file) continue;
        const gpul__token *token = &f->tokens->items[decl->name];
        bool is_main = decl->kind == GPUL__DECLARED_FUNCTION &&
                       gpul__token_is(f->tokens, decl->name, "main") && !*decl->scope &&
                       is_unannotated(decl);
        bool function = decl->kind == GPUL__DECLARED_FUNCTION && is_unannotated(decl) &&
                        !decl->is_template && !decl->is_instantiation &&
                        (decl->is_host || !default_device) && (decl->has_body || decl->is_host);
        bool variable = decl->kind == GPUL__DECLARED_VARIABLE && is_unannotated(decl) &&
                        !decl->is_const && !decl->is_constexpr && !decl->is_template &&
                        !default_device;
        if (is_main || function || variable)
            found(f, text_of(f, decl->name), token->offset, token->length, is_main);
    }
    for (size_t i = 0; i < f->tokens->count && !f->failed; i++) {
        const char *name;
        bool quoted;
        size_t length = gpul__include_of(f->tokens->text, &f->tokens->items[i], &name, &quoted);
        if (length && f->tokens->items[i].offset < f->length &&
            gpul__is_host_header(name, length) && !is_given(own, name, length)) {
            if (!f->out->found) found(f, name, (size_t)(name - f->tokens->text), length, false);
            if (!remember(f, &f->out->headers, &f->out->header_count, name, length))
                f->failed = true;
        }
    }
}

static void set_aside(struct finder *f, const gpul__source *source, const gpul_header *own)
{
    gpul__host_code *out = f->out;
    out->text = gpul__strndup(source->text, source->length);
    if (!out->text) {
        f->failed = true;
        return;
    }
    for (size_t i = 0; i < f->scan->count && !f->failed; i++) {
        const gpul__decl *decl = &f->scan->decls[i];
        bool keeps = f->reached[i] || decl->is_class_member || decl->kind == GPUL__DECLARED_ENUM ||
                     decl->end == decl->first;
        bool taken = f->reached[i] && !decl->file && is_unannotated(decl) && !decl->is_const &&
                     !decl->is_constexpr && !decl->is_class_member &&
                     decl->name != GPUL__NO_TOKEN &&
                     (decl->kind == GPUL__DECLARED_VARIABLE ||
                      (decl->kind == GPUL__DECLARED_FUNCTION && decl->has_body));
        if (taken && !remember(f, &out->taken, &out->taken_count, text_of(f, decl->name),
                               f->tokens->items[decl->name].length))
            f->failed = true;
        if (keeps || decl->file) continue;
        const gpul__token *last = &f->tokens->items[decl->end - 1];
        blank(out->text, f->tokens->items[decl->first].offset, last->offset + last->length);
        if (decl->kind == GPUL__DECLARED_FUNCTION && decl->has_body &&
            decl->name != GPUL__NO_TOKEN &&
            !remember(f, &out->functions, &out->function_count, text_of(f, decl->name),
                      f->tokens->items[decl->name].length))
            f->failed = true;
    }
    for (size_t i = 0; i < f->tokens->count; i++) {
        const gpul__token *token = &f->tokens->items[i];
        const char *name;
        bool quoted;
        size_t length = gpul__include_of(f->tokens->text, token, &name, &quoted);
        if (length && token->offset < f->length && gpul__is_host_header(name, length) &&
            !is_given(own, name, length))
            blank(out->text, token->offset, token->offset + token->length);
    }
}

bool gpul__host_find(gpul__host_code *out, gpul__arena *arena, const gpul__source *source,
                     const gpul__scan *scan, const gpul_header *own, bool default_device)
{
    *out = (gpul__host_code){ 0 };
    struct finder f = {
        .out = out, .arena = arena, .scan = scan, .tokens = scan->tokens, .length = source->length
    };
    look(&f, own, default_device);
    return !f.failed;
}

bool gpul__host_set_aside(gpul__host_code *host, gpul__arena *arena, const gpul__source *source,
                          const gpul__scan *scan, const char *const *expressions,
                          const gpul_header *own)
{
    struct finder f = {
        .out = host, .arena = arena, .scan = scan, .tokens = scan->tokens, .length = source->length
    };
    f.failed = !build_table(&f);
    if (!f.failed) {
        reach_all(&f, expressions);
        set_aside(&f, source, own);
    }
    gpul__free(f.macros);
    gpul__free(f.table);
    gpul__free(f.same_name);
    gpul__free(f.reached);
    gpul__free(f.queue);
    if (f.failed) gpul__host_free(host);
    return !f.failed;
}

void gpul__host_free(gpul__host_code *host)
{
    gpul__free(host->text);
    *host = (gpul__host_code){ 0 };
}
