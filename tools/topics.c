/* The texts of gpulaunch help TOPIC; the manual pages say the same at more length.
 * SPDX-License-Identifier: MIT */
#include "topics.h"

#include <string.h>

static const char run_text[] =
    "FILE is a .cu file, a .ptx, .cubin or .fatbin, or - for stdin.  NAME=VALUE gives a kernel parameter\n"
    "its value, read by the parameter's own type:\n"
    "\n"
    "  n=1000 n=64K n=x.len           a number; K M G are powers of 1024; x.len x.bytes x.w x.h x.d x.c,\n"
    "                                 dev.sms and dev.warp refer to a buffer or the device\n"
    "  v=1,2,3,4                      a vector or an array\n"
    "  p.n=5 p.gravity=0,-9.8,0       members of a struct; p=zeros for the rest; p=@file for its bytes\n"
    "  x=1M:rand  y=1M  z=@a.npy      buffers: see gpulaunch help buffers\n"
    "\n"
    "The grid follows from the buffers when they all have one shape, else from --over, --threads or --grid.\n";

static const char buffers_text[] =
    "A buffer is [TYPE/] [SHAPE:] SOURCE [,MODIFIER]...  or  [TYPE/] SHAPE [,MODIFIER]...  or  null.\n"
    "\n"
    "  SHAPE     N, WxH or WxHxD elements, fastest dimension first; or NAME.shape, NAME.len\n"
    "  SOURCE    zeros  ones  fill:V  iota[:START[:STEP]]  rand[:LO..HI]  randn[:MEAN:SD]  perm\n"
    "            1,2,3 (one value needs a trailing comma: 5,)\n"
    "            @FILE  .npy .npz .bin .raw .csv .tsv .txt .pgm .ppm .pfm .png; @- is stdin\n"
    "            %NAME (a buffer of an earlier step)  noinit  poison\n"
    "  MODIFIER  in out inout scratch    direction, when constness and data do not say it\n"
    "            cast                    convert while loading\n"
    "            norm                    integers of a file become 0..1\n"
    "            gray                    colours become one channel\n"
    "            raw npy csv tsv pnm     read the file so, whatever it is called\n"
    "            skip=BYTES be           raw files: drop a header; big-endian\n"
    "            key=NAME col=N          an array of a .npz, a column (1 is the first) of a table\n"
    "            seed=N align=BYTES\n"
    "  TYPE      i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 bool, or one with x2 x3 x4: for void * only\n"
    "\n"
    "  x=1M             an input (const T *): 1048576 random values; an output (T *): 1048576 elements\n"
    "  x=640x480:iota   two-dimensional: x.w is 640, x.h is 480, x.len 307200\n"
    "  x=zeros          as long as the other buffers, when they agree\n"
    "  b=1024:zeros b.pos=rand b.mass=fill:1     members of an array of structs\n"
    "\n"
    "rand is counter-based: element i depends on the seed, the parameter's name and i only.  Floats are\n"
    "from -1 to 1, integers from 0 to 127, unless LO..HI is given (HI itself is not drawn for integers).\n";

static const char directives_text[] =
    "A directive is a part of a command line that stands in the .cu file, on a line of its own:\n"
    "\n"
    "  // gpulaunch: build  -std c++20 -DTILE=16          compile options of this file\n"
    "  // gpulaunch: args   n=x.len a=2.5 x=1M:rand       words for every case\n"
    "  // gpulaunch: case   small  x=64:iota              a case; its words override args by name\n"
    "  // gpulaunch: +             --expect y=@small.npy  continues the line above\n"
    "  // gpulaunch: then   -k finish sums=%sums          a further step of the case above\n"
    "  // gpulaunch: require cc>=8.0 mem>=2G shared>=96K  else skipped (also sms, driver, nvrtc, coop)\n"
    "  // gpulaunch: fails  GL0505                        the case is expected to fail so\n"
    "\n"
    "Words are split at blanks; \"...\" and '...' group; # begins a remark.  Paths are relative to the file.\n"
    "A directive reads inside the file's folder only and writes nothing, unless --trust is given.  run and\n"
    "bench take the first case or --case NAME, check takes all.  The command line is stronger than a case,\n"
    "a case stronger than args.\n";

static const char compile_text[] =
    "nvcc's names, with one or two dashes, = or a blank before the value:\n"
    "\n"
    "  -arch sm_90 | compute_90 | native    default native: the device's own machine code\n"
    "  -std c++17                           c++11 c++14 c++17 c++20\n"
    "  -I DIR  -isystem DIR  -include FILE  -D N[=V]  -U N\n"
    "  -lineinfo (on for run and check)  -G  -maxrregcount N  -Xptxas OPT  --ptxas-options OPT\n"
    "  -use_fast_math  -ftz=  -fmad=  -prec-div=  -prec-sqrt=  (true or false)\n"
    "  -rdc true  -dlto  -restrict  --device-int128  -default-device\n"
    "  -w  -diag-suppress N  -Werror\n"
    "  -gencode arch=compute_X,code=sm_X    when it names one target\n"
    "  -O3 -g -m64 -x cu                    accepted, no effect, one note\n"
    "\n"
    "-Xcompiler -ccbin -l -L -cudart -E -M have no meaning here and are refused.  The headers stdint stddef\n"
    "limits float math string assert stdio are carried; a toolkit's are found when there is one;\n"
    "--no-std-headers turns both off.  The macro __GPULAUNCH__ is defined.\n";

static const char json_text[] =
    "--json writes one object to stdout, --json=FILE to a file; all else goes to stderr.\n"
    "\n"
    "  schema    gpulaunch/COMMAND/1; fields are only ever added within a number\n"
    "  ok, exit  did it do what was asked, and the exit status\n"
    "  versions  gpulaunch, nvrtc, driver, cuda\n"
    "  argv, cwd, started (UTC)\n"
    "  device    backend, index, name, cc, uuid\n"
    "  steps     kernel, grid, block, shared, inferred, time_ns, args (name, type, dir, shape, source,\n"
    "            value or stats)\n"
    "  checks    name, ok, against, bad, total, unset, unchanged, max_abs, would_pass, first\n"
    "  messages  severity, code, layer, text, file, line, column, end_column, column_bytes, notes, hints\n"
    "  points    bench: one for each measured point\n"
    "\n"
    "Times are integer nanoseconds.  Statistics that are no numbers are null; element values are the\n"
    "strings \"NaN\" \"Infinity\" \"-Infinity\"; integers beyond 2^53 are strings.\n";

static const char exit_text[] =
    "  0    did what was asked; all checks passed\n"
    "  1    ran, and a check failed; bench: wrong result, or slower than --fail-if-slower\n"
    "  2    the command line, an argument or a directive is wrong; launch configuration\n"
    "  3    the source does not compile, or the module does not load\n"
    "  4    the device or the driver: none, out of memory, illegal address, fence broken, assert\n"
    "  5    a file cannot be read or written, or does not fit its parameter\n"
    "  70   a bug in gpulaunch\n"
    "  77   check only: nothing could be run\n"
    "  124  --timeout\n"
    "  130  interrupted\n";

static const char environment_text[] =
    "  GPULAUNCH_DEVICE        the device when there is no -d\n"
    "  GPULAUNCH_REQUIRE_GPU   1: never fall back to the CPU device\n"
    "  GPULAUNCH_CACHE_DIR     the compile cache; else $XDG_CACHE_HOME/gpulaunch, else ~/.cache/gpulaunch\n"
    "  GPULAUNCH_NVRTC         path of libnvrtc\n"
    "  GPULAUNCH_LIBCUDA       path of libcuda\n"
    "  CUDA_VISIBLE_DEVICES  CUDA_PATH  CUDA_HOME  XDG_CACHE_HOME\n"
    "  NO_COLOR  CLICOLOR_FORCE  CI  TERM\n"
    "\n"
    "There is no configuration file: a result must be explainable from the command and the source.\n";

static const struct topic {
    const char *name, *content;
} topics[] = {
    { "run", run_text },
    { "buffers", buffers_text },
    { "directives", directives_text },
    { "compile-options", compile_text },
    { "json", json_text },
    { "exit", exit_text },
    { "environment", environment_text },
};

const char *topic_text(const char *name)
{
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        if (strcmp(topics[i].name, name) == 0) return topics[i].content;
    return NULL;
}

const char *topic_name(size_t index)
{
    return index < sizeof topics / sizeof *topics ? topics[index].name : NULL;
}
