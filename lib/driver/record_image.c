/* Tests: a light scan of PTX text and CUBIN files for kernels, parameters and variables.  SPDX-License-Identifier: MIT */
#include "driver/record_image.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more element, zeroed; NULL when memory is exhausted. */
static void *add(void *items, size_t *count, size_t size)
{
    void *old, *grown;
    memcpy(&old, items, sizeof old);
    grown = realloc(old, (*count + 1) * size);
    if (!grown) return NULL;
    memcpy(items, &grown, sizeof grown);
    return memset((char *)grown + (*count)++ * size, 0, size);
}

/* ---- Words of PTX -------------------------------------------------------------------------- */

struct scan {
    const char *at;
    char word[256]; /* the word at hand; "" at the end */
};

static void skip_blank(struct scan *scan)
{
    for (;;) {
        while (isspace((unsigned char)*scan->at)) scan->at++;
        if (strncmp(scan->at, "//", 2) == 0) {
            scan->at += strcspn(scan->at, "\n");
        } else if (strncmp(scan->at, "/*", 2) == 0) {
            const char *end = strstr(scan->at + 2, "*/");
            scan->at = end ? end + 2 : scan->at + strlen(scan->at);
        } else {
            return;
        }
    }
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("._$%", c));
}

static const char *next(struct scan *scan)
{
    skip_blank(scan);
    size_t length = 0;
    if (*scan->at == '"') {
        const char *end = strchr(scan->at + 1, '"');
        length = end ? (size_t)(end - scan->at) + 1 : strlen(scan->at);
    } else {
        while (in_word(scan->at[length])) length++;
        if (length == 0 && *scan->at) length = 1;
    }
    size_t kept = length < sizeof scan->word ? length : sizeof scan->word - 1;
    memcpy(scan->word, scan->at, kept);
    scan->word[kept] = 0;
    scan->at += length;
    return scan->word;
}

static bool is(const struct scan *scan, const char *word)
{
    return strcmp(scan->word, word) == 0;
}

/* The bytes of a type word such as ".u64"; 0 when it is none. */
static size_t type_size(const char *word)
{
    if (word[0] != '.' || !word[1] || !strchr("usbf", word[1]))
        return strcmp(word, ".pred") ? 0 : 1;
    int bits = atoi(word + 2);
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? (size_t)bits / 8
                                                                              : 0;
}

/* One declaration: space and linkage are read; ends at the word behind it. */
struct declaration {
    size_t size, alignment, element;
    char name[256];
};

static void read_declaration(struct scan *scan, struct declaration *d)
{
    *d = (struct declaration){ .alignment = 0 };
    bool pointee = false;
    for (; *scan->word && !strchr(",;)={", *scan->word); next(scan)) {
        if (is(scan, ".align")) {
            size_t alignment = (size_t)atoi(next(scan));
            if (!pointee) d->alignment = alignment;
        } else if (is(scan, ".ptr")) {
            pointee = true; /* what follows is said of the memory behind the pointer */
        } else if (type_size(scan->word)) {
            d->element = type_size(scan->word);
            d->size = d->element;
        } else if (is(scan, "[")) {
            d->size *= strtoul(next(scan), NULL, 0);
            next(scan);
        } else if (scan->word[0] != '.') {
            snprintf(d->name, sizeof d->name, "%s", scan->word);
        }
    }
    if (d->alignment == 0) d->alignment = d->element ? d->element : 1;
}

/* Past a pair of braces that was just opened, adding up the shared variables inside. */
static size_t read_body(struct scan *scan)
{
    size_t shared = 0;
    for (int depth = 1; depth && *next(scan);) {
        if (is(scan, "{")) depth++;
        if (is(scan, "}")) depth--;
        if (!is(scan, ".shared")) continue;
        struct declaration d;
        next(scan);
        read_declaration(scan, &d);
        shared = (shared + d.alignment - 1) / d.alignment * d.alignment + d.size;
    }
    return shared;
}

static bool read_kernel(struct scan *scan, struct record_image *image)
{
    struct record_kernel *kernel = add(&image->kernels, &image->kernel_count, sizeof *kernel);
    if (!kernel) return false;
    snprintf(kernel->name, sizeof kernel->name, "%s", next(scan));
    if (*next(scan) == '(') {
        while (*next(scan) && !is(scan, ")")) {
            if (is(scan, ",")) continue;
            struct declaration d;
            read_declaration(scan, &d);
            struct record_param *param = add(&kernel->params, &kernel->param_count, sizeof *param);
            if (!param) return false;
            param->offset = (kernel->param_bytes + d.alignment - 1) / d.alignment * d.alignment;
            param->size = d.size;
            kernel->param_bytes = param->offset + d.size;
            if (is(scan, ")")) break;
        }
        next(scan);
    }
    for (; *scan->word && !is(scan, "{") && !is(scan, ";"); next(scan)) {
        unsigned values[3] = { 1, 1, 1 };
        bool threads = is(scan, ".maxntid") || is(scan, ".reqntid");
        if (!threads && !is(scan, ".reqnctapercluster")) continue;
        const char *at = scan->at;
        for (int i = 0; i < 3; i++) {
            values[i] = (unsigned)atoi(next(scan));
            at = scan->at;
            if (*next(scan) != ',') break;
        }
        scan->at = at;
        if (threads) kernel->max_threads = values[0] * values[1] * values[2];
        else memcpy(kernel->cluster, values, sizeof values);
    }
    if (is(scan, "{")) kernel->shared = read_body(scan);
    return true;
}

/* The value of one initial number; floats come as their bits. */
static uint64_t number(const char *word)
{
    if (word[0] == '0' && word[1] && strchr("fFdD", word[1])) return strtoull(word + 2, NULL, 16);
    return strtoull(word, NULL, 0);
}

static bool read_variable(struct scan *scan, struct record_image *image)
{
    struct declaration d;
    next(scan);
    read_declaration(scan, &d);
    struct record_variable *v = add(&image->variables, &image->variable_count, sizeof *v);
    if (!v) return false;
    snprintf(v->name, sizeof v->name, "%s", d.name);
    v->size = d.size;
    v->data = calloc(1, d.size ? d.size : 1);
    if (!v->data) return false;
    if (!is(scan, "=")) return true;
    bool negative = false;
    for (size_t at = 0; *next(scan) && !is(scan, ";");) {
        if (is(scan, "-")) negative = true;
        if (!isdigit((unsigned char)*scan->word)) continue;
        uint64_t value = number(scan->word);
        if (negative) value = -value;
        negative = false;
        if (at + d.element <= d.size) memcpy(v->data + at, &value, d.element < 8 ? d.element : 8);
        at += d.element;
    }
    return true;
}

static bool read_ptx(struct record_image *image, const char *text)
{
    struct scan scan = { .at = text };
    image->ptx = true;
    while (*next(&scan)) {
        bool good = true;
        if (is(&scan, ".version")) {
            const char *word = next(&scan);
            const char *dot = strchr(word, '.');
            image->version = atoi(word) * 10 + (dot ? atoi(dot + 1) : 0);
        } else if (is(&scan, ".target")) {
            const char *word = next(&scan);
            image->target = strncmp(word, "sm_", 3) == 0 ? atoi(word + 3) : 0;
        } else if (is(&scan, ".entry")) {
            good = read_kernel(&scan, image);
        } else if (is(&scan, ".global") || is(&scan, ".const")) {
            good = read_variable(&scan, image);
        } else if (is(&scan, "{")) {
            read_body(&scan);
        }
        if (!good) return false;
    }
    return true;
}

/* ---- CUBIN --------------------------------------------------------------------------------- */

enum { KPARAM_INFO = 0x17, MAX_THREADS = 0x05, BYTES_FOLLOW = 4, RESERVED = 1024 };

static struct record_kernel *kernel_named(struct record_image *image, const char *name)
{
    for (size_t i = 0; i < image->kernel_count; i++)
        if (strcmp(image->kernels[i].name, name) == 0) return &image->kernels[i];
    struct record_kernel *kernel = add(&image->kernels, &image->kernel_count, sizeof *kernel);
    if (kernel) snprintf(kernel->name, sizeof kernel->name, "%s", name);
    return kernel;
}

/* The records of section .nv.info.NAME: each parameter's place and size. */
static bool read_info(struct record_kernel *kernel, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i + 4 <= size;) {
        uint16_t length;
        memcpy(&length, bytes + i + 2, sizeof length);
        const unsigned char *value = bytes + i + 4;
        if (bytes[i] != BYTES_FOLLOW) {
            i += 4;
            continue;
        }
        if (bytes[i + 1] == KPARAM_INFO && length >= 12) {
            uint16_t ordinal, offset;
            uint32_t word;
            memcpy(&ordinal, value + 4, sizeof ordinal);
            memcpy(&offset, value + 6, sizeof offset);
            memcpy(&word, value + 8, sizeof word);
            while (kernel->param_count <= ordinal)
                if (!add(&kernel->params, &kernel->param_count, sizeof *kernel->params))
                    return false;
            kernel->params[ordinal] = (struct record_param){ .offset = offset, .size = word >> 18 };
            if (offset + (word >> 18) > kernel->param_bytes)
                kernel->param_bytes = offset + (word >> 18);
        }
        if (bytes[i + 1] == MAX_THREADS && length >= 12) {
            uint32_t threads[3];
            memcpy(threads, value, sizeof threads);
            kernel->max_threads = threads[0] * threads[1] * threads[2];
        }
        i += 4u + length;
    }
    return true;
}

static bool read_variables(struct record_image *image, const char *file, const Elf64_Shdr *sections,
                           const Elf64_Shdr *symbols)
{
    const char *names = file + sections[symbols->sh_link].sh_offset;
    for (size_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, file + symbols->sh_offset + i * sizeof symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= SHN_LORESERVE)
            continue;
        if (strncmp(names + symbol.st_name, ".nv.", 4) == 0) continue;
        const Elf64_Shdr *home = &sections[symbol.st_shndx];
        struct record_variable *v = add(&image->variables, &image->variable_count, sizeof *v);
        if (!v) return false;
        snprintf(v->name, sizeof v->name, "%s", names + symbol.st_name);
        v->size = symbol.st_size;
        v->data = calloc(1, v->size ? v->size : 1);
        if (!v->data) return false;
        if (home->sh_type == SHT_PROGBITS && symbol.st_value + v->size <= home->sh_size)
            memcpy(v->data, file + home->sh_offset + symbol.st_value, v->size);
    }
    return true;
}

static bool read_cubin(struct record_image *image, const char *file)
{
    Elf64_Ehdr head;
    memcpy(&head, file, sizeof head);
    image->cubin = true;
    /* The architecture moved with ELF ABI 8. */
    image->target = head.e_ident[EI_ABIVERSION] >= 8 ? (int)(head.e_flags >> 8 & 0xff)
                                                     : (int)(head.e_flags & 0xff);
    Elf64_Shdr *sections = malloc(head.e_shnum * sizeof *sections);
    if (!sections) return false;
    memcpy(sections, file + head.e_shoff, head.e_shnum * sizeof *sections);
    const char *names = file + sections[head.e_shstrndx].sh_offset;
    bool good = true;
    for (int i = 0; good && i < head.e_shnum; i++) {
        const char *name = names + sections[i].sh_name;
        struct record_kernel *kernel = NULL;
        const char *of = NULL;
        if (strncmp(name, ".text.", 6) == 0) of = name + 6;
        if (strncmp(name, ".nv.info.", 9) == 0) of = name + 9;
        if (strncmp(name, ".nv.shared.", 11) == 0) of = name + 11;
        if (of && strncmp(of, "reserved.", 9) != 0) {
            kernel = kernel_named(image, of);
            good = kernel != NULL;
        }
        if (kernel && of == name + 9)
            good = read_info(kernel, (const unsigned char *)file + sections[i].sh_offset,
                             sections[i].sh_size);
        /* The compiler's part of shared memory is in the section, but not in what the driver reports. */
        if (kernel && of == name + 11)
            kernel->shared = sections[i].sh_size - (sections[i].sh_size >= RESERVED ? RESERVED : 0);
        if (sections[i].sh_type == SHT_SYMTAB)
            good = read_variables(image, file, sections, &sections[i]);
    }
    free(sections);
    return good;
}

bool gpul__record_image_read(struct record_image *image, const void *bytes)
{
    *image = (struct record_image){ 0 };
    bool good = false;
    if (memcmp(bytes, ELFMAG, SELFMAG) == 0) {
        good = read_cubin(image, bytes);
    } else {
        const char *text = bytes;
        struct scan scan = { .at = text };
        skip_blank(&scan);
        if (strncmp(scan.at, ".version", 8) == 0) good = read_ptx(image, text);
    }
    if (!good) gpul__record_image_free(image);
    return good;
}

void gpul__record_image_free(struct record_image *image)
{
    for (size_t i = 0; i < image->kernel_count; i++) free(image->kernels[i].params);
    for (size_t i = 0; i < image->variable_count; i++) free(image->variables[i].data);
    free(image->kernels);
    free(image->variables);
    *image = (struct record_image){ 0 };
}
