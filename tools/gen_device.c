/* Contents made by kernels.  SPDX-License-Identifier: MIT */
#include "gen_device.h"

extern const char text_gen_core_h[], text_gen_kernel_cu[]; /* the files of these names */

enum { BLOCK = 256, BLOCKS = 4096 };

/* How make_floats stores a double. */
static int format_of(gpul_type type)
{
    return type == GPUL_F64 ? 0 : type == GPUL_F32 ? 1 : type == GPUL_F16 ? 2 : 3;
}

bool maker_knows(const content *c)
{
    gpul_type type;
    uint32_t lanes;
    if (c->overlays.count || c->leaf || !layout_plain_type(c->layout, &type, &lanes) ||
        !type_size(type))
        return false;
    size_t used = type_size(type) * lanes;
    if (used != c->layout->size) return false; /* float3 in 16 bytes: there is padding */
    if (c->spec->source == SOURCE_RAND || c->spec->source == SOURCE_IOTA) return true;
    bool same = c->spec->source == SOURCE_ONES ||
                (c->spec->source == SOURCE_FILL && c->spec->values.count == 1);
    return same && type_size(type) == 8;
}

gpul_status maker_open(maker *m, gpul_device *device)
{
    if (m->module) return GPUL_OK;
    const gpul_header headers[] = { { "gen_core.h", text_gen_core_h }, { NULL, NULL } };
    const char *flags[] = { "-fmad=false", NULL };
    gpul_image *image = NULL;
    gpul_status status = gpul_compile(&image, text_gen_kernel_cu, GPUL_TEXT,
                                      gpul_compile_opts(.device = device, .name = "gen_kernel.cu",
                                                        .headers = headers, .flags = flags));
    if (!status) status = gpul_load(&m->module, device, image, gpul_load_opts(.keep = true));
    gpul_image_free(&image);
    if (!status) status = gpul_module_kernel(&m->floats, m->module, "make_floats");
    if (!status) status = gpul_module_kernel(&m->integers, m->module, "make_integers");
    if (status) maker_free(m);
    return status;
}

gpul_status maker_make(const maker *m, gpul_buffer *to, const content *c)
{
    gpul_type type = GPUL_TYPE_UNKNOWN;
    uint32_t lanes = 1;
    layout_plain_type(c->layout, &type, &lanes);
    uint64_t count = c->count * lanes;
    int size = (int)type_size(type), random = c->spec->source == SOURCE_RAND;
    uint64_t key = content_key(c);
    gpul_launch_opts opts = { .block = { BLOCK } };
    opts.grid[0] = (count + BLOCK - 1) / BLOCK < BLOCKS ? (count + BLOCK - 1) / BLOCK : BLOCKS;
    if (c->spec->source == SOURCE_ONES || c->spec->source == SOURCE_FILL) {
        unsigned char element[32]; /* double4 at most; its lanes are alike */
        uint64_t bits;
        content_read(c, element, 0, 1);
        memcpy(&bits, element, sizeof bits);
        return gpul_launch(m->integers, &opts,
                           gpul_args(to, count, 0, size, 0, key, bits, (uint64_t)0));
    }
    if (type_is_float(type))
        return gpul_launch(
            m->floats, &opts,
            gpul_args(to, count, format_of(type), size, random, key, c->first, c->second));
    return gpul_launch(m->integers, &opts,
                       gpul_args(to, count, (int)(type == GPUL_BOOL), size, random, key,
                                 (uint64_t)c->from, (uint64_t)c->step));
}

void maker_free(maker *m)
{
    gpul_module_free(&m->module);
    *m = (maker){ 0 };
}
