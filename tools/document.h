/* The JSON document of --json: facts are added while the command works, and it is written once, at the
 * end, for success and failure alike.  Without jansson --json is refused.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_DOCUMENT_H
#define TOOLS_DOCUMENT_H

#include "execute.h"

void document_start(const char *command, int argc, char **argv);
bool document_wanted(void);
void document_finish(int status);

void document_device(const gpul_device_info *info);
void document_image(const gpul_image *image);
void document_step(const plan *p, const step *s,
                   double time_ns);             /* with statistics of what came back */
void document_kernels(const gpul_image *image); /* inspect */
void document_devices(const gpul_device_info *infos, size_t count);
void document_doctor(const gpul_doctor *doctor);
void document_checks(const step *s);

#endif
