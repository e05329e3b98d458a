/* What the tests of lib/core share: the library over the recording provider, kernels from a PTX text of
 * their own with the types that a compiler would give, and assertions that show the error record.
 * SPDX-License-Identifier: MIT */
#ifndef CORE_SUITE_H
#define CORE_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/device.h"
#include "core/image.h"
#include "driver/fault.h"
#include "driver/record.h"
#include "error_record.h"
#include "runner.h"

#define ENTRY(name, ...) ".visible .entry " name "(" __VA_ARGS__ ")\n{\n    ret;\n}\n"
static const char kernels_ptx[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                                  ".const .align 4 .b8 table[16];\n"
                                  ".visible .global .align 4 .u32 counter;\n"
    // clang-format off
    ENTRY("scale", ".param .u64 data, .param .u32 n, .param .f32 by")
    ENTRY("c14_a", ".param .u64 out, .param .u16 s")
    ENTRY("c14_b", ".param .u64 out, .param .f32 x, .param .u8 c")
    ENTRY("c14_c", ".param .u8 c, .param .u64 out, .param .u8 neg")
    ENTRY("c15_order", ".param .u32 a, .param .u64 out, .param .u8 c, .param .align 16 .b8 q[16], "
                       ".param .u32 b, .param .u64 w")
    ENTRY("c15_inner", ".param .align 8 .b8 r[32], .param .u64 out")
    ENTRY("every", ".param .u8 flag, .param .u8 c, .param .u8 uc, .param .u16 s, .param .u16 us, "
                   ".param .u32 i, .param .u32 u, .param .u64 l, .param .u64 ul, .param .f32 f, "
                   ".param .f64 d, .param .align 2 .b8 h[2], .param .align 2 .b8 b[2], "
                   ".param .align 4 .b8 f3[12], .param .u32 e, .param .u64 in, .param .u64 out, "
                   ".param .u64 any")
    ENTRY("nothing", "")
    ENTRY("large", ".param .align 1 .b8 a[5000]")
    ENTRY("huge", ".param .align 1 .b8 a[40000]")
    ".visible .entry bounded(.param .u64 p)\n.maxntid 256, 1, 1\n{\n    ret;\n}\n"
    ".visible .entry exact(.param .u64 p)\n.reqntid 8, 4, 2\n{\n    ret;\n}\n"
    ".visible .entry paired(.param .u64 p)\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{\n    ret;\n}\n"
    ".visible .entry grids(.param .u64 p)\n{\n    .reg .b32 %r<2>;\n    mov.u32 %r1, %envreg2;\n    ret;\n}\n"
    ".extern .shared .align 4 .b8 tile[];\n"
    ".visible .entry dynamic(.param .u64 p)\n{\n    .reg .b64 %rd<2>;\n    mov.u64 %rd1, tile;\n    ret;\n}\n";
// clang-format on
#undef ENTRY

static gpul_device *device;
static gpul_module *module;

/* What the compiler would say of a parameter. */
typedef struct typed {
    const char *type_name;
    gpul_type type, element;
    uint32_t lanes;
    bool pointer, is_const;
    gpul_type pointee, pointee_element; /* the element, where the pointee is a vector */
    bool is_enum;
} typed;

static inline gpul_kernel_info *info_of(gpul_image *image, const char *name)
{
    for (size_t i = 0; i < image->kernel_count; i++)
        if (strcmp(image->kernels[i].symbol, name) == 0) return &image->kernels[i];
    fail_msg("no kernel %s in the test's image", name);
    return NULL;
}

/* Turns what is known of a kernel from PTX into what a compiler knows; `names` are those of the
 * parameters, with blanks between them. */
static inline void set_types(gpul_image *image, const char *name, const char *names,
                             const typed *types, size_t count)
{
    gpul_kernel_info *info = info_of(image, name);
    gpul_param *params = gpul__arena_alloc(&image->arena, count * sizeof *params);
    gpul_member *pointees = gpul__arena_alloc(&image->arena, count * sizeof *pointees);
    assert_non_null(params);
    assert_non_null(pointees);
    assert_int_equal(info->param_count, count);
    for (size_t i = 0; i < count; i++) {
        params[i] = info->params[i];
        size_t length = strcspn(names, " ");
        params[i].value.name = gpul__arena_strndup(&image->arena, names, length);
        assert_non_null(params[i].value.name);
        names += length + (names[length] == ' ');
        params[i].value.type_name = types[i].type_name;
        params[i].value.type = types[i].pointer ? GPUL_POINTER : types[i].type;
        params[i].value.element = types[i].element ? types[i].element : types[i].type;
        params[i].value.lanes = types[i].lanes ? types[i].lanes : 1;
        params[i].value.is_enum = types[i].is_enum;
        params[i].is_pointer = types[i].pointer;
        params[i].is_const = types[i].is_const;
        params[i].file = "kernels.cu";
        params[i].line = 10 + (uint32_t)i;
        params[i].column = 5;
        if (!types[i].pointer || !types[i].pointee) continue;
        gpul_type element = types[i].pointee_element;
        pointees[i] = (gpul_member){ .name = "",
                                     .type_name = gpul_type_name(types[i].pointee),
                                     .type = types[i].pointee,
                                     .element = element ? element : types[i].pointee,
                                     .lanes = element ? 4 : 1,
                                     .count = 1 };
        params[i].pointee = &pointees[i];
    }
    info->params = params;
    info->types = GPUL_TYPES_COMPILER;
}
#define SET_TYPES(image, name, names, ...)                                                         \
    set_types(image, name, names, (const typed[]){ __VA_ARGS__ },                                  \
              sizeof((const typed[]){ __VA_ARGS__ }) / sizeof(typed))

static inline void use_record(const gpul__record_config *config)
{
    gpul__record_driver(); /* its first call resets */
    gpul__record_reset(config);
    gpul__driver_override(gpul__record_driver());
}

static inline gpul_image *image_of(const char *ptx)
{
    gpul_image *image;
    assert_ok(gpul_image_from_memory(&image, ptx, strlen(ptx), "kernels.ptx"));
    return image;
}

/* The types of the kernels above, as their sources would declare them. */
static inline void type_kernels(gpul_image *image)
{
    const typed floats = { "float *", .pointer = true, .pointee = GPUL_F32 };
    const typed doubles = { "double *", .pointer = true, .pointee = GPUL_F64 };
    const typed ints = { "int *", .pointer = true, .pointee = GPUL_I32 };
    SET_TYPES(image, "scale", "data n by", floats, { "int", GPUL_I32 }, { "float", GPUL_F32 });
    SET_TYPES(image, "c14_a", "out s", ints, { "short", GPUL_I16 });
    SET_TYPES(image, "c14_b", "out x c", doubles, { "float", GPUL_F32 }, { "char", GPUL_I8 });
    SET_TYPES(image, "c14_c", "c out neg", { "char", GPUL_I8 }, ints, { "bool", GPUL_BOOL });
    SET_TYPES(image, "c15_order", "a out c q b w", { "int", GPUL_I32 }, doubles,
              { "char", GPUL_I8 }, { "Quad", GPUL_STRUCT }, { "int", GPUL_I32 },
              { "long long", GPUL_I64 });
    SET_TYPES(image, "c15_inner", "r out", { "Rec", GPUL_STRUCT }, doubles);
    SET_TYPES(image, "every", "flag c uc s us i u l ul f d h b f3 e in out any",
              { "bool", GPUL_BOOL }, { "signed char", GPUL_I8 }, { "unsigned char", GPUL_U8 },
              { "short", GPUL_I16 }, { "unsigned short", GPUL_U16 }, { "int", GPUL_I32 },
              { "unsigned", GPUL_U32 }, { "long", GPUL_I64 }, { "unsigned long", GPUL_U64 },
              { "float", GPUL_F32 }, { "double", GPUL_F64 }, { "__half", GPUL_F16 },
              { "__nv_bfloat16", GPUL_BF16 }, { "float3", GPUL_STRUCT, GPUL_F32, 3 },
              { "Mode", GPUL_I32, .is_enum = true },
              { "const float *", .pointer = true, .is_const = true, .pointee = GPUL_F32 },
              { "float4 *", .pointer = true, .pointee = GPUL_STRUCT, .pointee_element = GPUL_F32 },
              { "void *", .pointer = true, .pointee = GPUL_VOID });
}

/* A device over the recording provider and the kernels above on it. */
static inline int open_all(void **state)
{
    (void)state;
    use_record(NULL);
    assert_ok(gpul_open(&device, NULL));
    gpul_image *image = image_of(kernels_ptx);
    type_kernels(image);
    assert_ok(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    gpul_module_free(&module);
    gpul_device_free(&device);
    if (*gpul__record_leaks()) fail_msg("left behind: %s", gpul__record_leaks());
    gpul__driver_override(NULL);
    return 0;
}

static inline const gpul_kernel *kernel_of(const char *name)
{
    const gpul_kernel *kernel;
    assert_ok(gpul_module_kernel(&kernel, module, name));
    return kernel;
}

#endif
