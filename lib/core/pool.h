/* Pools of stream-ordered memory.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_POOL_H
#define GPUL_CORE_POOL_H

#include "core/device.h"

gpul_device *gpul__pool_device(const gpul_pool *pool);
CUmemoryPool gpul__pool_handle(const gpul_pool *pool);
void gpul__pool_take(gpul_pool *pool);

#endif
