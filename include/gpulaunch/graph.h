/* Work that is checked once and done many times: prepared launches, sequences of launches, copies and fills,
 * and streams that are captured.  SPDX-License-Identifier: MIT
 *
 * Both keep what they use alive: kernels, buffers and streams may be freed before them. */
#ifndef GPULAUNCH_GRAPH_H
#define GPULAUNCH_GRAPH_H

#include <gpulaunch/gpulaunch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One value as gpul_args takes it: gpul_prepared_set(p, 0, gpul_argument(n)). */
#ifdef __cplusplus
#define gpul_argument(x) gpul_arg_of(x)
#else
#define gpul_argument(x) GPUL_ARG_OF(x)
#endif

/* ---- Prepared launches --------------------------------------------------------------------- */

/* A kernel with its geometry, stream and arguments.  On a GPU it is an instantiated graph of one node,
 * which costs less to launch than cuLaunchKernel; where the driver has no such graph (before CUDA 12.0), where
 * the launch has attributes, is cooperative or clustered, on a checked or a CPU device, and while the stream is
 * captured it is launched as gpul_launch does it.  Thread-safety: one at a time. */
typedef struct gpul_prepared gpul_prepared;

/* Checks all that gpul_launch checks, and gives the same errors.  Nothing is launched. */
GPUL_API gpul_status gpul_prepare(gpul_prepared **out, const gpul_kernel *kernel,
                                  const gpul_launch_opts *opts, gpul_arglist args);
GPUL_API void gpul_prepared_free(gpul_prepared **prepared);

/* Changes one argument for the launches that follow, by its place (0 the first) or its name; checked as in a
 * launch, and left as it was when it does not fit. */
GPUL_API gpul_status gpul_prepared_set(gpul_prepared *prepared, size_t index, gpul_arg arg);
GPUL_API gpul_status gpul_prepared_set_named(gpul_prepared *prepared, const char *name,
                                             gpul_arg arg);

/* Queues the launch in its stream and returns, as gpul_launch does. */
GPUL_API gpul_status gpul_prepared_launch(gpul_prepared *prepared);

/* True while it is launched as a graph. */
GPUL_API bool gpul_prepared_is_graph(const gpul_prepared *prepared);

/* ---- Sequences ----------------------------------------------------------------------------- */

/* Steps that follow each other, recorded one by one and replayed as one graph: the same calls and the same checks
 * as without it, made once.  Where the driver has no such graphs, and in a stream that is captured, the steps are
 * queued one by one.  Recording does nothing on the device; the graph is made when it is first played, and
 * again when steps were added.  Thread-safety: one at a time. */
typedef struct gpul_sequence gpul_sequence;
GPUL_API gpul_status gpul_sequence_new(gpul_sequence **out, gpul_device *device);
GPUL_API void gpul_sequence_free(gpul_sequence **sequence);

/* A step each; .stream of the launch stays NULL, because gpul_sequence_play names it.  Host memory is read or written
 * each time it is played, and must live until then.  A size of 0 adds a step that does nothing. */
GPUL_API gpul_status gpul_sequence_launch(gpul_sequence *sequence, const gpul_kernel *kernel,
                                          const gpul_launch_opts *opts, gpul_arglist args);
GPUL_API gpul_status gpul_sequence_write(gpul_sequence *sequence, gpul_buffer *destination,
                                         size_t offset, const void *source, size_t size);
GPUL_API gpul_status gpul_sequence_read(gpul_sequence *sequence, void *destination,
                                        const gpul_buffer *source, size_t offset, size_t size);
GPUL_API gpul_status gpul_sequence_copy(gpul_sequence *sequence, gpul_buffer *destination,
                                        size_t destination_offset, const gpul_buffer *source,
                                        size_t source_offset, size_t size);
GPUL_API gpul_status gpul_sequence_fill(gpul_sequence *sequence, gpul_buffer *destination,
                                        size_t offset, size_t size, const void *pattern,
                                        size_t pattern_size);

/* How many steps there are; the last one has this number less 1.  0 of a captured one. */
GPUL_API size_t gpul_sequence_count(const gpul_sequence *sequence);

/* Names the last step, so that it can be found. */
GPUL_API gpul_status gpul_sequence_name(gpul_sequence *sequence, const char *name);
GPUL_API gpul_status gpul_sequence_find(size_t *out, const gpul_sequence *sequence,
                                        const char *name);

/* Changes an argument of a launch for the plays that follow: step and argument by place, or both by name. */
GPUL_API gpul_status gpul_sequence_set(gpul_sequence *sequence, size_t step, size_t index,
                                       gpul_arg arg);
GPUL_API gpul_status gpul_sequence_set_named(gpul_sequence *sequence, const char *step,
                                             const char *parameter, gpul_arg arg);

/* Other host memory for a gpul_sequence_write or gpul_sequence_read, for the plays that follow. */
GPUL_API gpul_status gpul_sequence_set_host(gpul_sequence *sequence, size_t step, void *memory);

/* Queues all steps in the stream (NULL: the device's own) and returns. */
GPUL_API gpul_status gpul_sequence_play(gpul_sequence *sequence, gpul_stream *stream);

/* True when it was last played as a graph. */
GPUL_API bool gpul_sequence_is_graph(const gpul_sequence *sequence);

/* ---- Capture ------------------------------------------------------------------------------- */

/* Between the two, what is queued in the stream is not done but recorded: every call with this stream that does not wait,
 * other libraries' too.  The end gives a sequence that can be played, but has no steps that can be changed; on
 * failure the recording is gone and the stream is as before.  What the steps use is the caller's to keep. */
GPUL_API gpul_status gpul_capture_begin(gpul_stream *stream);
GPUL_API gpul_status gpul_capture_end(gpul_sequence **out, gpul_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
