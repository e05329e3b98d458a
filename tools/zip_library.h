/* libzip, opened when an archive is read or written: with what it needs itself it would be half of the start of every command.
 * Included where HAVE_ZIP is set.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_ZIP_LIBRARY_H
#define TOOLS_ZIP_LIBRARY_H

#include <zip.h>

#define ZIP_LIBRARY_ENTRIES                                                                        \
    X(zip_close)                                                                                   \
    X(zip_discard)                                                                                 \
    X(zip_error_init)                                                                              \
    X(zip_fclose)                                                                                  \
    X(zip_file_add)                                                                                \
    X(zip_fopen_index)                                                                             \
    X(zip_fread)                                                                                   \
    X(zip_get_name)                                                                                \
    X(zip_get_num_entries)                                                                         \
    X(zip_name_locate)                                                                             \
    X(zip_open)                                                                                    \
    X(zip_open_from_source)                                                                        \
    X(zip_source_buffer)                                                                           \
    X(zip_source_buffer_create)                                                                    \
    X(zip_source_close)                                                                            \
    X(zip_source_free)                                                                             \
    X(zip_source_keep)                                                                             \
    X(zip_source_open)                                                                             \
    X(zip_source_read)                                                                             \
    X(zip_stat_index)

typedef struct zip_library {
#define X(name) __typeof__(name) *name;
    ZIP_LIBRARY_ENTRIES
#undef X
} zip_library;

/* The entries, the same at each call; NULL, and *why says why, when libzip cannot be opened.  Any thread may call it. */
const zip_library *zip_library_open(const char **why);

#endif
