/* Signatures: the declarations of a module, and what each kernel and the functions it can reach
 * mention.  SPDX-License-Identifier: MIT */
#include "ptx/signature.h"

#include <string.h>

#include "ptx/parse.h"

/* From a function to a variable or function it mentions. */
typedef struct edge {
    const ptx_variable *variable; /* or NULL */
    const ptx_function *function; /* or NULL */
} edge;

/* What was heard of one function, by its index in the module. */
typedef struct heard {
    uint32_t uses;
    uint64_t static_shared;
    size_t first_edge, end_edge;
    uint32_t seen_by; /* the kernel that reached it last: number + 1 */
} heard;

typedef struct listener {
    PTX_VECTOR(heard) functions;
    PTX_VECTOR(edge) edges;
    PTX_VECTOR(uint32_t) seen_globals; /* by index: the kernel that reached it last */
    PTX_VECTOR(edge) open;             /* still to be followed */
    uint64_t steps;
    bool no_memory;
} listener;

/* Following the edges of every kernel can take long for hostile texts only. */
static const uint64_t MOST_STEPS = (uint64_t)1 << 26;

#define PUSH(vector)                                                                               \
    (gpul__grow(&(vector).items, &(vector).capacity, (vector).count, sizeof *(vector).items)       \
         ? &(vector).items[(vector).count++]                                                       \
         : NULL)

/* ------------------------------------------------------------------ listening */

static heard *heard_of(listener *self, const ptx_function *function)
{
    while (self->functions.count <= function->index) {
        heard *slot = PUSH(self->functions);
        if (!slot) {
            self->no_memory = true;
            return NULL;
        }
        *slot = (heard){ 0 };
    }
    heard *found = &self->functions.items[function->index];
    if (found->first_edge == found->end_edge)
        found->first_edge = found->end_edge = self->edges.count;
    return found;
}

static uint32_t uses_of_special(ptx_special first, int component)
{
    /* Without a component all of them are read. */
    uint32_t y = component == 1 || component < 0, z = component == 2 || component < 0;
    if (first == PTX_SPECIAL_TID_X) return y * PTX_USES_TID_Y | z * PTX_USES_TID_Z;
    if (first == PTX_SPECIAL_CTAID_X) return y * PTX_USES_CTAID_Y | z * PTX_USES_CTAID_Z;
    if (first >= PTX_SPECIAL_IS_EXPLICIT_CLUSTER && first <= PTX_SPECIAL_CLUSTER_NCTARANK)
        return PTX_USES_CLUSTER;
    if (first == PTX_SPECIAL_ENVREG1 || first == PTX_SPECIAL_ENVREG2) return PTX_USES_GRID_SYNC;
    return 0;
}

static void hear_special(void *self, const ptx_function *function, const ptx_word *word,
                         int component)
{
    uint32_t uses = uses_of_special((ptx_special)word->special, component);
    heard *about = uses ? heard_of(self, function) : NULL;
    if (about) about->uses |= uses;
}

static bool hear_symbol(void *self, const ptx_function *function, const ptx_binding *binding)
{
    listener *all = self;
    heard *about = heard_of(all, function);
    edge *slot = about ? PUSH(all->edges) : NULL;
    if (!slot) return false;
    bool variable = binding->kind == PTX_BOUND_VARIABLE;
    *slot = (edge){ .variable = variable ? binding->variable : NULL,
                    .function = variable ? NULL : binding->function };
    about->end_edge = all->edges.count;
    return true;
}

static uint64_t add_aligned(uint64_t used, const ptx_variable *variable)
{
    if (used > UINT64_MAX / 4) return used; /* more than any device has, whatever follows */
    uint64_t align = variable->align ? variable->align : 1;
    return (used + align - 1) / align * align + variable->size;
}

static void hear_shared(void *self, const ptx_function *function, const ptx_variable *variable)
{
    heard *about = heard_of(self, function);
    if (!about) return;
    if (variable->unsized) about->uses |= PTX_USES_DYNAMIC_SHARED;
    about->static_shared = add_aligned(about->static_shared, variable);
}

/* ------------------------------------------------------------------ following */

static bool open_edge(listener *self, const ptx_variable *variable, const ptx_function *function)
{
    edge *slot = PUSH(self->open);
    if (slot) *slot = (edge){ .variable = variable, .function = function };
    else self->no_memory = true;
    return slot != NULL;
}

static bool visit_function(listener *self, const ptx_function *function, uint32_t stamp,
                           ptx_signature_kernel *kernel)
{
    heard *about = heard_of(self, function);
    if (!about || about->seen_by == stamp) return about != NULL;
    about->seen_by = stamp;
    kernel->uses |= about->uses;
    if (about->static_shared) {
        const ptx_variable all = { .align = 16, .size = about->static_shared };
        kernel->static_shared = add_aligned(kernel->static_shared, &all);
    }
    for (size_t i = about->first_edge; i < about->end_edge; i++)
        if (!open_edge(self, self->edges.items[i].variable, self->edges.items[i].function))
            return false;
    self->steps += about->end_edge - about->first_edge;
    return true;
}

/* A variable of the module counts when it is shared; through its initialiser it can reach
 * functions and further variables. */
static bool visit_variable(listener *self, const ptx_variable *variable, uint32_t stamp,
                           ptx_signature_kernel *kernel)
{
    if (!variable->listed) return true; /* a parameter or a variable of the body */
    uint32_t *seen = &self->seen_globals.items[variable->index];
    if (*seen == stamp) return true;
    *seen = stamp;
    if (variable->space == PTX_SPACE_SHARED) {
        if (variable->unsized) kernel->uses |= PTX_USES_DYNAMIC_SHARED;
        kernel->static_shared = add_aligned(kernel->static_shared, variable);
    }
    for (uint32_t i = 0; i < variable->relocation_count; i++)
        if (!open_edge(self, variable->relocations[i].variable, variable->relocations[i].function))
            return false;
    self->steps += variable->relocation_count;
    return true;
}

static bool follow(listener *self, const ptx_function *function, uint32_t stamp,
                   ptx_signature_kernel *kernel)
{
    self->open.count = 0;
    if (!open_edge(self, NULL, function)) return false;
    while (self->open.count) {
        edge next = self->open.items[--self->open.count];
        bool fine = next.function ? visit_function(self, next.function, stamp, kernel)
                                  : visit_variable(self, next.variable, stamp, kernel);
        if (!fine) return false;
        self->steps++;
        if (self->steps > MOST_STEPS) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ the result */

static const char *own_text(ptx_signature *signature, const char *text)
{
    return gpul__arena_strndup(&signature->arena, text, strlen(text));
}

static ptx_param_kind kind_of(const ptx_variable *param)
{
    if (param->is_pointer) return PTX_PARAM_POINTER;
    if (param->is_array || param->vector) return PTX_PARAM_BYTES;
    switch (ptx_type_class_of((ptx_type)param->type)) {
    case PTX_CLASS_UNSIGNED: return param->size == 8 ? PTX_PARAM_MAYBE_POINTER : PTX_PARAM_UNSIGNED;
    case PTX_CLASS_SIGNED: return PTX_PARAM_SIGNED;
    case PTX_CLASS_FLOAT: return PTX_PARAM_FLOAT;
    case PTX_CLASS_OPAQUE: return PTX_PARAM_OPAQUE;
    default: return param->size == 8 ? PTX_PARAM_MAYBE_POINTER : PTX_PARAM_UNKNOWN;
    }
}

static bool fill_params(ptx_signature *signature, const ptx_function *function,
                        ptx_signature_kernel *kernel)
{
    kernel->param_count = function->param_count;
    kernel->params = gpul__arena_alloc(&signature->arena,
                                       (size_t)function->param_count * sizeof *kernel->params);
    if (!kernel->params) return false;
    uint64_t offset = 0;
    for (uint32_t i = 0; i < function->param_count; i++) {
        const ptx_variable *param = &function->params[i];
        uint64_t align = param->align ? param->align : 1;
        offset = (offset + align - 1) / align * align;
        kernel->params[i] = (ptx_signature_param){
            .name = own_text(signature, param->name),
            .index = i,
            .align = (uint32_t)align,
            .size = param->size,
            .offset = offset,
            .kind = kind_of(param),
            .type = (ptx_type)param->type,
            .pointee_space = (ptx_space)param->pointee_space,
            .pointee_align = param->pointee_align,
        };
        if (!kernel->params[i].name) return false;
        offset += param->size;
    }
    kernel->param_bytes = offset;
    return true;
}

static bool fill_kernel(ptx_signature *signature, const ptx_function *function,
                        ptx_signature_kernel *kernel)
{
    *kernel = (ptx_signature_kernel){
        .name = own_text(signature, function->name),
        .linkage = (ptx_linkage)function->linkage,
        .has_maxntid = function->has_maxntid,
        .has_reqntid = function->has_reqntid,
        .has_reqnctapercluster = function->has_reqnctapercluster,
        .minnctapersm = function->minnctapersm,
        .maxnreg = function->maxnreg,
        .maxclusterrank = function->maxclusterrank,
        .line = function->line,
    };
    memcpy(kernel->maxntid, function->maxntid, sizeof kernel->maxntid);
    memcpy(kernel->reqntid, function->reqntid, sizeof kernel->reqntid);
    memcpy(kernel->reqnctapercluster, function->reqnctapercluster,
           sizeof kernel->reqnctapercluster);
    return kernel->name && fill_params(signature, function, kernel);
}

static bool fill_globals(ptx_signature *signature, const ptx_module *module)
{
    signature->globals =
        gpul__arena_alloc(&signature->arena, module->global_count * sizeof *signature->globals);
    if (!signature->globals) return false;
    for (uint32_t i = 0; i < module->global_count; i++) {
        const ptx_variable *variable = module->globals[i];
        ptx_signature_global *global = &signature->globals[i];
        *global = (ptx_signature_global){
            .name = own_text(signature, variable->name),
            .space = (ptx_space)variable->space,
            .linkage = (ptx_linkage)variable->linkage,
            .type = (ptx_type)variable->type,
            .size = variable->size,
            .align = variable->align,
            .managed = variable->managed,
        };
        if (!global->name) return false;
    }
    signature->global_count = module->global_count;
    return true;
}

static bool fill_kernels(ptx_signature *signature, const ptx_module *module, listener *self)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->function_count; i++)
        count += module->functions[i]->is_entry && module->functions[i]->has_body;
    signature->kernels = gpul__arena_alloc(&signature->arena, count * sizeof *signature->kernels);
    if (!signature->kernels) return false;
    for (uint32_t i = 0; i < module->global_count; i++) {
        uint32_t *seen = PUSH(self->seen_globals);
        if (!seen) return false;
        *seen = 0;
    }
    for (uint32_t i = 0; i < module->function_count; i++) {
        const ptx_function *function = module->functions[i];
        if (!function->is_entry || !function->has_body) continue;
        ptx_signature_kernel *kernel = &signature->kernels[signature->kernel_count++];
        if (!fill_kernel(signature, function, kernel) ||
            !follow(self, function, signature->kernel_count, kernel))
            return false;
    }
    return true;
}

static ptx_status fill(ptx_signature **out, const ptx_module *module, listener *self,
                       ptx_diags *diags)
{
    ptx_signature *signature = gpul__calloc(1, sizeof *signature);
    if (!signature) return PTX_OUT_OF_MEMORY;
    signature->version_major = module->version_major;
    signature->version_minor = module->version_minor;
    signature->target = own_text(signature, module->target);
    signature->target_sm = module->target_sm;
    signature->target_suffix = module->target_suffix;
    signature->address_size = module->address_size;
    if (signature->target && fill_globals(signature, module) &&
        fill_kernels(signature, module, self)) {
        *out = signature;
        return PTX_OK;
    }
    ptx_signature_free(signature);
    if (self->steps <= MOST_STEPS) return PTX_OUT_OF_MEMORY;
    ptx_diags_add(diags, &(ptx_diag){ .severity = PTX_ERROR,
                                      .text = "the kernels' calls are too many to be followed" });
    return PTX_INVALID;
}

ptx_status ptx_signature_read(ptx_signature **out, const char *text, size_t length,
                              ptx_diags *diags)
{
    *out = NULL;
    listener self = { 0 };
    const ptx_skim skim = {
        .self = &self, .special = hear_special, .symbol = hear_symbol, .shared = hear_shared
    };
    ptx_module *module;
    ptx_status status = ptx_parse_with(&module, text, length, diags, &ptx_skimmed_bodies, &skim);
    if (status == PTX_OK)
        status = self.no_memory ? PTX_OUT_OF_MEMORY : fill(out, module, &self, diags);
    ptx_module_free(module);
    gpul__free(self.functions.items);
    gpul__free(self.edges.items);
    gpul__free(self.seen_globals.items);
    gpul__free(self.open.items);
    return status;
}

void ptx_signature_free(ptx_signature *signature)
{
    if (!signature) return;
    gpul__arena_free(&signature->arena);
    gpul__free(signature);
}

const ptx_signature_kernel *ptx_signature_find(const ptx_signature *signature, const char *name)
{
    for (uint32_t i = 0; i < signature->kernel_count; i++)
        if (!strcmp(signature->kernels[i].name, name)) return &signature->kernels[i];
    return NULL;
}
