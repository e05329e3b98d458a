/* One device and the memory of another.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_PEER_H
#define GPUL_CORE_PEER_H

#include "core/buffer.h"

/* gpul_copy for buffers of two devices; the ranges are checked. */
gpul_status gpul__copy_peer(gpul_buffer *destination, size_t destination_offset,
                            const gpul_buffer *source, size_t source_offset, size_t size,
                            gpul_stream *stream);

#endif
