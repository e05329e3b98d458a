/* Folders in which CUDA's parts lie: shared by the searches for libraries and for headers.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_NVRTC_PLACES_H
#define GPUL_NVRTC_PLACES_H

#include <stdbool.h>

/* Called for one folder (no trailing slash); false ends the walk. */
typedef bool gpul__place_fn(void *user, const char *folder, const char *origin);

/* The site-packages/nvidia folders of the active Python environment, then of the python3 on the PATH and of the user. */
bool gpul__places_wheels(gpul__place_fn *fn, void *user);

/* The toolkits: CUDA_PATH, CUDA_HOME; then, when `usual` is set, /usr/local/cuda*, /opt/cuda. */
bool gpul__places_toolkits(gpul__place_fn *fn, void *user, bool named, bool usual);

/* The folders below `folder` whose names match the shell pattern, newest name first. */
bool gpul__places_match(const char *folder, const char *pattern, const char *origin,
                        gpul__place_fn *fn, void *user);

/* A variable of the environment, NULL when unset or empty, or in a privileged process. */
const char *gpul__places_variable(const char *name);

#endif
