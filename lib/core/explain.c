/* What each error code means and what to do about it.  The texts are in explain.def, the rows in
 * base/codes.def; a code without a text does not compile.  SPDX-License-Identifier: MIT */
#include "base/error.h"

#define X(name, meaning, causes, remedy)                                                           \
    static const char meaning_##name[] = meaning;                                                  \
    static const char causes_##name[] = causes;                                                    \
    static const char remedy_##name[] = remedy;
#include "core/explain.def"
#undef X

static const gpul_code_info entries[] = {
#define X(number, name, layer, status, title)                                                      \
    {                                                                                              \
        number,         GPUL_LAYER_##layer, GPUL_##status, title,                                  \
        meaning_##name, causes_##name,      remedy_##name                                          \
    },
#include "base/codes.def"
#undef X
};

const gpul_code_info *gpul_code_at(size_t index)
{
    return index < sizeof entries / sizeof *entries ? &entries[index] : NULL;
}

const gpul_code_info *gpul_code_find(int code)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (entries[i].code == code) return &entries[i];
    return NULL;
}
