/* bench: settings, samples, points, sweeps and reports.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

#include "job.h"

/* ---- Statistics (bench_stats.c) ---- */

typedef struct series {
    bool measured;
    double *ns; /* samples, in the order of measuring */
    size_t count;
    uint64_t batch;                       /* launches a sample; each sample is the time of one */
    double median, low, high;             /* low and high: the 95 % interval of the median */
    double first_quantile, last_quantile; /* 2.5 % and 97.5 % of the samples */
    double least, most, mad;              /* median absolute deviation */
    double precision;                     /* half the interval as a share of the median */
    size_t outliers;                      /* beyond 5 MAD from the median */
} series;

void series_summarise(series *s);
/* How surely a is slower than b: the share of one median, and whether the intervals are apart. */
bool series_apart(const series *a, const series *b);

/* ---- Settings ---- */

typedef struct bench_settings {
    double min_time, max_time; /* seconds of a series */
    uint64_t min_samples, samples, warmup;
    bool cold, hot, restore, check;
    uint64_t bytes, flops, items; /* 0: not said */
    bool warn;
    double slower; /* --fail-if-slower as a share; negative: not said */
} bench_settings;

/* ---- Points ---- */

typedef struct setting {
    const char *name, *value; /* "block" "256" */
} setting;

typedef struct point {
    list_of(setting) settings;
    bool failed; /* a message says why */
    series cold, hot;
    uint64_t bytes;
    uint64_t grid[3], block[3];
    const char *kernel;
    double old_median; /* of the baseline; 0: not there */
} point;

typedef list_of(point) point_list;

/* Measures all steps of a plan as one; false and messages when it cannot be. */
bool measure_point(execution *x, const bench_settings *settings, point *out);

/* ---- Sweeps ---- */

typedef struct sweep {
    const char *name;
    span at;
    list_of(const char *) values;
} sweep;
typedef list_of(sweep) sweep_list;

bool sweep_parse(sweep_list *out, const option_use *use);
/* Words that make a request into that of a point; NULL and a message when the name cannot be swept. */
bool sweep_apply(run_request *request, element_list *more, const sweep *s, const char *value);
const char *point_name(const point *p); /* "block=256 x=1M"; "" without sweeps */

/* ---- Reports ---- */

typedef struct bench_report {
    const char *source;
    const gpul_device_info *device;
    const bench_settings *settings;
    const sweep_list *sweeps;
    point_list *points;
    bool bars; /* a terminal */
} bench_report;

void report_point(const bench_report *r, const point *p);
void report_best(const bench_report *r);
bool export_results(const bench_report *r, const option_use *use);
void document_points(const bench_report *r);

/* Baselines: fills old_median; false and a message when the file is none. */
bool baseline_read(const bench_report *r, const option_use *use);
bool baseline_judge(const bench_report *r, const char *file);
void compare_results(const word *old_file, const word *new_file);

const char *rate_text(double per_second, const char *unit); /* "4.46 TB/s" */

#endif
