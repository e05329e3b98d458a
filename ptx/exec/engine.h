/* The engine's workers: threads that help with launches, and the state that each participant of a
 * launch brings along.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_ENGINE_H
#define PTX_EXEC_ENGINE_H

#include "ptx/exec/block.h"

/* A worker's state, new or used before; NULL: no memory. */
worker *ptx_engine_worker(ptx_engine *engine);
void ptx_engine_return_worker(ptx_engine *engine, worker *own);

/* Asks the pool to help.  After withdrawing no helper is in the launch any more.  False: there is no
 * pool. */
bool ptx_engine_offer(launch *l);
void ptx_engine_withdraw(launch *l);

#endif
