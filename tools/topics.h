/* The texts of gpulaunch help TOPIC.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_TOPICS_H
#define TOOLS_TOPICS_H

#include <stddef.h>

const char *topic_text(const char *name); /* NULL: there is none */
const char *topic_name(size_t index);     /* NULL at the end */

#endif
