/* PGM, PPM and PFM files as buffers, and any image's pixels as a parameter's elements.
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>

#include "files.h"
#include "values.h"

/* ---- Pixels to elements ---- */

static void to_gray(pixels *image)
{
    if (image->channels < 3) return;
    uint64_t count = image->width * image->height;
    size_t size = type_size(image->type), step = size * image->channels;
    for (uint64_t i = 0; i < count; i++) {
        unsigned char *from = image->data + i * step, *to = image->data + i * size;
        double r = value_to_double(image->type, from),
               g = value_to_double(image->type, from + size),
               b = value_to_double(image->type, from + 2 * size);
        value_from_double(image->type, to, (299 * r + 587 * g + 114 * b) / 1000);
    }
    image->channels = 1;
}

/* Three channels become four with a full alpha. */
static void add_alpha(pixels *image)
{
    uint64_t count = image->width * image->height;
    size_t size = type_size(image->type);
    unsigned char *made = data_alloc(count * size * 4);
    for (uint64_t i = 0; i < count; i++) {
        memcpy(made + i * size * 4, image->data + i * size * 3, size * 3);
        value_from_double(image->type, made + (i * 4 + 3) * size,
                          image->type == GPUL_F32 ? 1 : image->maximum);
    }
    data_free(image->data);
    image->data = made;
    image->channels = 4;
}

static bool type_refused(const file_request *request, const pixels *image, gpul_type type)
{
    message *m =
        file_fail(request, CODE_FILE_TYPE, "%s holds %u-bit values, but '%s' is %s", request->path,
                  image->type == GPUL_U8    ? 8u
                  : image->type == GPUL_U16 ? 16u
                                            : 32u,
                  request->name, request->type_text);
    if (type_is_float(type))
        message_hint(m, "%s=@%s,norm  maps them to 0..1; ,cast  keeps 0..%u", request->name,
                     request->path, image->maximum);
    else message_hint(m, "%s=@%s,cast  converts while loading", request->name, request->path);
    return false;
}

bool image_to_content(file_content *out, const file_request *request, pixels *image)
{
    const buffer_spec *spec = request->spec;
    gpul_type type;
    uint32_t lanes;
    bool good = layout_plain_type(request->layout, &type, &lanes) && type_size(type);
    if (!good) {
        file_fail(request, CODE_FILE_TYPE, "%s is an image, and '%s' is an array of %s",
                  request->path, request->name, request->layout->type_name);
    } else if (image->type != type && !spec->cast && !spec->norm) {
        good = type_refused(request, image, type);
    }
    if (good && spec->gray) to_gray(image);
    if (good && lanes == 4 && image->channels == 3) add_alpha(image);
    if (good && lanes != 1 && lanes != image->channels) {
        message *m = file_fail(request, CODE_FILE_SHAPE,
                               "%s has %u channel%s, and an element of '%s' (%s) has %u",
                               request->path, image->channels, image->channels == 1 ? "" : "s",
                               request->name, request->layout->type_name, lanes);
        message_note(m, "%s: %llux%llu pixels of %u channels", request->path,
                     (unsigned long long)image->width, (unsigned long long)image->height,
                     image->channels);
        good = false;
    }
    if (!good) {
        data_free(image->data);
        return false;
    }
    uint64_t scalars = image->width * image->height * image->channels;
    if (image->type != type || spec->norm) {
        unsigned char *made = data_alloc(scalars * type_size(type));
        size_t narrow = type_size(image->type), wide = type_size(type);
        double scale = spec->norm && image->type != GPUL_F32 ? image->maximum : 1;
        for (uint64_t i = 0; i < scalars; i++)
            value_from_double(type, made + i * wide,
                              value_to_double(image->type, image->data + i * narrow) / scale);
        data_free(image->data);
        image->data = made;
    }
    out->memory = image->data;
    out->width = image->width;
    out->height = image->height;
    out->channels = image->channels;
    out->shape = (shape){ .rank = 2, .dim = { image->width, image->height } };
    if (lanes == 1 && image->channels > 1)
        out->shape = (shape){ .rank = 3, .dim = { image->channels, image->width, image->height } };
    return true;
}

/* ---- PNM and PFM ---- */

typedef struct scanner {
    const unsigned char *at, *end;
} scanner;

/* The next token, comments skipped; the one blank behind it is passed. */
static bool token(scanner *s, char *out, size_t capacity)
{
    for (;;) {
        while (s->at < s->end && isspace(*s->at)) s->at++;
        if (s->at >= s->end || *s->at != '#') break;
        while (s->at < s->end && *s->at != '\n') s->at++;
    }
    size_t count = 0;
    while (s->at < s->end && !isspace(*s->at) && count + 1 < capacity)
        out[count++] = (char)*s->at++;
    out[count] = 0;
    if (s->at < s->end && isspace(*s->at)) s->at++;
    return count > 0;
}

static bool token_number(scanner *s, uint64_t *out, uint64_t most)
{
    char word_text[24];
    return token(s, word_text, sizeof word_text) && isdigit((unsigned char)*word_text) &&
           value_count(out, word_text, strlen(word_text)) == VALUE_FINE && *out <= most;
}

static bool damaged(const file_request *request, const char *what)
{
    file_fail(request, CODE_FILE_FORMAT, "%s: %s", request->path, what);
    return false;
}

/* Big-endian samples to the host's order. */
static void copy_samples(pixels *image, const unsigned char *from, uint64_t count)
{
    if (image->type == GPUL_U8) memcpy(image->data, from, count);
    else convert_scalars(GPUL_U16, image->data, GPUL_U16, from, count, false, true);
}

static bool read_samples(const file_request *request, scanner *s, pixels *image, bool ascii)
{
    uint64_t count = image->width * image->height * image->channels;
    size_t size = type_size(image->type);
    uint64_t rest = (uint64_t)(s->end - s->at), least = ascii ? count * 2 - 1 : count * size;
    if (rest < least)
        return damaged(request, mem_format("it is cut off: %llu samples are missing",
                                           (unsigned long long)(ascii ? count - rest / 2
                                                                      : count - rest / size)));
    image->data = data_alloc(count * size);
    if (!ascii) {
        copy_samples(image, s->at, count);
        return true;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value;
        if (!token_number(s, &value, image->maximum)) {
            data_free(image->data);
            return damaged(request, "a sample is missing or larger than the header allows");
        }
        memcpy(image->data + i * size, &value, size);
    }
    return true;
}

/* Rows from the bottom; a negative scale means little-endian. */
static bool read_pfm_samples(const file_request *request, scanner *s, pixels *image)
{
    char scale[32];
    if (!token(s, scale, sizeof scale)) return damaged(request, "its header is cut off");
    bool big = strtod(scale, NULL) > 0;
    uint64_t row = image->width * image->channels;
    if ((uint64_t)(s->end - s->at) < row * image->height * 4)
        return damaged(request, "it is cut off");
    image->type = GPUL_F32;
    image->maximum = 1;
    image->data = data_alloc(row * image->height * 4);
    for (uint64_t y = 0; y < image->height; y++)
        convert_scalars(GPUL_F32, image->data + (image->height - 1 - y) * row * 4, GPUL_F32,
                        s->at + y * row * 4, row, false, big);
    return true;
}

bool read_pnm(file_content *out, const file_request *request, const unsigned char *data,
              size_t size)
{
    scanner s = { data, data + size };
    char magic[4];
    const char *kinds = "2356fF", *kind = NULL;
    if (token(&s, magic, sizeof magic) && magic[0] == 'P' && magic[1] && !magic[2])
        kind = strchr(kinds, magic[1]);
    if (!kind)
        return damaged(request, "it is not a PGM, PPM or PFM file (P2, P3, P5, P6, Pf or PF)");
    pixels image = { .channels = strchr("36F", *kind) ? 3 : 1, .type = GPUL_U8, .maximum = 1 };
    uint64_t maximum = 1;
    if (!token_number(&s, &image.width, 1u << 24) || !token_number(&s, &image.height, 1u << 24) ||
        !image.width || !image.height)
        return damaged(request, "its width or height cannot be read");
    if (strchr("fF", *kind))
        return read_pfm_samples(request, &s, &image) && image_to_content(out, request, &image);
    if (!token_number(&s, &maximum, 65535) || !maximum)
        return damaged(request, "its maximum cannot be read");
    image.maximum = (unsigned)maximum;
    if (maximum > 255) image.type = GPUL_U16;
    return read_samples(request, &s, &image, strchr("23", *kind) != NULL) &&
           image_to_content(out, request, &image);
}
