/* Arrays, textures and surfaces.  A kernel takes a texture or surface by its handle, which is a number:
 *
 *     gpul_args(gpul_texture_handle(texture), ...)     for     cudaTextureObject_t image, ...
 *
 * GPUs only: the CPU device has none, and refuses with E_UNSUPPORTED.  SPDX-License-Identifier: MIT */
#ifndef GPULAUNCH_TEXTURE_H
#define GPULAUNCH_TEXTURE_H

#include <gpulaunch/gpulaunch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Arrays -------------------------------------------------------------------------------- */

/* Memory in the order that textures are read fastest in; reached by copies, textures and surfaces only. */
typedef struct gpul_array_opts {
    gpul_type type;       /* of a channel: GPUL_I8 to GPUL_U32, GPUL_F16 or GPUL_F32 */
    unsigned channels;    /* 1, 2 or 4; 0: 1 */
    size_t width, height; /* elements; height 0: one dimension */
    size_t depth;         /* 0: one or two dimensions; with .layered: how many layers */
    bool layered; /* layers of one or two dimensions, read without interpolation between them */
    bool cube;    /* depth is 6 faces, with .layered 6 for each cube */
    bool surface; /* kernels write to it through a surface */
    bool gather;  /* for tex2Dgather */
    unsigned
        levels; /* of a mipmap, each half as large as the one before; 0: 1, which is no mipmap */
    const void *init; /* all elements, row behind row and layer behind layer; of level 0 */
    const char *name; /* in messages; NULL: "array" */
} gpul_array_opts;
#define gpul_array_opts(...) GPUL_OPTIONS(gpul_array_opts, __VA_ARGS__)

/* Thread-safety: one at a time.  gpul_copy_2d and gpul_copy_3d copy parts of it.  Of a mipmap these calls, and
 * those below, mean level 0. */
typedef struct gpul_array gpul_array;
GPUL_API gpul_status gpul_array_new(gpul_array **out, gpul_device *device,
                                    const gpul_array_opts *opts);
GPUL_API void gpul_array_free(gpul_array **array);
GPUL_API size_t gpul_array_bytes(const gpul_array *array); /* of all elements, without padding */
GPUL_API void *gpul_array_handle(const gpul_array *array); /* the CUarray */

/* A level of a mipmap (0 the largest) as an array of its own, to be written, copied and drawn to.  It keeps the
 * mipmap alive.  `name` NULL: the mipmap's. */
GPUL_API gpul_status gpul_array_level(gpul_array **out, gpul_array *mipmap, unsigned level,
                                      const char *name);

/* The sizes of an array or a level in elements; height and depth 0 where there is none.  `levels` is 1 of
 * what is no mipmap. */
typedef struct gpul_array_info {
    gpul_type type;
    unsigned channels, levels;
    size_t width, height, depth;
} gpul_array_info;
GPUL_API gpul_status gpul_array_describe(gpul_array_info *out, const gpul_array *array);
GPUL_API void *
gpul_array_mipmap_handle(const gpul_array *array); /* the CUmipmappedArray, or NULL */

/* All elements, as for .init.  As gpul_write and gpul_read: with a stream only queued. */
GPUL_API gpul_status gpul_array_write(gpul_array *destination, const void *source,
                                      gpul_stream *stream);
GPUL_API gpul_status gpul_array_read(void *destination, const gpul_array *source,
                                     gpul_stream *stream);

/* ---- Textures and surfaces ----------------------------------------------------------------- */

/* What is read outside the range of coordinates. */
typedef enum gpul_edge {
    GPUL_EDGE_CLAMP = 0, /* the nearest element */
    GPUL_EDGE_BORDER,    /* .border */
    GPUL_EDGE_WRAP,      /* needs .normalized */
    GPUL_EDGE_MIRROR     /* needs .normalized */
} gpul_edge;

/* Exactly one of array and buffer is set.  A mipmap is read with all its levels (tex2DLod); a surface, and a texture
 * of a level (gpul_array_level), is of one.  A buffer with .height is read in two dimensions (tex2D), its rows
 * .pitch bytes apart; without, in one and by whole numbers (tex1Dfetch). */
typedef struct gpul_texture_opts {
    gpul_array *array;
    gpul_buffer *buffer;
    bool surface; /* a surface object, of an array with .surface; nothing below counts */

    gpul_type type;              /* of a channel of a buffer; 0: the buffer's type */
    unsigned channels;           /* of a buffer: 1, 2 or 4; 0: 1 */
    size_t width, height, pitch; /* of a buffer in two dimensions: elements, rows, bytes */
    bool linear;                 /* interpolates; needs floats or .as_float */
    bool as_float;               /* integers of 8 or 16 bits are read as 0 to 1 or -1 to 1 */
    bool normalized;             /* coordinates run from 0 to 1 */
    bool srgb;                   /* 8-bit channels are decoded from sRGB */
    gpul_edge edge[3];
    float border[4];
    unsigned anisotropy; /* samples for what is seen at an angle: 2 to 16; 0: 1 */
    /* Of a mipmap, whose coordinates are .normalized: */
    bool mip_linear;        /* interpolates between levels; as .linear */
    float mip_bias;         /* is added to the level */
    float mip_min, mip_max; /* the levels that are read; mip_max 0: to the smallest */
} gpul_texture_opts;
#define gpul_texture_opts(...) GPUL_OPTIONS(gpul_texture_opts, __VA_ARGS__)

/* Keeps its array or buffer alive.  Thread-safety: safe. */
typedef struct gpul_texture gpul_texture;
GPUL_API gpul_status gpul_texture_new(gpul_texture **out, const gpul_texture_opts *opts);
GPUL_API void gpul_texture_free(gpul_texture **texture);

/* The argument of a kernel: a cudaTextureObject_t or cudaSurfaceObject_t.  It must not be freed before the
 * launches that have it are finished. */
GPUL_API uint64_t gpul_texture_handle(const gpul_texture *texture);

#ifdef __cplusplus
}
#endif
#endif
