/* The plan of a run: which kernels, which buffers with which contents and shapes, which values, which
 * geometry.  Made from a request and the kernels' signatures; nothing here touches a device.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_PLAN_H
#define TOOLS_PLAN_H

#include "content.h"
#include "request.h"

typedef struct buffer {
    const char *name;
    const char *type_text; /* "const float *" */
    const layout *layout;
    buffer_spec spec;
    content *content; /* NULL: nothing is put in (outputs, scratch, noinit) */
    place declared;
    span at; /* of the description */
    shape shape;
    const char *shape_from; /* "from x": how the length was found; NULL: it was said */
    uint64_t count, bytes;  /* elements; of all of them */
    uint64_t width, height; /* images */
    unsigned channels;
    direction direction; /* IN, OUT, INOUT or SCRATCH */
    size_t step;         /* that made it */
    void *device;        /* of execute.c: struct device_buffer */
} buffer;

typedef struct argument {
    const gpul_param *param;
    const char *name; /* the parameter's, or its position */
    enum { ARG_NONE, ARG_VALUE, ARG_BUFFER, ARG_NULL } kind;
    unsigned char *bytes; /* VALUE: param->value.size of them */
    const layout *layout; /* VALUE */
    buffer *buffer;       /* BUFFER */
    const char *source;   /* how a value was found: "x.len"; NULL: said */
    const char *shown;    /* VALUE: as text */
    bool reused;          /* a buffer of an earlier step */
} argument;

struct expectation;

typedef struct step {
    const step_request *request;
    size_t index;
    const gpul_kernel_info *kernel;
    const gpul_kernel *handle; /* once loaded; kernel is then the loaded one's */
    argument *arguments;       /* one for each parameter */
    uint64_t grid[3], block[3];
    const char *grid_from; /* "one thread for each element of x and y"; NULL: said */
    bool block_inferred;
    bool flattened; /* the buffers' shape has more dimensions than the kernel uses */
    list_of(struct expectation *) expectations;
} step;

typedef struct plan {
    const source_file *source;
    const gpul_image *image;
    const gpul_device_info *device; /* NULL: none is open (inspect, hints) */
    const run_request *request;
    list_of(step *) steps;
    list_of(buffer *) buffers; /* of all steps, in the order of making */
    uint64_t seed;
    bool only_literals; /* references cannot be resolved: a mistake was found before */
} plan;

/* Makes the plan.  False: messages say why.  The geometry is not part of it (plan_geometry). */
bool plan_bind(plan *p);
bool plan_geometry(plan *p, bool strict); /* strict: a flat launch of a 2-D kernel is an error */
bool geometry_channels(
    const step *s);      /* false: a colour image meets a kernel of one value a pixel */
void plan_free(plan *p); /* contents */

/* The stages of plan_bind. */
const gpul_kernel_info *choose_kernel(const plan *p, const step_request *request);
void no_kernel(const source_file *source, const gpul_image *image); /* the message */
bool bind_step(plan *p, step *s);
bool resolve_lengths(plan *p, step *s);
bool bind_values(plan *p, step *s);

/* Kernels that may be meant by `name`: counts them and returns the last; templates are counted when
 * their base name fits. */
const char *instance_of(const gpul_kernel_info *k); /* of a template: something that -k takes */
const gpul_kernel_info *find_kernel(const gpul_image *image, const char *name, size_t *count);
bool expression_needed(const char *kernel_name); /* 'scale<float>' must be asked of the compiler */

argument *step_argument(const step *s, const char *name);
buffer *plan_buffer(const plan *p, const step *s, const char *name); /* as the step sees it */

place place_of_param(const plan *p, const gpul_param *param);
place place_of_params(const plan *p, const gpul_kernel_info *kernel);
place place_of_kernel(const plan *p, const gpul_kernel_info *kernel);
const char *param_type_text(const gpul_param *param);
const char *param_name(const gpul_kernel_info *kernel, size_t index);

/* A reference such as x.len: true when `text` has that form; *value is set when it can be resolved, else
 * a message is made (*failed). */
bool reference_value(const plan *p, const step *s, span at, uint64_t *value, bool *failed);

/* A pointer, or 8 bytes of which no more is known (PTX and CUBIN). */
bool may_be_buffer(const gpul_param *param);

/* Words that would give every parameter a value: for hints, inspect and new. */
const char *suggest_words(const gpul_kernel_info *kernel, const step_request *given);

#endif
