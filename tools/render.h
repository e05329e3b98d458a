/* How a message looks.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_RENDER_H
#define TOOLS_RENDER_H

#include "messages.h"

void render_message(text *out, const message *m, errors_style style, bool color);

/* File, line and columns (characters) of a place; false when it is on the command line or nowhere. */
bool place_in_file(const place *at, const char **file, unsigned *line, unsigned *column,
                   unsigned *end_column);

/* The 1-based byte column of a place in a file; 0 unknown. */
unsigned place_byte_column(const place *at);

/* Adds `source` as a JSON string, with its quotes. */
void add_json_string(text *out, const char *source);

#endif
