/* Blocks, the workers that run them, and the launch they belong to.
 *
 * A block stays on the worker that started it, so everything inside one (its warps, shared memory,
 * barriers) is touched by one thread only.  Between workers there are the launch's counters and
 * device memory.  SPDX-License-Identifier: MIT */
#ifndef PTX_EXEC_BLOCK_H
#define PTX_EXEC_BLOCK_H

#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/str.h"
#include "ptx/exec/heap.h"
#include "ptx/exec/program.h"
#include "ptx/exec/warp.h"

typedef struct worker worker;
typedef struct launch launch;

enum { BARRIER_LIMIT = 16, ALL_THREADS = 0 };
enum { CACHE_LINE = 64 };              /* bytes, of x86-64 and most AArch64 */
enum { CLUSTER_ARRIVE, CLUSTER_WAIT }; /* insn.size of CONTROL_CLUSTER */

typedef struct named_barrier {
    bool active;       /* some thread has arrived since the last release */
    uint32_t expected; /* threads of a counted barrier, or ALL_THREADS */
    uint32_t arrived;
    const insn *first; /* the instruction that came first, for reports */
    const code *first_code;
    uint32_t reduced_count; /* of bar.red: threads whose predicate was true */
    uint32_t reduced_threads;
} named_barrier;

struct block {
    /* What memory handlers read. */
    uint8_t *shared;
    uint32_t shared_size;
    range *ranges; /* the worker's, by the `extra` of a memory instruction */
    worker *worker;
    launch *launch;
    const uint8_t *params;

    warp *warps;
    uint32_t warp_count;
    uint32_t live_threads;
    uint32_t position[3];      /* %ctaid */
    uint32_t cluster_rank;     /* in its cluster */
    uint32_t cluster_at[3];    /* %cluster_ctaid */
    uint32_t cluster_index[3]; /* %clusterid */
    struct unit *unit;
    named_barrier barriers[BARRIER_LIMIT];
    uint32_t active_barriers; /* bit n: barriers[n].active */
    bool done;
    gpul__str printed;           /* not yet handed to the hook */
    struct block_check *checker; /* see check.h; NULL: the checkers are off */
    uint64_t rounds;             /* in which its warps have run, when their order is shuffled */
};

/* The blocks of one cluster; without clusters, one block. */
typedef struct unit {
    struct unit *next; /* resident on its worker, or in the list of free ones */
    uint64_t index;
    block *blocks;
    uint32_t block_count;
    uint32_t patience; /* rounds without progress before another unit gets its turn */
    void *memory;      /* of blocks, warps and slots */
} unit;

/* One thread that takes part in a launch.  Kept by the engine between launches. */
struct worker {
    struct worker *next;
    launch *launch;
    range *ranges; /* by the `extra` of memory instructions */
    size_t range_count;
    uint64_t program;                  /* its id, whose ranges these are; 0: none */
    uint64_t generation;               /* of the memory, when the ranges were last cleared */
    uint64_t ticks;                    /* virtual clock: warp instructions plus time slept */
    uint64_t executed, lanes_executed; /* of ended blocks, not yet in the sums of the launch */
    unit *resident, *free_units;
    uint64_t resident_count;
    uint64_t pending; /* index of a unit that was taken but could not begin */
    bool has_pending;
    frame **free_frames; /* by code->index */
};

typedef struct print_entry {
    uint64_t unit;
    char *text;
    size_t length;
} print_entry;

typedef struct finding_place {
    const insn *insn;
    const code *code;
    const insn *other; /* of a race: the earlier access */
    const code *other_code;
} finding_place;

struct launch {
    ptx_engine *engine;
    ptx_memory *memory;
    const ptx_kernel *kernel;
    const ptx_program *program;
    const ptx_grid *grid;
    uint8_t *params; /* padded copy */
    uint32_t grid_size[3], block_size[3], cluster_size[3];
    uint32_t threads, warps, cluster_blocks;
    uint32_t cluster_grid[3]; /* clusters in each direction */
    bool clustered;
    uint64_t id;
    uint32_t shared_total;
    uint32_t stack_limit; /* bytes of local memory a lane may use in all */
    uint64_t units;
    uint64_t resident_limit;
    uint64_t workspace; /* of a cooperative launch, else 0 */
    uint64_t started;   /* nanoseconds, of the wall clock */
    uint64_t budget;    /* UINT64_MAX: none */

    atomic_bool stop; /* every worker returns at the next chance */
    atomic_bool faulted;
    atomic_bool cut;                /* it was stopped while more might have faulted */
    atomic_uint_fast64_t faults;    /* by warps */
    atomic_bool report_positions;   /* it was stopped while threads ran */
    atomic_uint_fast64_t grace_end; /* after a fault: where `executed` ends the launch */

    /* What workers change all the time stands apart from what they only read. */
    _Alignas(CACHE_LINE) atomic_uint_fast64_t next_unit;
    _Alignas(CACHE_LINE) atomic_uint_fast64_t executed, lanes_executed;

    _Alignas(CACHE_LINE) pthread_mutex_t lock; /* of what follows */
    pthread_cond_t left;
    uint32_t helpers; /* workers besides the caller */
    bool closed;      /* no helper may join */
    struct launch *next_offer;
    ptx_report *report;
    finding_place *finding_at; /* of each finding, to know equal ones */
    size_t finding_room;
    uint64_t print_next; /* unit whose text may go out */
    print_entry *printed;
    size_t printed_count, printed_room;
    bool out_of_memory;
    struct launch_check *checker; /* see check.h; NULL: races between blocks are not looked for */
};

struct ptx_engine {
    ptx_memory *memory;
    const isa_variant *isa;
    ptx_engine_options options;
    uint32_t threads;
    pthread_t *pool;
    uint32_t pool_count;
    pthread_mutex_t lock;
    pthread_cond_t work;
    launch *offers;
    bool closing;
    locale_t c_locale;
    worker *spare_workers; /* with what they have allocated, for the next launch */
};

/* ------------------------------------------------------------------ run.c, once per variant */

typedef enum run_state {
    RUN_WAITS,  /* no split can run, or all lanes have exited */
    RUN_YIELDS, /* could go on, but waits for something outside the warp */
    RUN_STOPS,  /* the launch ends */
} run_state;

/* ------------------------------------------------------------------ split.c */

/* Takes the split that runs next out of the warp's list; false: none is ready.  `stop` is the
 * nearest pc ahead where another split of the same frame waits to be merged, or UINT32_MAX, and
 * `lowest` says that no other ready split stands before this one. */
bool ptx_split_take(warp *w, split *out, uint32_t *stop, bool *lowest);
void ptx_split_add(warp *w, frame *f, uint32_t pc, uint32_t mask, bool rotated);
/* Ends the preference for those that did not spin; false: no split is ready. */
bool ptx_split_unrotate(warp *w);
void ptx_split_park(warp *w, const split *parked);
bool ptx_split_others_ready(const warp *w);
/* Lanes that exit or were killed by a fault: out of every frame, barrier and count. */
void ptx_exit_lanes(warp *w, uint32_t lanes);
/* Frees the slots of a frame that no lane uses. */
void ptx_frame_release(warp *w, frame *f);

/* ------------------------------------------------------------------ collect.c */

typedef enum collect_result {
    COLLECT_DONE,   /* executed for the active lanes: go on behind it */
    COLLECT_PARKED, /* the active lanes were put into splits */
} collect_result;
collect_result ptx_collect(warp *w, const insn *i);
/* Executes what has become complete because lanes exited.  True: some split became ready. */
bool ptx_collect_settle(warp *w);

/* ------------------------------------------------------------------ barrier.c */

/* True: the lanes go on at once; false: they were parked. */
bool ptx_barrier(warp *w, const insn *i);
bool ptx_cluster_barrier(warp *w, const insn *i);
/* Arrives for aligned splits that have become whole.  True: some did. */
bool ptx_barrier_settle(warp *w);
/* Releases complete barriers of the block; true: some split became ready. */
bool ptx_barrier_release(block *b);
bool ptx_cluster_release(struct unit *u);

/* ------------------------------------------------------------------ stuck.c */

/* When no split of the warp is ready and none can become so by what other warps do: reports, ends
 * the lanes and returns true. */
bool ptx_warp_stuck(warp *w);
/* Nothing in the block can run: reports, and ends its threads. */
void ptx_block_deadlock(block *b);

/* ------------------------------------------------------------------ calls.c */

/* Frames are made or joined; false when the lanes died. */
void ptx_enter_call(warp *w, const insn *i);
void ptx_leave_call(warp *w, const insn *i);
/* Arguments and the result of the call that runs, for one lane: up to 8 bytes. */
uint64_t ptx_call_argument(const warp *w, const call_info *info, uint32_t index, int lane);
void ptx_call_result(warp *w, const call_info *info, int lane, uint64_t value);
bool ptx_local_reserve(warp *w, uint32_t size);

/* ------------------------------------------------------------------ builtin.c, printf.c */

/* vprintf, __assertfail, malloc, free for the active lanes. */
void ptx_builtin_call(warp *w, const insn *i);
/* Formats as printf does: text of one call is added to `out`, and the number of arguments is
 * returned; negative when the format could not be read (the lane has ended then). */
int ptx_format(warp *w, const insn *i, unsigned lane, uint64_t format, uint64_t arguments,
               gpul__str *out);
/* Text of a device string, up to its end; false when it could not be read. */
bool ptx_read_string(warp *w, const insn *i, unsigned lane, uint64_t address, gpul__str *out);

/* ------------------------------------------------------------------ access.c: lane by lane */

typedef struct fault_access {
    const char *action; /* "reads", ... */
    uint32_t size;
    ptx_space space;                      /* of the instruction */
    const uint64_t *addresses;            /* of each lane, as the instruction has them */
    const struct earlier_access *earlier; /* the other side of a race, or NULL */
    const code *code;                     /* of the instruction; NULL: the one that runs */
} fault_access;

typedef struct earlier_access {
    const insn *insn;
    const code *code;
    const char *action;
    bool known; /* the thread is */
    uint32_t thread;
    uint32_t block[3];
} earlier_access;

/* Copies between a buffer and any generic address of one lane; false: reported, the lane ended. */
bool ptx_read_lane(warp *w, const insn *i, unsigned lane, uint64_t address, void *out,
                   uint32_t size);
bool ptx_write_lane(warp *w, const insn *i, unsigned lane, uint64_t address, const void *in,
                    uint32_t size);

/* ------------------------------------------------------------------ report.c */

/* Records a finding for the lanes and, unless it is a warning, ends them.  `access` may be NULL. */
void ptx_fault(warp *w, const insn *i, uint32_t lanes, ptx_fault_kind kind,
               const fault_access *access, const char *detail);
void ptx_fault_assert(warp *w, const insn *i, unsigned lane, const char *message);
/* A finding without a thread: budget, cancellation, memory. */
void ptx_fault_launch(launch *l, ptx_fault_kind kind);
void ptx_report_position(launch *l, const warp *w, const split *s);
void ptx_report_block_positions(block *b);
/* Writes the sentences and sets the result. */
void ptx_report_finish(launch *l);

/* ------------------------------------------------------------------ launch.c, block.c, print.c */

/* Counts for the worker's clock and, when much has come together or `all`, for the sums of the launch. */
void ptx_launch_add(worker *own, uint64_t executed, uint64_t lanes, bool all);
/* Adds what a warp has counted, from time to time; true when the launch must end. */
bool ptx_launch_tick(warp *w);
void ptx_launch_run(launch *l, worker *own); /* one worker, until nothing is left */
void ptx_print(block *b, const char *text, size_t length);
void ptx_print_flush(launch *l, unit *u, bool done);
void ptx_print_rest(launch *l);

/* ------------------------------------------------------------------ sreg.c */

uint64_t ptx_special_value(const warp *w, unsigned lane, ptx_special special);
bool ptx_special_is_clock(ptx_special special);
/* CONTROL_CLOCK: the special register insn.imm into d, of insn.size bytes. */
void ptx_read_clock(warp *w, const insn *i);
bool ptx_special_per_block(ptx_special special);
/* Fills the read-only slots of a frame. */
void ptx_fill_slots(const code *c, uint8_t *regs, const warp *w, const frame *f);
/* Those of the kernel's frame that change from block to block only. */
void ptx_fill_block_slots(const code *c, uint8_t *regs, const warp *w);

#endif
