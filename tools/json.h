/* jansson for those parts of the command that add to the document; only where it is there.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <jansson.h>

json_t *json_words(const char *source); /* a string, whatever its bytes */
json_t *document_root(void);            /* borrowed; NULL when --json was not given */

#endif
