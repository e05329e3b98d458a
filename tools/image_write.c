/* Buffers as PGM, PPM, PFM and PNG files.  SPDX-License-Identifier: MIT */
#include "outputs.h"
#include "values.h"

/* What a buffer is as an image; false with a reason when it is none. */
static bool image_of(const result_file *f, pixels *out, const char **why)
{
    const buffer *b = f->buffer;
    const shape *s = &b->shape;
    gpul_type type;
    uint32_t lanes;
    *why = NULL;
    if (!layout_plain_type(b->layout, &type, &lanes) || !type_size(type)) {
        *why = mem_format("its elements are %s", b->layout->type_name);
        return false;
    }
    *out = (pixels){ .channels = lanes, .type = type };
    unsigned first = 0;
    if (lanes == 1 && s->rank == 3 && (s->dim[0] == 3 || s->dim[0] == 4)) {
        out->channels = (unsigned)s->dim[0];
        first = 1;
    }
    if (s->rank != first + 2) {
        *why = mem_format("its shape is %s", shape_text(s));
        return false;
    }
    out->width = s->dim[first];
    out->height = s->dim[first + 1];
    bool pfm = f->format == FORMAT_PFM;
    if (pfm ? type != GPUL_F32 : !f->norm && type != GPUL_U8 && type != GPUL_U16)
        *why = mem_format("it holds %s", type_name(type));
    else if (out->channels == 2 || (pfm && out->channels == 4))
        *why = mem_format("it has %u channels", out->channels);
    return *why == NULL;
}

bool image_format_fits(const result_file *f)
{
    pixels image;
    const char *why;
    if (f->format != FORMAT_PNM && f->format != FORMAT_PFM && f->format != FORMAT_PNG) return true;
    if (!image_of(f, &image, &why)) {
        bool wrong_type = starts_with(why, "it holds");
        message *m = message_at_span(fail(wrong_type ? CODE_FILE_TYPE : CODE_FILE_SHAPE,
                                          "%s is no image that %s could hold: %s", f->buffer->name,
                                          f->path, why),
                                     f->at);
        if (wrong_type && type_is_float(image.type) && f->format != FORMAT_PFM)
            message_hint(m, "-o %s=%s,norm  maps 0..1 to 0..255, or write a .pfm", f->buffer->name,
                         f->path);
        else if (wrong_type) message_hint(m, "write a .npy or .csv");
        else message_hint(m, "give the buffer a shape such as 640x480");
        return false;
    }
    bool gray_name = ends_with(f->path, ".pgm") && image.channels > 1,
         color_name = ends_with(f->path, ".ppm") && image.channels == 1;
    if (!gray_name && !color_name) return true;
    message *m =
        message_at_span(fail(CODE_FILE_SHAPE, "%s has %u channel%s, and a %s file has %d",
                             f->buffer->name, image.channels, image.channels == 1 ? "" : "s",
                             gray_name ? ".pgm" : ".ppm", gray_name ? 1 : 3),
                        f->at);
    message_hint(m, "write a %s", gray_name ? ".ppm" : ".pgm");
    return false;
}

/* Bytes of 0..255 (or 16 bits) from the buffer's values; alpha is dropped where the format has none. */
static void prepare(const result_file *f, pixels *image, unsigned channels)
{
    gpul_type to = f->format == FORMAT_PFM ? GPUL_F32 : f->norm ? GPUL_U8 : image->type;
    uint64_t count = image->width * image->height;
    size_t from_size = type_size(image->type), to_size = type_size(to);
    unsigned char *made = data_alloc(count * channels * to_size);
    for (uint64_t i = 0; i < count; i++)
        for (unsigned c = 0; c < channels; c++) {
            const unsigned char *from = image->data + (i * image->channels + c) * from_size;
            unsigned char *target = made + (i * channels + c) * to_size;
            if (f->norm)
                value_from_double(to, target,
                                  value_to_double(image->type, from) *
                                      (type_is_float(image->type) ? 255 : 1));
            else memcpy(target, from, to_size);
        }
    data_free(image->data);
    image->data = made;
    image->type = to;
    image->channels = channels;
}

bool write_image(FILE *to, const result_file *f)
{
    pixels image;
    const char *why;
    image_of(f, &image, &why);
    image.data = data_alloc(f->buffer->bytes);
    if (!buffer_read(f->buffer, image.data, 0, f->buffer->count)) {
        library_message(NULL);
        data_free(image.data);
        return false;
    }
    bool png = f->format == FORMAT_PNG, pfm = f->format == FORMAT_PFM, good = true;
    prepare(f, &image, png || image.channels != 4 ? image.channels : 3);
    uint64_t row = image.width * image.channels;
    if (png) {
        good = write_png(to, f, &image);
    } else if (pfm) {
        fprintf(to, "P%c\n%llu %llu\n-1.0\n", image.channels == 3 ? 'F' : 'f',
                (unsigned long long)image.width, (unsigned long long)image.height);
        for (uint64_t y = image.height; y-- > 0;) fwrite(image.data + y * row * 4, 4, row, to);
    } else {
        bool wide = image.type == GPUL_U16;
        fprintf(to, "P%c\n%llu %llu\n%d\n", image.channels == 3 ? '6' : '5',
                (unsigned long long)image.width, (unsigned long long)image.height,
                wide ? 65535 : 255);
        if (wide)
            convert_scalars(GPUL_U16, image.data, GPUL_U16, image.data, row * image.height, false,
                            true);
        fwrite(image.data, wide ? 2 : 1, row * image.height, to);
    }
    data_free(image.data);
    return good;
}
