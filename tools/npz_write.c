/* Buffers as .npz archives, by libzip.  SPDX-License-Identifier: MIT */
#include "npy.h"
#include "outputs.h"

#if HAVE_ZIP
#include "zip_library.h"

bool write_npz(FILE *to, const result_file *f)
{
    const buffer *b = f->buffer;
    const char *why;
    const zip_library *zip = zip_library_open(&why);
    if (!zip) {
        message_at_span(fail(CODE_CLI_FEATURE, "%s: libzip cannot be opened: %s", f->path, why),
                        f->at);
        return false;
    }
    size_t head;
    const char *header = npy_header_text(b->layout, &b->shape, &head);
    unsigned char *data = data_alloc(head + b->bytes);
    memcpy(data, header, head);
    bool good = buffer_read(b, data + head, 0, b->count);
    if (!good) library_message(NULL);
    zip_error_t error;
    zip->zip_error_init(&error);
    zip_source_t *memory = good ? zip->zip_source_buffer_create(NULL, 0, 0, &error) : NULL;
    if (memory) zip->zip_source_keep(memory);
    zip_t *archive = memory ? zip->zip_open_from_source(memory, ZIP_TRUNCATE, &error) : NULL;
    zip_source_t *entry =
        archive ? zip->zip_source_buffer(archive, data, head + b->bytes, 0) : NULL;
    bool packed =
        entry &&
        zip->zip_file_add(archive, mem_format("%s.npy", b->name), entry, ZIP_FL_ENC_UTF_8) >= 0 &&
        zip->zip_close(archive) == 0;
    if (packed && zip->zip_source_open(memory) == 0) {
        char piece[65536];
        for (zip_int64_t got; (got = zip->zip_source_read(memory, piece, sizeof piece)) > 0;)
            fwrite(piece, 1, (size_t)got, to);
        zip->zip_source_close(memory);
    } else if (good) {
        message_at_span(fail(CODE_FILE_WRITE, "%s cannot be packed", f->path), f->at);
        good = false;
    }
    if (memory) zip->zip_source_free(memory);
    data_free(data);
    return good;
}

#else

bool write_npz(FILE *to, const result_file *f)
{
    (void)to;
    message *m = message_at_span(
        fail(CODE_CLI_FEATURE, "%s: this gpulaunch was built without libzip", f->path), f->at);
    message_hint(m, "write a .npy, or build with -Dzip=enabled");
    return false;
}
#endif
