/* .npz archives as buffers, by libzip.  SPDX-License-Identifier: MIT */
#include "npy.h"

#if HAVE_ZIP
#include "zip_library.h"

#define MOST_BYTES ((uint64_t)64 << 30)

/* The entry that key= names, or the only one. */
static zip_int64_t find_entry(const file_request *request, const zip_library *zip, zip_t *archive)
{
    const char *key = request->spec->key;
    zip_int64_t count = zip->zip_get_num_entries(archive, 0);
    if (!key && count == 1) return 0;
    if (key) {
        zip_int64_t found = zip->zip_name_locate(archive, mem_format("%s.npy", key), 0);
        if (found >= 0) return found;
    }
    text names = { 0 };
    const char *first = NULL;
    for (zip_int64_t i = 0; i < count && i < 16; i++) {
        const char *name = zip->zip_get_name(archive, (zip_uint64_t)i, 0);
        if (!name) continue;
        const char *shown =
            ends_with(name, ".npy") ? mem_copy(name, strlen(name) - 4) : mem_dup(name);
        if (!first) first = shown;
        text_format(&names, "%s%s", names.length ? ", " : "", shown);
    }
    message *m =
        key ? file_fail(request, CODE_FILE_FORMAT, "%s has no array '%s'", request->path, key)
            : file_fail(request, CODE_FILE_FORMAT, "%s has %lld arrays; say which", request->path,
                        (long long)count);
    message_note(m, "its arrays: %s", text_of(&names));
    if (first) message_hint(m, "%s=@%s,key=%s", request->name, request->path, first);
    return -1;
}

bool read_npz(file_content *out, const file_request *request)
{
    int code = 0;
    const char *why;
    const zip_library *zip = zip_library_open(&why);
    if (!zip) {
        file_fail(request, CODE_CLI_FEATURE,
                  "%s is a .npz archive, and libzip cannot be opened: %s", request->path, why);
        return false;
    }
    zip_t *archive = zip->zip_open(request->path, ZIP_RDONLY, &code);
    if (!archive) {
        file_fail(request, CODE_FILE_FORMAT, "%s is no .npz archive that can be read",
                  request->path);
        return false;
    }
    bool good = false;
    zip_int64_t index = find_entry(request, zip, archive);
    zip_stat_t facts;
    if (index >= 0 && zip->zip_stat_index(archive, (zip_uint64_t)index, 0, &facts) == 0 &&
        facts.size <= MOST_BYTES) {
        unsigned char *data = data_alloc(facts.size + 1);
        zip_file_t *file = zip->zip_fopen_index(archive, (zip_uint64_t)index, 0);
        zip_int64_t got = file ? zip->zip_fread(file, data, facts.size) : -1;
        if (file) zip->zip_fclose(file);
        if (got == (zip_int64_t)facts.size) good = read_npy(out, request, data, facts.size, -1);
        else
            file_fail(request, CODE_FILE_FORMAT, "%s: the array cannot be unpacked", request->path);
        data_free(data);
    } else if (index >= 0) {
        file_fail(request, CODE_FILE_FORMAT, "%s: the array is too large", request->path);
    }
    zip->zip_discard(archive);
    return good;
}

#else

bool read_npz(file_content *out, const file_request *request)
{
    (void)out;
    message *m = file_fail(request, CODE_CLI_FEATURE,
                           "%s is a .npz archive, and this gpulaunch was built without libzip",
                           request->path);
    message_hint(m, "save it with numpy.save as .npy, or build with -Dzip=enabled");
    return false;
}
#endif
