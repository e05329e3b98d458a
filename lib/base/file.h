/* Whole files, read and written safely.  Not here: file formats.  SPDX-License-Identifier: MIT */
#ifndef GPUL_BASE_FILE_H
#define GPUL_BASE_FILE_H

#include <gpulaunch/gpulaunch.h>

/* Reads a whole file; `*text` has a NUL after `*size` bytes and is freed with gpul__free. */
gpul_status gpul__file_read(char **text, size_t *size, const char *path);

/* Writes to a temporary name in the same folder, flushes, and renames over `path`: afterwards there is
 * either the old file or the whole new one, and no leftover.  A device or a pipe is written as it is. */
gpul_status gpul__file_write(const char *path, const void *data, size_t size);

/* Writes all bytes, interruptions aside; 0 or the errno of what failed. */
int gpul__write_all(int fd, const void *bytes, size_t size);

/* The folder part of a path ("" when there is none), with its slash; freed with gpul__free. */
char *gpul__file_folder(const char *path);

#endif
