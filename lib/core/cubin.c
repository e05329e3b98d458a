/* Reading CUBINs.  SPDX-License-Identifier: MIT */
#include "core/cubin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
    MACHINE_CUDA = 190,
    ABI_OLD = 7,            /* architecture in the low byte of e_flags */
    ABI_NEW = 8,            /* in bits 8 to 15 */
    SYMBOL_ENTRY = 0x10,    /* in st_other of a kernel */
    RESERVED_SHARED = 1024, /* of every kernel from sm_90 on, for the system */
    /* Records of .nv.info: format, attribute, 16-bit size or value. */
    FORMAT_BYTES = 4,
    INFO_MAX_THREADS = 0x05,
    INFO_EXACT_THREADS = 0x10,
    INFO_FRAME_SIZE = 0x11,
    INFO_PARAM = 0x17,
    INFO_PARAM_BYTES = 0x19,
    INFO_REGISTERS = 0x2f,
};

struct reader {
    gpul__cubin *out;
    gpul__arena *arena;
    const unsigned char *data;
    size_t size;
    Elf64_Ehdr head;
    const char *names; /* section names */
    size_t names_size;
};

static Elf64_Shdr section(const struct reader *r, size_t index)
{
    Elf64_Shdr header;
    memcpy(&header, r->data + r->head.e_shoff + index * sizeof header, sizeof header);
    return header;
}

static bool in_file(const struct reader *r, const Elf64_Shdr *s)
{
    return s->sh_type == SHT_NOBITS ||
           (s->sh_offset <= r->size && s->sh_size <= r->size - s->sh_offset);
}

/* A string of a table, "" when it does not end inside. */
static const char *string_at(const char *table, size_t size, size_t offset)
{
    if (offset >= size || !memchr(table + offset, 0, size - offset)) return "";
    return table + offset;
}

static const char *name_of(const struct reader *r, const Elf64_Shdr *s)
{
    return string_at(r->names, r->names_size, s->sh_name);
}

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static gpul__cubin_kernel *kernel_named(const struct reader *r, const char *symbol)
{
    for (size_t i = 0; i < r->out->kernel_count; i++)
        if (strcmp(r->out->kernels[i].symbol, symbol) == 0) return &r->out->kernels[i];
    return NULL;
}

/* The symbol table: kernels and variables.  Section indices are looked up for what a variable is. */
static gpul__read read_symbols(struct reader *r, const Elf64_Shdr *table)
{
    if (table->sh_link >= r->head.e_shnum) return GPUL__READ_CUT;
    Elf64_Shdr strings = section(r, table->sh_link);
    if (!in_file(r, &strings) || strings.sh_type == SHT_NOBITS) return GPUL__READ_CUT;
    const char *text = (const char *)r->data + strings.sh_offset;
    size_t count = table->sh_size / sizeof(Elf64_Sym), kernels = 0, globals = 0;
    r->out->kernels = gpul__arena_alloc(r->arena, (count + 1) * sizeof *r->out->kernels);
    r->out->globals = gpul__arena_alloc(r->arena, (count + 1) * sizeof *r->out->globals);
    if (!r->out->kernels || !r->out->globals) return GPUL__READ_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, r->data + table->sh_offset + i * sizeof symbol, sizeof symbol);
        const char *name = string_at(text, strings.sh_size, symbol.st_name);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & SYMBOL_ENTRY) &&
            symbol.st_shndx != SHN_UNDEF) {
            gpul__cubin_kernel *kernel = &r->out->kernels[kernels++];
            *kernel = (gpul__cubin_kernel){
                .symbol = name, .registers = -1, .shared_bytes = 0, .local_bytes = -1
            };
        } else if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
                   symbol.st_shndx < r->head.e_shnum) {
            Elf64_Shdr home = section(r, symbol.st_shndx);
            const char *where = name_of(r, &home);
            bool constant = starts(where, ".nv.constant3");
            if (!constant && !starts(where, ".nv.global")) continue;
            r->out->globals[globals++] = (gpul__cubin_global){ name, symbol.st_size, constant };
        }
    }
    r->out->kernel_count = kernels;
    r->out->global_count = globals;
    return GPUL__READ_OK;
}

static int compare_params(const void *a, const void *b)
{
    const gpul__cubin_param *first = a, *second = b;
    return (first->ordinal > second->ordinal) - (first->ordinal < second->ordinal);
}

static uint32_t word_at(const unsigned char *data)
{
    uint32_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

/* Calls back for each record of an info section; stops where the records stop making sense. */
typedef bool record_fn(struct reader *r, void *user, int attribute, const unsigned char *data,
                       uint32_t size, bool has_data);
static bool each_record(struct reader *r, const Elf64_Shdr *s, record_fn *fn, void *user)
{
    const unsigned char *at = r->data + s->sh_offset, *end = at + s->sh_size;
    while (end - at >= 4) {
        uint32_t size = (uint32_t)(at[2] | at[3] << 8);
        bool has_data = at[0] == FORMAT_BYTES;
        if (has_data && size > (size_t)(end - at) - 4) return true;
        if (!fn(r, user, at[1], at + 4, size, has_data)) return false;
        at += 4 + (has_data ? size : 0);
    }
    return true;
}

struct info {
    gpul__cubin_kernel *kernel;
    uint32_t capacity;
};

static bool kernel_record(struct reader *r, void *user, int attribute, const unsigned char *data,
                          uint32_t size, bool has_data)
{
    struct info *info = user;
    gpul__cubin_kernel *kernel = info->kernel;
    (void)r;
    if (attribute == INFO_PARAM && has_data && size >= 12) {
        if (kernel->param_count == info->capacity) return true;
        kernel->params[kernel->param_count++] = (gpul__cubin_param){
            .ordinal = word_at(data + 4) & 0xffff,
            .offset = word_at(data + 4) >> 16,
            .size = word_at(data + 8) >> 18,
        };
    } else if (attribute == INFO_PARAM_BYTES && !has_data) {
        kernel->param_bytes = size;
    } else if ((attribute == INFO_MAX_THREADS || attribute == INFO_EXACT_THREADS) && has_data &&
               size >= 12) {
        for (int i = 0; i < 3; i++) kernel->bound_threads[i] = (int)word_at(data + 4 * i);
        kernel->bound_exact = attribute == INFO_EXACT_THREADS;
    }
    return true;
}

static gpul__read read_kernel_info(struct reader *r, const Elf64_Shdr *s, const char *symbol)
{
    struct info info = { .kernel = kernel_named(r, symbol) };
    if (!info.kernel || info.kernel->params) return GPUL__READ_OK;
    info.capacity = (uint32_t)(s->sh_size / 16 + 1);
    info.kernel->params = gpul__arena_alloc(r->arena, info.capacity * sizeof *info.kernel->params);
    if (!info.kernel->params) return GPUL__READ_NO_MEMORY;
    each_record(r, s, kernel_record, &info);
    qsort(info.kernel->params, info.kernel->param_count, sizeof *info.kernel->params,
          compare_params);
    return GPUL__READ_OK;
}

/* Registers and stack: records that name a kernel by its symbol's index. */
struct common {
    const Elf64_Shdr *symbols;
};

static bool common_record(struct reader *r, void *user, int attribute, const unsigned char *data,
                          uint32_t size, bool has_data)
{
    const Elf64_Shdr *table = ((struct common *)user)->symbols;
    if (!has_data || size < 8 || (attribute != INFO_REGISTERS && attribute != INFO_FRAME_SIZE))
        return true;
    uint64_t index = word_at(data);
    if ((index + 1) * sizeof(Elf64_Sym) > table->sh_size) return true;
    Elf64_Sym symbol;
    memcpy(&symbol, r->data + table->sh_offset + index * sizeof symbol, sizeof symbol);
    Elf64_Shdr strings = section(r, table->sh_link);
    gpul__cubin_kernel *kernel = kernel_named(
        r, string_at((const char *)r->data + strings.sh_offset, strings.sh_size, symbol.st_name));
    if (!kernel) return true;
    int value = (int)word_at(data + 4);
    if (attribute == INFO_REGISTERS) kernel->registers = value;
    else kernel->local_bytes = value;
    return true;
}

static gpul__read read_sections(struct reader *r)
{
    Elf64_Shdr symbols = { 0 };
    for (size_t i = 0; i < r->head.e_shnum; i++) {
        Elf64_Shdr s = section(r, i);
        if (!in_file(r, &s)) return GPUL__READ_CUT;
        if (s.sh_type == SHT_SYMTAB) symbols = s;
    }
    if (!symbols.sh_size) return GPUL__READ_OK;
    gpul__read status = read_symbols(r, &symbols);
    for (size_t i = 0; status == GPUL__READ_OK && i < r->head.e_shnum; i++) {
        Elf64_Shdr s = section(r, i);
        const char *name = name_of(r, &s);
        struct common common = { &symbols };
        if (starts(name, ".nv.info.") && s.sh_type != SHT_NOBITS) {
            status = read_kernel_info(r, &s, name + strlen(".nv.info."));
        } else if (strcmp(name, ".nv.info") == 0 && s.sh_type != SHT_NOBITS) {
            each_record(r, &s, common_record, &common);
        } else if (starts(name, ".text.")) {
            gpul__cubin_kernel *kernel = kernel_named(r, name + strlen(".text."));
            if (kernel && kernel->registers < 0 && s.sh_info >> 24)
                kernel->registers = (int)(s.sh_info >> 24);
        } else if (starts(name, ".nv.shared.")) {
            gpul__cubin_kernel *kernel = kernel_named(r, name + strlen(".nv.shared."));
            uint64_t bytes = s.sh_size;
            if (r->out->arch.number >= 90)
                bytes = bytes > RESERVED_SHARED ? bytes - RESERVED_SHARED : 0;
            if (kernel) kernel->shared_bytes = bytes > INT32_MAX ? INT32_MAX : (int)bytes;
        } else if (strcmp(name, ".nv.constant3") == 0) {
            r->out->constant_bytes = s.sh_size;
        }
    }
    return status;
}

gpul__read gpul__cubin_read(gpul__cubin *out, gpul__arena *arena, const void *data, size_t size,
                            uint64_t *whole_size)
{
    struct reader r = { .out = out, .arena = arena, .data = data, .size = size };
    *out = (gpul__cubin){ 0 };
    if (whole_size) *whole_size = 0;
    if (size < 4 || memcmp(data, ELFMAG, SELFMAG) != 0) return GPUL__READ_FOREIGN;
    if (size < sizeof r.head) return GPUL__READ_CUT;
    memcpy(&r.head, data, sizeof r.head);
    if (r.head.e_ident[EI_CLASS] != ELFCLASS64 || r.head.e_machine != MACHINE_CUDA)
        return GPUL__READ_FOREIGN;
    int version = r.head.e_ident[EI_ABIVERSION];
    uint32_t flags = r.head.e_flags;
    out->arch.number = (int)(version >= ABI_NEW ? flags >> 8 & 0xff : flags & 0xff);
    out->is_relocatable = r.head.e_type == ET_REL;
    uint64_t table = (uint64_t)r.head.e_shnum * sizeof(Elf64_Shdr);
    if (r.head.e_shentsize != sizeof(Elf64_Shdr) || r.head.e_shoff > UINT64_MAX - table)
        return GPUL__READ_CUT;
    uint64_t programs = r.head.e_phoff + (uint64_t)r.head.e_phnum * r.head.e_phentsize;
    if (whole_size)
        *whole_size = programs > r.head.e_shoff + table ? programs : r.head.e_shoff + table;
    if (r.head.e_phoff > size || programs > size) return GPUL__READ_CUT;
    if (r.head.e_shoff > size || table > size - r.head.e_shoff ||
        r.head.e_shstrndx >= r.head.e_shnum)
        return GPUL__READ_CUT;
    Elf64_Shdr names = section(&r, r.head.e_shstrndx);
    if (!in_file(&r, &names) || names.sh_type == SHT_NOBITS) return GPUL__READ_CUT;
    r.names = (const char *)data + names.sh_offset;
    r.names_size = names.sh_size;
    return read_sections(&r);
}
