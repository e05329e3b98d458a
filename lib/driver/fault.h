/* Tests: a driver table that lets calls through to another, counts them, and makes chosen ones fail.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_DRIVER_FAULT_H
#define GPUL_DRIVER_FAULT_H

#include "driver/driver.h"

/* The table over `under`, with nothing planned and nothing counted.  There is one a process. */
const gpul__driver *gpul__fault_driver(const gpul__driver *under);

/* The n-th call from now fails with `result`, once (1 is the next); 0 turns it off.  The count begins again.
 * An entry that gives something back (a free, an unload, a pop) is called all the same before it is said to
 * have failed, so that what leaks then is the library's doing. */
void gpul__fault_at(long n, CUresult result);

/* Every call of this entry (by its exported symbol) fails, from the n-th on (1 is the next); NULL turns it off. */
void gpul__fault_entry(const char *symbol, long n, CUresult result);

/* Takes an entry out of the table, as an older driver lacks it; NULL puts all back. */
void gpul__fault_without(const char *symbol);

long gpul__fault_calls(void); /* since gpul__fault_at */
const char *
gpul__fault_failed(void); /* the symbol of the last call that was made to fail; NULL: none */

#endif
