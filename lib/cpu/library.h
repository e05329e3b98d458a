/* Libraries and links end with the engine.  Needs the lock.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CPU_LIBRARY_H
#define GPUL_CPU_LIBRARY_H

void gpul__cpu_libraries_free_all(void);
void gpul__cpu_links_free_all(void);

#endif
