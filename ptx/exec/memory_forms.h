/* The full handlers of loads or of stores, one for each form of address and element, and the table that picks
 * them.  Included once at the end of memory_load.c and of memory_store.c, which define
 *     ACCESS(name)      load_name or store_name
 *     ACCESS_INDEXED    the address mode of fused indexing
 *     ACCESS_ELEMENTS   the rows (suffix, element, count)
 *     ACCESS_HANDLERS   the name of the function below
 * and the handlers for some lanes.  SPDX-License-Identifier: MIT */

#define DEFINE_BY_PATTERN(name, suffix, space, bits, e, count)                                     \
    static __attribute__((noinline)) void ACCESS(name##_general_##suffix)(warp * w, const insn *i) \
    {                                                                                              \
        ACCESS(general)(w, i, space, bits, e, count, ACCESS(name##_some));                         \
    }                                                                                              \
    static void ACCESS(name##_##suffix)(warp * w, const insn *i)                                   \
    {                                                                                              \
        ACCESS(full)(w, i, space, bits, e, count, ACCESS(name##_general_##suffix));                \
    }
#define DEFINE(suffix, e, count)                                                                   \
    DEFINE_BY_PATTERN(global, suffix, MEMORY_GLOBAL, 64, e, count)                                 \
    DEFINE_BY_PATTERN(indexed, suffix, MEMORY_GLOBAL, ACCESS_INDEXED, e, count)                    \
    DEFINE_BY_PATTERN(shared, suffix, MEMORY_SHARED, 64, e, count)                                 \
    DEFINE_BY_PATTERN(shared32, suffix, MEMORY_SHARED, 32, e, count)                               \
    static void ACCESS(local_##suffix)(warp * w, const insn *i)                                    \
    {                                                                                              \
        ACCESS(local_full)(w, i, 64, e, count, ACCESS(local_some));                                \
    }                                                                                              \
    static void ACCESS(local32_##suffix)(warp * w, const insn *i)                                  \
    {                                                                                              \
        ACCESS(local_full)(w, i, 32, e, count, ACCESS(local32_some));                              \
    }                                                                                              \
    static void ACCESS(generic_##suffix)(warp * w, const insn *i)                                  \
    {                                                                                              \
        if (LIKELY(all_global(w, i))) ACCESS(global_##suffix)(w, i);                               \
        else ACCESS(generic)(w, i);                                                                \
    }                                                                                              \
    static void ACCESS(global_uniform_##suffix)(warp * w, const insn *i)                           \
    {                                                                                              \
        ACCESS(uniform_full)(w, i, MEMORY_GLOBAL, e, count, ACCESS(global_some));                  \
    }                                                                                              \
    static void ACCESS(shared_uniform_##suffix)(warp * w, const insn *i)                           \
    {                                                                                              \
        ACCESS(uniform_full)(w, i, MEMORY_SHARED, e, count, ACCESS(shared_some));                  \
    }                                                                                              \
    static void ACCESS(local_uniform_##suffix)(warp * w, const insn *i)                            \
    {                                                                                              \
        ACCESS(uniform_full)(w, i, MEMORY_LOCAL, e, count, ACCESS(local_some));                    \
    }
ACCESS_ELEMENTS(DEFINE)

/* ------------------------------------------------------------------ the table */

handler_pair ACCESS_HANDLERS(const access_form *form)
{
    static handler *const some[MEMORY_SPACES][2] = {
        [MEMORY_GLOBAL] = { ACCESS(global_some), ACCESS(global_some) },
        [MEMORY_SHARED] = { ACCESS(shared_some), ACCESS(shared32_some) },
        [MEMORY_LOCAL] = { ACCESS(local_some), ACCESS(local32_some) },
        [MEMORY_PARAM] = { ACCESS(param_some), ACCESS(param32_some) },
        [MEMORY_GENERIC] = { ACCESS(generic), ACCESS(generic) },
    };
    handler_pair pair = { some[form->space][form->address32], some[form->space][form->address32] };
    if (form->indexed) pair = (handler_pair){ ACCESS(indexed_some), ACCESS(indexed_some) };
#define ROW(suffix, e, count)                                                                      \
    { MEMORY_SHAPE(e, count / 2),                                                                  \
      { [FORM_GLOBAL] = ACCESS(global_##suffix),                                                   \
        [FORM_INDEXED] = ACCESS(indexed_##suffix),                                                 \
        [FORM_GLOBAL_UNIFORM] = ACCESS(global_uniform_##suffix),                                   \
        [FORM_SHARED] = ACCESS(shared_##suffix),                                                   \
        [FORM_SHARED32] = ACCESS(shared32_##suffix),                                               \
        [FORM_SHARED_UNIFORM] = ACCESS(shared_uniform_##suffix),                                   \
        [FORM_LOCAL] = ACCESS(local_##suffix),                                                     \
        [FORM_LOCAL32] = ACCESS(local32_##suffix),                                                 \
        [FORM_LOCAL_UNIFORM] = ACCESS(local_uniform_##suffix),                                     \
        [FORM_GENERIC] = ACCESS(generic_##suffix) } },
    static const struct {
        uint8_t shape;
        handler *full[FORMS];
    } rows[] = { ACCESS_ELEMENTS(ROW) };
    form_column column = column_of(form);
    for (size_t k = 0; k < sizeof rows / sizeof *rows && column < FORMS; k++)
        if (rows[k].shape == form->shape) pair.full = rows[k].full[column];
    return pair;
}
