/* Symbols of a program: which definition a name means across modules, memory of variables, and
 * their initial values.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "ptx/exec/block.h"

/* ------------------------------------------------------------------ pointers to numbers */

static size_t hash_pointer(const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    return (size_t)(h >> 20);
}

static void insert(pointer_map *map, const void *key, size_t number)
{
    size_t at = hash_pointer(key) & (map->room - 1);
    while (map->entries[at].key && map->entries[at].key != key) at = (at + 1) & (map->room - 1);
    if (!map->entries[at].key) map->count++;
    map->entries[at] = (struct pointer_map_entry){ key, number };
}

bool pointer_map_put(pointer_map *map, const void *key, size_t number)
{
    if (map->count * 2 >= map->room) {
        pointer_map grown = { .room = map->room ? map->room * 2 : 64 };
        grown.entries = gpul__calloc(grown.room, sizeof *grown.entries);
        if (!grown.entries) return false;
        for (size_t k = 0; k < map->room; k++)
            if (map->entries[k].key) insert(&grown, map->entries[k].key, map->entries[k].value);
        gpul__free(map->entries);
        *map = grown;
    }
    insert(map, key, number);
    return true;
}

bool pointer_map_get(const pointer_map *map, const void *key, size_t *number)
{
    if (!map->room) return false;
    size_t at = hash_pointer(key) & (map->room - 1);
    while (map->entries[at].key && map->entries[at].key != key) at = (at + 1) & (map->room - 1);
    if (!map->entries[at].key) return false;
    *number = map->entries[at].value;
    return true;
}

void pointer_map_free(pointer_map *map)
{
    gpul__free(map->entries);
    *map = (pointer_map){ 0 };
}

/* ------------------------------------------------------------------ functions */

static void report(ptx_diags *diags, const char *name, uint32_t line, const char *what)
{
    char text[256];
    snprintf(text, sizeof text, "'%.180s' %s", name, what);
    ptx_diags_add(diags, &(ptx_diag){ .severity = PTX_ERROR, .line = line, .text = text });
}

static bool is_shared_name(uint8_t linkage)
{
    return linkage == PTX_LINKAGE_VISIBLE || linkage == PTX_LINKAGE_WEAK ||
           linkage == PTX_LINKAGE_COMMON;
}

/* The definition that a declaration means: of its own module, else a visible one of another. */
static const ptx_function *definition(const ptx_program *p, const ptx_module *own,
                                      const ptx_function *f)
{
    if (f->has_body) return f;
    for (uint32_t k = 0; k < own->alias_count; k++)
        if (own->aliases[k].function == f) return own->aliases[k].target;
    for (size_t m = 0; m < p->module_count; m++)
        for (uint32_t k = 0; k < p->modules[m]->function_count; k++) {
            const ptx_function *g = p->modules[m]->functions[k];
            if (g->has_body && is_shared_name(g->linkage) && !strcmp(g->name, f->name)) return g;
        }
    return NULL;
}

static ptx_status number_functions(ptx_program *p, ptx_diags *diags)
{
    size_t count = 0;
    for (size_t m = 0; m < p->module_count; m++)
        for (uint32_t k = 0; k < p->modules[m]->function_count; k++)
            count += p->modules[m]->functions[k]->has_body;
    p->codes = gpul__arena_alloc(&p->arena, (count + 1) * sizeof *p->codes);
    if (!p->codes) return PTX_OUT_OF_MEMORY;
    for (size_t m = 0; m < p->module_count; m++)
        for (uint32_t k = 0; k < p->modules[m]->function_count; k++) {
            const ptx_function *f = p->modules[m]->functions[k];
            if (!f->has_body) continue;
            for (size_t c = 0; m > 0 && c < p->code_count; c++) {
                const ptx_function *g = p->codes[c].source;
                if (g->module == f->module || strcmp(g->name, f->name)) continue;
                if (g->linkage != PTX_LINKAGE_VISIBLE || f->linkage != PTX_LINKAGE_VISIBLE)
                    continue;
                report(diags, f->name, f->line, "is defined in two modules");
                return PTX_INVALID;
            }
            code *c = &p->codes[p->code_count];
            *c = (code){ .source = f, .program = p, .index = (uint32_t)p->code_count };
            if (!pointer_map_put(&p->code_map, f, p->code_count++)) return PTX_OUT_OF_MEMORY;
        }
    for (size_t m = 0; m < p->module_count; m++)
        for (uint32_t k = 0; k < p->modules[m]->function_count; k++) {
            const ptx_function *f = p->modules[m]->functions[k], *d;
            size_t index;
            if (f->has_body || !(d = definition(p, p->modules[m], f))) continue;
            if (pointer_map_get(&p->code_map, d, &index) &&
                !pointer_map_put(&p->code_map, f, index))
                return PTX_OUT_OF_MEMORY;
        }
    return PTX_OK;
}

/* ------------------------------------------------------------------ variables */

static bool has_address(const ptx_variable *v)
{
    return v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST;
}

static ptx_status give_memory(ptx_program *p, program_global *g, uint64_t owner)
{
    const ptx_variable *v = g->variable;
    ptx_memory *memory = p->engine->memory;
    ptx_allocation request = { .size = v->size,
                               .owner = owner,
                               .kind = v->managed ? PTX_MEMORY_MANAGED : PTX_MEMORY_GLOBAL,
                               .read_only = v->space == PTX_SPACE_CONST };
    snprintf(request.name, sizeof request.name, "%s", v->name);
    if (v->managed) {
        g->managed = gpul__aligned(v->align > 256 ? v->align : 256, v->size);
        if (!g->managed) return PTX_OUT_OF_MEMORY;
        memset(g->managed, 0, v->size);
        ptx_status status = ptx_memory_register(memory, g->managed, &request);
        if (status != PTX_OK) {
            gpul__free(g->managed);
            g->managed = NULL;
            return status;
        }
        g->address = (uint64_t)(uintptr_t)g->managed;
        return PTX_OK;
    }
    ptx_status status = ptx_memory_alloc(memory, &request, v->align, &g->address);
    if (status != PTX_OK) return status;
    memset(ptx_memory_host(memory, g->address, v->size), 0, v->size);
    return PTX_OK;
}

static ptx_status add_variable(ptx_program *p, const ptx_module *module, const ptx_variable *v,
                               uint64_t owner, ptx_diags *diags)
{
    if (!has_address(v) || v->linkage == PTX_LINKAGE_EXTERN || !v->size) return PTX_OK;
    for (size_t k = 0; k < p->global_count && is_shared_name(v->linkage); k++) {
        const program_global *g = &p->globals[k];
        if (g->module == module || !is_shared_name(g->variable->linkage) ||
            strcmp(g->variable->name, v->name))
            continue;
        if (v->linkage == PTX_LINKAGE_VISIBLE && g->variable->linkage == PTX_LINKAGE_VISIBLE) {
            report(diags, v->name, v->line, "is defined in two modules");
            return PTX_INVALID;
        }
        return pointer_map_put(&p->global_map, v, k) ? PTX_OK : PTX_OUT_OF_MEMORY;
    }
    program_global *g = &p->globals[p->global_count];
    *g = (program_global){ .variable = v, .module = module };
    ptx_status status = give_memory(p, g, owner);
    if (status != PTX_OK) return status;
    if (v->space == PTX_SPACE_CONST) {
        p->constant_size += (uint32_t)v->size;
        if (!p->constant_start || g->address < p->constant_start) p->constant_start = g->address;
        if (g->address + v->size > p->constant_end) p->constant_end = g->address + v->size;
    }
    return pointer_map_put(&p->global_map, v, p->global_count++) ? PTX_OK : PTX_OUT_OF_MEMORY;
}

static ptx_status find_extern(ptx_program *p, const ptx_variable *v)
{
    if (!has_address(v) || v->linkage != PTX_LINKAGE_EXTERN) return PTX_OK;
    for (size_t k = 0; k < p->global_count; k++)
        if (is_shared_name(p->globals[k].variable->linkage) &&
            !strcmp(p->globals[k].variable->name, v->name))
            return pointer_map_put(&p->global_map, v, k) ? PTX_OK : PTX_OUT_OF_MEMORY;
    return PTX_OK;
}

static ptx_status place_variables(ptx_program *p, uint64_t owner, ptx_diags *diags)
{
    size_t count = 0;
    for (size_t m = 0; m < p->module_count; m++) {
        const ptx_module *module = p->modules[m];
        count += module->global_count;
        for (uint32_t f = 0; f < module->function_count; f++)
            count += module->functions[f]->variable_count;
    }
    p->globals = gpul__arena_alloc(&p->arena, (count + 1) * sizeof *p->globals);
    if (!p->globals) return PTX_OUT_OF_MEMORY;
    ptx_status status = PTX_OK;
    for (size_t m = 0; m < p->module_count; m++) {
        const ptx_module *module = p->modules[m];
        for (uint32_t k = 0; k < module->global_count && status == PTX_OK; k++)
            status = add_variable(p, module, module->globals[k], owner, diags);
        for (uint32_t f = 0; f < module->function_count; f++)
            for (uint32_t k = 0; k < module->functions[f]->variable_count && status == PTX_OK; k++)
                status = add_variable(p, module, module->functions[f]->variables[k], owner, diags);
    }
    for (size_t m = 0; m < p->module_count; m++)
        for (uint32_t k = 0; k < p->modules[m]->global_count && status == PTX_OK; k++)
            status = find_extern(p, p->modules[m]->globals[k]);
    return status;
}

bool ptx_program_variable_address(const ptx_program *program, const ptx_variable *variable,
                                  uint64_t *address)
{
    size_t index;
    if (!pointer_map_get(&program->global_map, variable, &index)) return false;
    *address = program->globals[index].address;
    return true;
}

const ptx_variable *ptx_program_shared_definition(const ptx_program *program,
                                                  const ptx_variable *variable)
{
    if (variable->linkage != PTX_LINKAGE_EXTERN || variable->unsized) return variable;
    for (size_t m = 0; m < program->module_count; m++)
        for (uint32_t k = 0; k < program->modules[m]->global_count; k++) {
            const ptx_variable *v = program->modules[m]->globals[k];
            if (v->space == PTX_SPACE_SHARED && is_shared_name(v->linkage) &&
                !strcmp(v->name, variable->name))
                return v;
        }
    return variable;
}

/* ------------------------------------------------------------------ initial values */

static bool relocation_value(const ptx_program *p, const ptx_relocation *r, uint64_t *out)
{
    size_t index;
    if (r->function) {
        if (!pointer_map_get(&p->code_map, r->function, &index)) return false;
        p->codes[index].address_taken = true;
        *out = WINDOW_CODE + CODE_STEP * ((uint64_t)index + 1);
    } else if (r->variable->space == PTX_SPACE_SHARED) {
        *out = r->generic ? WINDOW_SHARED : 0;
    } else if (!ptx_program_variable_address(p, r->variable, out)) {
        return false;
    }
    *out += (uint64_t)r->addend;
    return true;
}

static ptx_status initialise(ptx_program *p, const program_global *g, ptx_diags *diags)
{
    const ptx_variable *v = g->variable;
    uint8_t *host = ptx_memory_host(p->engine->memory, g->address, v->size);
    if (v->data) memcpy(host, v->data, v->data_size < v->size ? v->data_size : v->size);
    for (uint32_t k = 0; k < v->relocation_count; k++) {
        const ptx_relocation *r = &v->relocations[k];
        uint64_t value = 0;
        if (!relocation_value(p, r, &value)) {
            report(diags, v->name, v->line, "is initialised with a symbol that is defined nowhere");
            return PTX_INVALID;
        }
        value >>= r->shift;
        if (r->offset + r->width <= v->size) memcpy(host + r->offset, &value, r->width);
    }
    return PTX_OK;
}

ptx_status ptx_link(ptx_program *program, uint64_t owner, ptx_diags *diags)
{
    ptx_status status = number_functions(program, diags);
    if (status == PTX_OK) status = place_variables(program, owner, diags);
    for (size_t k = 0; k < program->global_count && status == PTX_OK; k++)
        status = initialise(program, &program->globals[k], diags);
    return status;
}

void ptx_unlink(ptx_program *program)
{
    for (size_t k = 0; k < program->global_count; k++) {
        program_global *g = &program->globals[k];
        if (g->managed) {
            ptx_memory_unregister(program->engine->memory, g->managed);
            gpul__free(g->managed);
        } else if (g->address) {
            ptx_memory_free(program->engine->memory, g->address);
        }
    }
    pointer_map_free(&program->global_map);
    pointer_map_free(&program->code_map);
}
