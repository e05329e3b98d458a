/* What is found while a launch runs: faults, warnings, and where threads stand when it is stopped.
 * Equal findings are counted; the sentences are written at the end.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/exec/block.h"

enum {
    FINDING_LIMIT = 32,
    POSITION_LIMIT = 64,
    GRACE = 1 << 22,    /* warp instructions that a launch may go on behind its first fault */
    FAULT_LIMIT = 8192, /* warps that may fault before it ends anyway */
};

static const struct {
    const char *name;
    int result; /* the driver's number */
} kinds[PTX_FAULT_KIND_COUNT] = {
    [PTX_FAULT_NONE] = { "nothing", 0 },
    [PTX_FAULT_OUT_OF_BOUNDS] = { "out of bounds", 700 },
    [PTX_FAULT_NULL] = { "null pointer", 700 },
    [PTX_FAULT_FREED] = { "use after free", 700 },
    [PTX_FAULT_HOST_ADDRESS] = { "host address", 700 },
    [PTX_FAULT_READ_ONLY] = { "write to read-only memory", 700 },
    [PTX_FAULT_MISALIGNED] = { "misaligned address", 716 },
    [PTX_FAULT_ADDRESS_SPACE] = { "invalid address space", 717 },
    [PTX_FAULT_ASSERT] = { "assertion", 710 },
    [PTX_FAULT_TRAP] = { "trap", 719 },
    [PTX_FAULT_BREAKPOINT] = { "breakpoint", 719 },
    [PTX_FAULT_INVALID_CALL] = { "invalid call", 718 },
    [PTX_FAULT_STACK_OVERFLOW] = { "stack overflow", 714 },
    [PTX_FAULT_BARRIER] = { "invalid barrier", 719 },
    [PTX_FAULT_DEADLOCK] = { "deadlock", 719 },
    [PTX_FAULT_LANE_MASK] = { "invalid lane mask", 719 },
    [PTX_FAULT_GRID_SYNC] = { "grid synchronisation outside a cooperative launch", 719 },
    [PTX_FAULT_BUDGET] = { "instruction budget", 702 },
    [PTX_FAULT_CANCELLED] = { "cancelled", 702 },
    [PTX_FAULT_INVALID_FREE] = { "invalid free", 719 },
    [PTX_FAULT_OUT_OF_MEMORY] = { "out of memory", 2 },
    [PTX_FAULT_EXITED_LANES] = { "exited lanes", 0 },
    [PTX_FAULT_RACE] = { "race in shared memory", 0 },
    [PTX_FAULT_WARP_RACE] = { "race inside a warp", 0 },
    [PTX_FAULT_STORE_CLASH] = { "different values stored to one place", 0 },
    [PTX_FAULT_UNINITIALISED] = { "uninitialised read", 0 },
    [PTX_FAULT_BLOCK_RACE] = { "race between blocks", 0 },
};

const char *ptx_fault_name(ptx_fault_kind kind)
{
    return kind < PTX_FAULT_KIND_COUNT ? kinds[kind].name : "unknown";
}

static bool is_warning(ptx_fault_kind kind)
{
    return kind >= PTX_FAULT_EXITED_LANES;
}

static bool is_defect(ptx_fault_kind kind)
{
    return kind == PTX_FAULT_RACE || kind == PTX_FAULT_STORE_CLASH ||
           kind == PTX_FAULT_UNINITIALISED;
}

/* ------------------------------------------------------------------ places */

typedef struct source_place {
    const char *function, *text, *file;
    uint32_t ptx_line, line;
} source_place;

/* The statement, on one line. */
static const char *statement(gpul__arena *arena, const ptx_module *module,
                             const ptx_instruction *origin)
{
    char *text =
        gpul__arena_strndup(arena, module->text + origin->text_offset, origin->text_length);
    if (!text) return "";
    size_t to = 0;
    for (size_t from = 0; text[from]; from++) {
        char c = text[from] == '\t' || text[from] == '\n' || text[from] == '\r' ? ' ' : text[from];
        if (c == ' ' && (to == 0 || text[to - 1] == ' ')) continue;
        text[to++] = c;
    }
    while (to > 0 && (text[to - 1] == ';' || text[to - 1] == ' ')) to--;
    text[to] = 0;
    return text;
}

static const char *file_of(const ptx_module *module, const ptx_location *location)
{
    for (uint32_t k = 0; k < module->file_count; k++)
        if (module->files[k].number == location->file) return module->files[k].name;
    return NULL;
}

/* Headers of the toolkit whose inline functions are no more than one instruction. */
static bool is_wrapper(const char *file)
{
    static const char *const ends[] = { "atomic_functions.hpp", "intrinsics.hpp",
                                        "atomic_functions.h", "intrinsics.h" };
    size_t length = file ? strlen(file) : 0;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (length >= strlen(ends[k]) && !strcmp(file + length - strlen(ends[k]), ends[k]))
            return true;
    return false;
}

/* Where the source has the instruction; NULL: it is not known. */
static const ptx_location *location_of(const code *c, const insn *i)
{
    const ptx_instruction *origin = i ? c->origin[i - c->insns] : NULL;
    const ptx_module *module = c ? c->source->module : NULL;
    if (!origin || !origin->location) return NULL;
    const ptx_location *location = &module->locations[origin->location - 1];
    while (location->inlined_at && is_wrapper(file_of(module, location)))
        location = &module->locations[location->inlined_at - 1];
    return location;
}

static source_place place_of(gpul__arena *arena, const code *c, const insn *i)
{
    source_place place = { .function = c->source->name, .text = "" };
    const ptx_instruction *origin = i ? c->origin[i - c->insns] : NULL;
    if (!origin) return place;
    const ptx_module *module = c->source->module;
    place.text = statement(arena, module, origin);
    place.ptx_line = origin->line;
    const ptx_location *location = location_of(c, i);
    const char *file = location ? file_of(module, location) : NULL;
    if (!file) return place;
    place.file = gpul__arena_strndup(arena, file, strlen(file));
    place.line = location->line;
    return place;
}

/* Copies that the compiler made of one statement, by unrolling a loop, are one place. */
static bool same_place(const code *c, const insn *i, const code *other_code, const insn *other)
{
    if (i == other) return true;
    if (!i || !other || c != other_code) return false;
    const ptx_location *a = location_of(c, i), *b = location_of(c, other);
    return a && b && a->file == b->file && a->line == b->line;
}

static uint64_t block_number(const launch *l, const uint32_t at[3])
{
    return at[0] + (uint64_t)l->grid_size[0] * (at[1] + (uint64_t)l->grid_size[1] * at[2]);
}

static void position_of(const launch *l, uint32_t thread, uint32_t out[3])
{
    out[0] = thread % l->block_size[0];
    out[1] = thread / l->block_size[0] % l->block_size[1];
    out[2] = thread / l->block_size[0] / l->block_size[1];
}

static void thread_of(const launch *l, const warp *w, unsigned lane, uint32_t out[3])
{
    position_of(l, w->index * WARP_LANES + lane, out);
}

/* ------------------------------------------------------------------ findings */

/* Ends the launch a while after the first fault, so that equal faults can be counted. */
static void begin_grace(launch *l)
{
    if (atomic_fetch_add(&l->faults, 1) >= FAULT_LIMIT) {
        atomic_store(&l->cut, true);
        atomic_store(&l->stop, true);
    }
    if (atomic_exchange(&l->faulted, true)) return;
    uint64_t now = atomic_load(&l->executed);
    atomic_store(&l->grace_end, now + now / 8 + GRACE);
}

/* Under the launch's lock.  NULL: there are too many, or no memory. */
static ptx_finding *add_finding(launch *l, finding_place place)
{
    ptx_report *r = l->report;
    if (r->finding_count >= FINDING_LIMIT) return NULL;
    size_t room = l->finding_room;
    if (!gpul__grow(&l->finding_at, &room, r->finding_count, sizeof *l->finding_at) ||
        !gpul__grow(&r->findings, &r->finding_capacity, r->finding_count, sizeof *r->findings)) {
        l->out_of_memory = true;
        return NULL;
    }
    l->finding_room = room;
    l->finding_at[r->finding_count] = place;
    ptx_finding *f = &r->findings[r->finding_count++];
    *f = (ptx_finding){ .action = "", .text = "", .message = "", .brief = "" };
    return f;
}

static ptx_finding *same_finding(launch *l, ptx_fault_kind kind, finding_place place)
{
    for (size_t k = 0; k < l->report->finding_count; k++) {
        const finding_place *at = &l->finding_at[k];
        if (l->report->findings[k].kind == kind &&
            same_place(at->code, at->insn, place.code, place.insn) &&
            same_place(at->other_code, at->other, place.other_code, place.other))
            return &l->report->findings[k];
    }
    return NULL;
}

/* The plain name at the end of a mangled one: _ZZ3fooE3box is box, in place. */
static void unmangle(char *name)
{
    size_t length = strlen(name);
    for (size_t at = 2; !strncmp(name, "_Z", 2) && at < length; at++) {
        char *end;
        if (name[at] < '1' || name[at] > '9') continue;
        unsigned long count = strtoul(name + at, &end, 10);
        size_t rest = length - (size_t)(end - name);
        bool last = rest == count || (rest > count && end[count] == '_');
        if (last) {
            memmove(name, end, count);
            name[count] = 0;
            return;
        }
        if (count < rest) at = (size_t)(end - name) + count - 1;
    }
}

/* The variable of the kernel's shared memory that the address is in. */
static void name_shared(const launch *l, ptx_finding *f)
{
    for (uint32_t k = 0; k < l->kernel->shared_count; k++) {
        const shared_symbol *s = &l->kernel->shared[k];
        uint64_t at = f->address - s->offset;
        if (f->address < s->offset || at >= s->variable->size) continue;
        char *name =
            gpul__arena_strndup(&l->report->arena, s->variable->name, strlen(s->variable->name));
        if (!name) return;
        unmangle(name);
        f->variable = name;
        f->variable_offset = at;
    }
}

static void describe_earlier(launch *l, ptx_finding *f, const earlier_access *earlier)
{
    source_place place = place_of(&l->report->arena, earlier->code, earlier->insn);
    f->has_other = true;
    f->other_known = earlier->known;
    memcpy(f->other_block, earlier->block, sizeof f->other_block);
    if (earlier->known) position_of(l, earlier->thread, f->other_thread);
    f->other_action = earlier->action;
    f->other_text = place.text;
    f->other_file = place.file;
    f->other_line = place.line;
    f->other_ptx_line = place.ptx_line;
}

static void describe_access(const warp *w, ptx_finding *f, const fault_access *access,
                            unsigned lane)
{
    if (!access) return;
    f->action = access->action;
    f->size = access->size;
    f->space = access->space;
    f->address = access->addresses[lane];
    f->has_allocation = false;
    if (access->space == PTX_SPACE_SHARED) name_shared(w->block->launch, f);
    if (access->space != PTX_SPACE_GLOBAL) return;
    ptx_memory_explain(w->block->launch->memory, f->address, f->size ? f->size : 1, &f->allocation,
                       &f->has_allocation);
    if (f->has_allocation) f->offset = (int64_t)(f->address - f->allocation.address);
}

/* The function of the instruction that is reported. */
static const code *code_of(const warp *w, const fault_access *access)
{
    return access && access->code ? access->code : w->frame->code;
}

static void record_fault(warp *w, const insn *i, uint32_t lanes, ptx_fault_kind kind,
                         const fault_access *access, const char *detail)
{
    block *b = w->block;
    launch *l = b->launch;
    unsigned first = (unsigned)__builtin_ctz(lanes);
    pthread_mutex_lock(&l->lock);
    const earlier_access *earlier_side = access ? access->earlier : NULL;
    finding_place at = { .insn = i, .code = code_of(w, access) };
    if (earlier_side) at.other = earlier_side->insn, at.other_code = earlier_side->code;
    ptx_finding *f = same_finding(l, kind, at);
    bool earlier = f && block_number(l, b->position) < block_number(l, f->block);
    uint64_t threads = (uint64_t)__builtin_popcount(lanes);
    if (f) {
        f->threads += threads;
    } else {
        f = add_finding(l, at);
        if (f) f->threads = threads;
    }
    if (f && (f->threads == threads || earlier)) {
        gpul__arena *arena = &l->report->arena;
        source_place place = place_of(arena, code_of(w, access), i);
        f->kind = kind;
        f->warning = is_warning(kind);
        f->defect = is_defect(kind);
        memcpy(f->block, b->position, sizeof f->block);
        thread_of(l, w, first, f->thread);
        f->function = gpul__arena_strndup(arena, place.function, strlen(place.function));
        f->text = place.text;
        f->file = place.file;
        f->line = place.line;
        f->ptx_line = place.ptx_line;
        describe_access(w, f, access, first);
        if (earlier_side) describe_earlier(l, f, earlier_side);
        if (detail) f->message = gpul__arena_strndup(arena, detail, strlen(detail));
        if (!f->function) f->function = "";
        if (!f->message) f->message = "";
    }
    pthread_mutex_unlock(&l->lock);
}

void ptx_fault(warp *w, const insn *i, uint32_t lanes, ptx_fault_kind kind,
               const fault_access *access, const char *detail)
{
    if (!lanes) return;
    record_fault(w, i, lanes, kind, access, detail);
    if (is_warning(kind)) return;
    begin_grace(w->block->launch);
    ptx_exit_lanes(w, lanes);
}

void ptx_fault_assert(warp *w, const insn *i, unsigned lane, const char *message)
{
    ptx_fault(w, i, 1u << lane, PTX_FAULT_ASSERT, NULL, message);
}

void ptx_fault_launch(launch *l, ptx_fault_kind kind)
{
    pthread_mutex_lock(&l->lock);
    if (!same_finding(l, kind, (finding_place){ 0 })) {
        ptx_finding *f = add_finding(l, (finding_place){ 0 });
        if (f) {
            f->kind = kind;
            f->threads = 1;
            f->function = "";
        }
        if (kind == PTX_FAULT_OUT_OF_MEMORY) l->out_of_memory = true;
    }
    pthread_mutex_unlock(&l->lock);
    atomic_store(&l->faulted, true);
    atomic_store(&l->stop, true);
}

/* ------------------------------------------------------------------ positions */

static const char *state_text(gpul__arena *arena, const split *s)
{
    const char *text;
    switch ((split_state)s->state) {
    case SPLIT_COLLECT: return "waits for other lanes of its warp";
    case SPLIT_ALIGNED: return "waits at a barrier for the rest of its warp";
    case SPLIT_BARRIER:
        text = gpul__arena_printf(arena, "waits at barrier %u", s->barrier);
        return text ? text : "waits at a barrier";
    case SPLIT_CLUSTER: return "waits for the other blocks of its cluster";
    default: return "runs";
    }
}

void ptx_report_position(launch *l, const warp *w, const split *s)
{
    const code *c = s->frame->code;
    const insn *i = &c->insns[s->pc];
    pthread_mutex_lock(&l->lock);
    ptx_report *r = l->report;
    gpul__arena *arena = &r->arena;
    const char *state = state_text(arena, s);
    source_place place = place_of(arena, c, i);
    uint64_t threads = (uint64_t)__builtin_popcount(s->mask);
    for (size_t k = 0; k < r->position_count; k++) {
        ptx_position *p = &r->positions[k];
        if (p->ptx_line != place.ptx_line || strcmp(p->state, state) ||
            strcmp(p->function, place.function))
            continue;
        p->threads += threads;
        pthread_mutex_unlock(&l->lock);
        return;
    }
    if (r->position_count < POSITION_LIMIT) {
        if (gpul__grow(&r->positions, &r->position_capacity, r->position_count,
                       sizeof *r->positions)) {
            ptx_position *p = &r->positions[r->position_count++];
            *p = (ptx_position){ .threads = threads,
                                 .state = state,
                                 .function = place.function,
                                 .text = place.text,
                                 .file = place.file,
                                 .ptx_line = place.ptx_line,
                                 .line = place.line };
            p->function = gpul__arena_strndup(arena, place.function, strlen(place.function));
            if (!p->function) p->function = "";
            memcpy(p->block, w->block->position, sizeof p->block);
            thread_of(l, w, (unsigned)__builtin_ctz(s->mask), p->thread);
        } else {
            l->out_of_memory = true;
        }
    }
    pthread_mutex_unlock(&l->lock);
}

void ptx_report_block_positions(block *b)
{
    for (uint32_t k = 0; k < b->warp_count; k++)
        for (uint32_t j = 0; j < b->warps[k].split_count; j++)
            ptx_report_position(b->launch, &b->warps[k], &b->warps[k].splits[j]);
}

/* ------------------------------------------------------------------ sentences */

static void write_allocation(const ptx_finding *f, gpul__str *out)
{
    const ptx_allocation *a = &f->allocation;
    int64_t end = (int64_t)a->size;
    gpul__str_printf(out, " at offset %" PRId64 " of %s", f->offset,
                     a->freed ? "a freed allocation" : "an allocation");
    gpul__str_printf(out, " of %" PRIu64 " bytes", a->size);
    if (a->name[0]) gpul__str_printf(out, " ('%s')", a->name);
    if (f->offset < 0) gpul__str_printf(out, " (%" PRId64 " bytes before its start)", -f->offset);
    else if (f->offset >= end)
        gpul__str_printf(out, " (%" PRId64 " bytes past its end)", f->offset - end);
    else if (f->kind == PTX_FAULT_OUT_OF_BOUNDS)
        gpul__str_printf(out, " (%" PRId64 " bytes of it past its end)",
                         f->offset + (int64_t)f->size - end);
}

static void write_access(const launch *l, const ptx_finding *f, gpul__str *out)
{
    if (f->size) gpul__str_printf(out, " %s %" PRIu32 " bytes", f->action, f->size);
    else gpul__str_printf(out, " %s", f->action);
    switch (f->space) {
    case PTX_SPACE_SHARED:
        gpul__str_printf(out,
                         " at offset %" PRIu64 " of its block's %" PRIu32 " bytes of shared memory",
                         f->address - SHARED_RESERVED, l->shared_total - SHARED_RESERVED);
        return;
    case PTX_SPACE_LOCAL:
        gpul__str_printf(out, " at offset %" PRIu64 " of its local memory", f->address);
        return;
    case PTX_SPACE_PARAM:
        gpul__str_printf(out, " at offset %" PRIu64 " of %" PRIu32 " bytes of parameters",
                         f->address, l->kernel->param_size);
        return;
    default: break;
    }
    if (f->has_allocation) write_allocation(f, out);
    else gpul__str_printf(out, " at address 0x%" PRIx64, f->address);
}

static void write_cause(const ptx_finding *f, gpul__str *out)
{
    switch (f->kind) {
    case PTX_FAULT_NULL: gpul__str_add(out, ": a null pointer"); break;
    case PTX_FAULT_FREED: gpul__str_add(out, ": use after free"); break;
    case PTX_FAULT_HOST_ADDRESS:
        gpul__str_add(out, ": an address of host memory that the device cannot see");
        break;
    case PTX_FAULT_READ_ONLY: gpul__str_add(out, ": it is read-only"); break;
    case PTX_FAULT_MISALIGNED:
        gpul__str_printf(out, ": the address is not a multiple of %" PRIu32, f->size);
        break;
    case PTX_FAULT_ADDRESS_SPACE:
        gpul__str_add(out, ": the address belongs to a space that this instruction cannot use");
        break;
    case PTX_FAULT_OUT_OF_BOUNDS:
        if (f->space == PTX_SPACE_GLOBAL && !f->has_allocation)
            gpul__str_add(out, ": nothing is allocated there");
        break;
    case PTX_FAULT_INVALID_CALL:
        gpul__str_add(out, ": no function of this shape stands there");
        break;
    case PTX_FAULT_INVALID_FREE:
        gpul__str_add(out, ": malloc did not give that address, or it was freed before");
        break;
    default: break;
    }
}

static const char *plain_sentence(ptx_fault_kind kind)
{
    switch (kind) {
    case PTX_FAULT_TRAP: return "executed a trap";
    case PTX_FAULT_BREAKPOINT: return "reached a breakpoint";
    case PTX_FAULT_INVALID_CALL: return "calls a function with parameters of another shape";
    case PTX_FAULT_STACK_OVERFLOW: return "ran out of stack: calls are nested too deep";
    case PTX_FAULT_LANE_MASK: return "executes a collective whose lane mask does not name it";
    case PTX_FAULT_GRID_SYNC:
        return "executed a trap: the grid was to be synchronised, but this is no cooperative launch";
    case PTX_FAULT_EXITED_LANES: return "names lanes in a mask that have exited";
    case PTX_FAULT_DEADLOCK: return "waits for ever";
    default: return "";
    }
}

static const char *remedy(ptx_fault_kind kind)
{
    switch (kind) {
    case PTX_FAULT_RACE: return "no __syncthreads() between";
    case PTX_FAULT_WARP_RACE: return "no __syncwarp() between";
    case PTX_FAULT_BLOCK_RACE: return "no fence with an atomic operation between";
    default: return "another value, in the same instruction";
    }
}

static const char *past(const char *action)
{
    return !strcmp(action, "reads") ? "read" : !strcmp(action, "writes") ? "wrote" : "changed";
}

static void write_line(const char *file, uint32_t line, uint32_t ptx_line, gpul__str *out)
{
    if (file) gpul__str_printf(out, " at %s line %" PRIu32, file, line);
    else gpul__str_printf(out, " at PTX line %" PRIu32, ptx_line);
}

/* An atomic operation uses what it finds itself. */
static void write_use(const ptx_finding *f, gpul__str *out)
{
    gpul__str_add(out, ", which nothing has written");
    if (!f->has_other) return;
    gpul__str_add(out, ", and uses the value");
    write_line(f->other_file, f->other_line, f->other_ptx_line, out);
}

/* What a checker found, behind the words that name the thread. */
static void write_check(const ptx_finding *f, gpul__str *out)
{
    gpul__str_printf(out, " %s %" PRIu32 " byte%s at ", f->action, f->size,
                     f->size == 1 ? "" : "s");
    if (f->variable && f->variable_offset)
        gpul__str_printf(out, "offset %" PRIu64 " of shared '%s'", f->variable_offset, f->variable);
    else if (f->variable) gpul__str_printf(out, "the start of shared '%s'", f->variable);
    else if (f->space == PTX_SPACE_SHARED)
        gpul__str_printf(out, "shared address %" PRIu64, f->address);
    else if (f->space == PTX_SPACE_LOCAL)
        gpul__str_printf(out, "offset %" PRIu64 " of its local memory", f->address);
    else if (f->has_allocation && f->allocation.name[0])
        gpul__str_printf(out, "offset %" PRId64 " of '%s'", f->offset, f->allocation.name);
    else if (f->has_allocation)
        gpul__str_printf(out, "offset %" PRId64 " of an allocation of %" PRIu64 " bytes", f->offset,
                         f->allocation.size);
    else gpul__str_printf(out, "address 0x%" PRIx64, f->address);
    if (f->kind == PTX_FAULT_UNINITIALISED) {
        write_use(f, out);
        return;
    }
    const uint32_t *t = f->other_thread, *b = f->other_block;
    if (!f->other_known && f->kind == PTX_FAULT_BLOCK_RACE)
        gpul__str_printf(out, ", which block (%u,%u,%u) ", b[0], b[1], b[2]);
    else if (!f->other_known) gpul__str_add(out, ", which another thread ");
    else if (!memcmp(f->block, f->other_block, sizeof f->block))
        gpul__str_printf(out, ", which thread (%u,%u,%u) ", t[0], t[1], t[2]);
    else
        gpul__str_printf(out, ", which thread (%u,%u,%u) of block (%u,%u,%u) ", t[0], t[1], t[2],
                         b[0], b[1], b[2]);
    gpul__str_add(out, past(f->other_action));
    write_line(f->other_file, f->other_line, f->other_ptx_line, out);
    gpul__str_printf(out, " (%s)", remedy(f->kind));
}

/* A launch that was ended from outside, or for want of memory: no thread is to blame. */
static bool write_end(const launch *l, const ptx_finding *f, gpul__str *out)
{
    uint64_t done = atomic_load(&l->executed);
    switch (f->kind) {
    case PTX_FAULT_BUDGET:
        gpul__str_printf(out,
                         "still runs after %" PRIu64
                         " warp instructions, which is the limit of this launch",
                         done);
        return true;
    case PTX_FAULT_CANCELLED:
        gpul__str_printf(out, "was ended from outside after %" PRIu64 " warp instructions", done);
        return true;
    case PTX_FAULT_OUT_OF_MEMORY:
        gpul__str_add(out, "memory for running it is exhausted");
        return true;
    default: return false;
    }
}

/* What happened: without kernel, place and instruction. */
static void write_brief(const launch *l, const ptx_finding *f, gpul__str *out)
{
    if (f->kind > PTX_FAULT_EXITED_LANES) gpul__str_printf(out, "%s: ", kinds[f->kind].name);
    gpul__str_printf(out, "thread (%u,%u,%u) of block (%u,%u,%u)", f->thread[0], f->thread[1],
                     f->thread[2], f->block[0], f->block[1], f->block[2]);
    if (f->kind == PTX_FAULT_ASSERT) gpul__str_printf(out, ": %s", f->message);
    else if (f->kind == PTX_FAULT_BARRIER) gpul__str_printf(out, ": %s", f->message);
    else if (f->kind == PTX_FAULT_DEADLOCK && f->message[0])
        gpul__str_printf(out, ": %s", f->message);
    else if (f->kind > PTX_FAULT_EXITED_LANES) write_check(f, out);
    else if (f->action[0]) write_access(l, f, out), write_cause(f, out);
    else gpul__str_printf(out, " %s", plain_sentence(f->kind));
}

static void write_count(const launch *l, const ptx_finding *f, gpul__str *out)
{
    /* What a checker finds a thread may do several times. */
    if (f->kind > PTX_FAULT_EXITED_LANES && f->threads > 1)
        gpul__str_printf(out, "; %" PRIu64 " times in all", f->threads);
    else if (f->kind > PTX_FAULT_EXITED_LANES) return;
    else if (atomic_load(&l->cut))
        gpul__str_printf(out, "; at least %" PRIu64 " threads", f->threads);
    else if (f->threads > 1) gpul__str_printf(out, "; %" PRIu64 " threads in all", f->threads);
}

/* The sentence with and without what the fields of the finding tell. */
static void write_finding(const launch *l, const ptx_finding *f, gpul__str *message,
                          gpul__str *brief)
{
    const char *kernel = l->kernel->code->source->name;
    if (write_end(l, f, brief)) {
        gpul__str_printf(message, "%s%s %s", kernel, f->kind == PTX_FAULT_OUT_OF_MEMORY ? ":" : "",
                         gpul__str_text(brief));
        return;
    }
    write_brief(l, f, brief);
    gpul__str_printf(message, "%s: %s", kernel, gpul__str_text(brief));
    if (f->file) gpul__str_printf(message, ", %s line %" PRIu32, f->file, f->line);
    if (f->text[0]) gpul__str_printf(message, ", PTX line %" PRIu32 ": %s", f->ptx_line, f->text);
    if (strcmp(f->function, kernel)) gpul__str_printf(message, " in %s", f->function);
    write_count(l, f, message);
    write_count(l, f, brief);
}

/* Faults before warnings, then by block; the launch's result is that of the first. */
static bool comes_first(const launch *l, const ptx_finding *a, const ptx_finding *b)
{
    if (a->warning != b->warning) return b->warning;
    if (a->defect != b->defect) return a->defect;
    bool a_whole = a->kind == PTX_FAULT_BUDGET || a->kind == PTX_FAULT_CANCELLED;
    bool b_whole = b->kind == PTX_FAULT_BUDGET || b->kind == PTX_FAULT_CANCELLED;
    if (a_whole != b_whole) return b_whole;
    return block_number(l, a->block) < block_number(l, b->block);
}

/* Moves a text into the arena; without memory the other one is told. */
static const char *keep_text(gpul__arena *arena, gpul__str *text, const char *otherwise)
{
    const char *kept =
        text->failed ? NULL : gpul__arena_strndup(arena, gpul__str_text(text), text->length);
    gpul__str_free(text);
    return kept ? kept : otherwise;
}

void ptx_report_finish(launch *l)
{
    ptx_report *r = l->report;
    for (size_t k = 1; k < r->finding_count; k++)
        for (size_t j = k; j > 0 && comes_first(l, &r->findings[j], &r->findings[j - 1]); j--) {
            ptx_finding swap = r->findings[j];
            r->findings[j] = r->findings[j - 1];
            r->findings[j - 1] = swap;
        }
    for (size_t k = 0; k < r->finding_count; k++) {
        ptx_finding *f = &r->findings[k];
        gpul__str message = { 0 }, brief = { 0 };
        write_finding(l, f, &message, &brief);
        f->message = keep_text(&r->arena, &message, kinds[f->kind].name);
        f->brief = keep_text(&r->arena, &brief, f->message);
    }
    if (r->finding_count && !r->findings[0].warning) r->result = kinds[r->findings[0].kind].result;
    if (!r->result && l->out_of_memory) r->result = kinds[PTX_FAULT_OUT_OF_MEMORY].result;
}

void ptx_report_free(ptx_report *report)
{
    gpul__free(report->findings);
    gpul__free(report->positions);
    gpul__arena_free(&report->arena);
    *report = (ptx_report){ 0 };
}

void ptx_report_render(const ptx_report *report, gpul__str *out)
{
    for (size_t k = 0; k < report->finding_count; k++) {
        const ptx_finding *f = &report->findings[k];
        gpul__str_printf(out, "%s: %s\n", f->warning && !f->defect ? "warning" : "error",
                         f->message);
    }
    for (size_t k = 0; k < report->position_count; k++) {
        const ptx_position *p = &report->positions[k];
        gpul__str_printf(out, "  thread (%u,%u,%u) of block (%u,%u,%u) %s", p->thread[0],
                         p->thread[1], p->thread[2], p->block[0], p->block[1], p->block[2],
                         p->state);
        if (p->file) gpul__str_printf(out, ", %s line %" PRIu32, p->file, p->line);
        if (p->text[0]) gpul__str_printf(out, ", PTX line %" PRIu32 ": %s", p->ptx_line, p->text);
        if (p->threads > 1) gpul__str_printf(out, "; %" PRIu64 " threads in all", p->threads);
        gpul__str_add(out, "\n");
    }
}
