/* Statistics of samples: medians and their intervals by order statistics, so that no distribution is
 * assumed and no sample is thrown away.  SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "bench.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double middle(const double *sorted, size_t count)
{
    if (!count) return 0;
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

void series_summarise(series *s)
{
    size_t n = s->count;
    if (!n) return;
    double *sorted = data_alloc(n * sizeof *sorted),
           *deviations = data_alloc(n * sizeof *deviations);
    memcpy(sorted, s->ns, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    s->median = middle(sorted, n);
    s->least = sorted[0];
    s->most = sorted[n - 1];
    /* ranks of the binomial's 95 % interval by the normal approximation, rounded outwards */
    double half = 0.98 * sqrt((double)n);
    double low = floor((double)n / 2 - half), high = ceil((double)n / 2 + half);
    s->low = sorted[low < 0 ? 0 : (size_t)low];
    s->high = sorted[high > (double)(n - 1) ? n - 1 : (size_t)high];
    s->first_quantile = sorted[(size_t)(0.025 * (double)(n - 1))];
    s->last_quantile = sorted[(size_t)ceil(0.975 * (double)(n - 1))];
    for (size_t i = 0; i < n; i++) deviations[i] = fabs(s->ns[i] - s->median);
    qsort(deviations, n, sizeof *deviations, by_value);
    s->mad = middle(deviations, n);
    s->outliers = 0;
    for (size_t i = 0; i < n; i++)
        s->outliers += fabs(s->ns[i] - s->median) > 5 * 1.4826 * s->mad && s->mad > 0;
    s->precision = s->median > 0 ? (s->high - s->low) / 2 / s->median : 0;
    s->measured = true;
    data_free(sorted);
    data_free(deviations);
}

bool series_apart(const series *a, const series *b)
{
    return a->low > b->high || b->low > a->high;
}
