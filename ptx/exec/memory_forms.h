/* The full handlers of loads or of stores, one for each form of address and element, and the table that picks
 * them.  Included once at the end of memory_load.c and of memory_store.c, which define
 *     ACCESS(name)      load_name or store_name
 *     ACCESS_INDEXED    the address mode of fused indexing
 *     ACCESS_ELEMENTS   the rows (how, suffix, element, count); how is COMMON or OTHER
 *     ACCESS_WRITES     true for stores
 *     ACCESS_HANDLERS   the name of the function below
 * and the handlers for some lanes, `full` and `uniform_full`, and `parts_suffix` for each element.  SPDX-License-Identifier: MIT */

/* The ways of one form of address that do not depend on the element. */
#define DEFINE_FORM(name, space, bits)                                                             \
    SHARED ACCESS(name##_general)(warp * w, const insn *i, unsigned size, const parts *p)          \
    {                                                                                              \
        without_pattern(w, i, space, bits, size, ACCESS_WRITES, p, ACCESS(name##_some));           \
    }                                                                                              \
    SHARED ACCESS(name##_other)(warp * w, const insn *i, unsigned size, const parts *p)            \
    {                                                                                              \
        ACCESS(full)(w, i, space, bits, size, p, ACCESS(name##_general));                          \
    }
DEFINE_FORM(global, MEMORY_GLOBAL, 64)
DEFINE_FORM(indexed, MEMORY_GLOBAL, ACCESS_INDEXED)
DEFINE_FORM(shared, MEMORY_SHARED, 64)
DEFINE_FORM(shared32, MEMORY_SHARED, 32)

/* Local memory has its fast way for lanes that use the same offset only. */
INLINE void local_full(warp *w, const insn *i, int bits, unsigned size, const parts *p,
                       handler *some)
{
    u64 at = address_of(w, i, bits, 0);
    if (w->mask == ALL_LANES && classify(w, i, bits, 0) == PATTERN_BROADCAST &&
        local_valid(w, at, size))
        p->rows(w, i, at);
    else some(w, i);
}

#define DEFINE_COMMON(name, suffix, space, bits, size)                                             \
    OWN ACCESS(name##_##suffix)(warp * w, const insn *i)                                           \
    {                                                                                              \
        ACCESS(full)(w, i, space, bits, size, &ACCESS(parts_##suffix), ACCESS(name##_general));    \
    }
#define DEFINE_OTHER(name, suffix, space, bits, size)                                              \
    static void ACCESS(name##_##suffix)(warp * w, const insn *i)                                   \
    {                                                                                              \
        ACCESS(name##_other)(w, i, size, &ACCESS(parts_##suffix));                                 \
    }
#define DEFINE_LOCAL(name, suffix, bits, e, count)                                                 \
    static void ACCESS(name##_##suffix)(warp * w, const insn *i)                                   \
    {                                                                                              \
        local_full(w, i, bits, element_bytes(e) * (count), &ACCESS(parts_##suffix),                \
                   ACCESS(name##_some));                                                           \
    }
#define DEFINE_UNIFORM(name, suffix, space, e, count)                                              \
    static void ACCESS(name##_uniform_##suffix)(warp * w, const insn *i)                           \
    {                                                                                              \
        ACCESS(uniform_full)                                                                       \
        (w, i, space, element_bytes(e) * (count), &ACCESS(parts_##suffix), ACCESS(name##_some));   \
    }
#define DEFINE(how, suffix, e, count)                                                              \
    DEFINE_##how(global, suffix, MEMORY_GLOBAL, 64, element_bytes(e) * (count))                    \
        DEFINE_##how(indexed, suffix, MEMORY_GLOBAL, ACCESS_INDEXED, element_bytes(e) * (count))   \
            DEFINE_##how(shared, suffix, MEMORY_SHARED, 64, element_bytes(e) * (count))            \
                DEFINE_##how(shared32, suffix, MEMORY_SHARED, 32, element_bytes(e) * (count))      \
                    DEFINE_LOCAL(local, suffix, 64, e, count) DEFINE_LOCAL(local32, suffix, 32, e, \
                                                                           count)                  \
                        DEFINE_UNIFORM(global, suffix, MEMORY_GLOBAL, e, count)                    \
                            DEFINE_UNIFORM(shared, suffix, MEMORY_SHARED, e, count)                \
                                DEFINE_UNIFORM(local, suffix, MEMORY_LOCAL, e, count) static void  \
                                ACCESS(generic_##suffix)(warp * w, const insn *i)                  \
    {                                                                                              \
        if (LIKELY(all_global(w, i))) ACCESS(global_##suffix)(w, i);                               \
        else ACCESS(generic)(w, i);                                                                \
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
#define ROW(how, suffix, e, count)                                                                 \
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
