/* PNG files as buffers and results, by libpng.  SPDX-License-Identifier: MIT */
#include "outputs.h"

#if HAVE_PNG
#include <png.h>
#include <setjmp.h>

enum { MOST_PIXELS_A_SIDE = 1 << 16 };
#define MOST_BYTES ((uint64_t)4 << 30) /* a small file may claim to be a huge picture */

typedef struct png_input {
    const unsigned char *at, *end;
} png_input;

static void on_read(png_structp png, png_bytep out, size_t size)
{
    png_input *in = png_get_io_ptr(png);
    if (size > (size_t)(in->end - in->at)) png_error(png, "it is cut off");
    memcpy(out, in->at, size);
    in->at += size;
}

static char failure[200];

static _Noreturn void on_error(png_structp png, const char *what)
{
    snprintf(failure, sizeof failure, "%s", what);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, const char *what)
{
    (void)png, (void)what;
}

/* Reads rows of 8- or 16-bit channels in the host's byte order.  NULL, or what is wrong. */
static const char *decode(pixels *image, const unsigned char *data, size_t size)
{
    png_input in = { data, data + size };
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        return "out of memory";
    }
    unsigned char *volatile pixels_data = NULL;
    png_bytep *volatile rows = NULL;
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, &info, NULL);
        data_free(pixels_data);
        data_free(rows);
        return failure;
    }
    png_set_read_fn(png, &in, on_read);
    png_set_user_limits(png, MOST_PIXELS_A_SIDE, MOST_PIXELS_A_SIDE);
    png_read_info(png, info);
    png_set_expand(png);
    if (png_get_bit_depth(png, info) == 16) png_set_swap(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    image->width = png_get_image_width(png, info);
    image->height = png_get_image_height(png, info);
    image->channels = png_get_channels(png, info);
    image->type = png_get_bit_depth(png, info) == 16 ? GPUL_U16 : GPUL_U8;
    image->maximum = image->type == GPUL_U16 ? 65535 : 255;
    uint64_t row = png_get_rowbytes(png, info);
    if (row * image->height > MOST_BYTES) png_error(png, "it would take more than 4 GiB");
    pixels_data = data_alloc(row * image->height);
    rows = data_alloc(image->height * sizeof *rows);
    for (uint64_t y = 0; y < image->height; y++) rows[y] = pixels_data + y * row;
    png_read_image(png, rows);
    png_destroy_read_struct(&png, &info, NULL);
    data_free(rows);
    image->data = pixels_data;
    return NULL;
}

bool read_png(file_content *out, const file_request *request, const unsigned char *data,
              size_t size)
{
    pixels image = { 0 };
    const char *wrong = decode(&image, data, size);
    if (!wrong) return image_to_content(out, request, &image);
    file_fail(request, CODE_FILE_FORMAT, "%s is no PNG file that can be read: %s", request->path,
              wrong);
    return false;
}

bool write_png(FILE *to, const result_file *f, const pixels *image)
{
    static const int kinds[] = { 0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                 PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA };
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        message_at_span(fail(CODE_FILE_WRITE, "%s cannot be written: %s", f->path,
                             *failure ? failure : "out of memory"),
                        f->at);
        return false;
    }
    bool wide = image->type == GPUL_U16;
    png_init_io(png, to);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, wide ? 16 : 8,
                 kinds[image->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    if (wide) png_set_swap(png);
    size_t row = image->width * image->channels * (wide ? 2 : 1);
    for (uint64_t y = 0; y < image->height; y++) png_write_row(png, image->data + y * row);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return true;
}

#else

bool read_png(file_content *out, const file_request *request, const unsigned char *data,
              size_t size)
{
    (void)out, (void)data, (void)size;
    message *m =
        file_fail(request, CODE_CLI_FEATURE,
                  "%s is a PNG file, and this gpulaunch was built without libpng", request->path);
    message_hint(m, "convert it to .ppm or .pgm, or build with -Dpng=enabled");
    return false;
}

bool write_png(FILE *to, const result_file *f, const pixels *image)
{
    (void)to, (void)image;
    message *m = message_at_span(
        fail(CODE_CLI_FEATURE, "%s: this gpulaunch was built without libpng", f->path), f->at);
    message_hint(m, "write a .ppm or .pgm, or build with -Dpng=enabled");
    return false;
}
#endif
