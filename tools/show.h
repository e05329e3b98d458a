/* What run tells people: the launch, its arguments, time, previews, and elements.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_SHOW_H
#define TOOLS_SHOW_H

#include "execute.h"

const char *time_text(double nanoseconds); /* "9.8 us" */
const char *bytes_text(uint64_t bytes);    /* "1.5 GiB" */

void show_head(const plan *p, const step *s, const gpul_image *image);
void show_device(const session *s);
void show_launch(const step *s);
void show_arguments(const plan *p, const step *s);
void show_time(const step *s, double nanoseconds, bool software);
void show_previews(const step *s);
void show_checks(const step *s);

/* --print NAME[:COUNT] on stdout; COUNT may be `all`. */
bool print_buffer(const buffer *b, uint64_t count);
void print_elements(const char *name, const layout *l, const unsigned char *bytes, uint64_t count);
bool print_requests_bind(const plan *p);
bool print_requested(const plan *p, const step *s);

/* Lines up columns: at least two blanks, else up to `column`. */
void pad_to(text *line, size_t column);

/* Poison that nobody wrote over; one and two bytes may be so by chance. */
bool is_poison(const unsigned char *bytes, size_t size);

typedef struct buffer_stats {
    bool known; /* a plain number type */
    double low, high, mean;
    uint64_t nans, infinities, unset;
} buffer_stats;
bool stats_of(const buffer *b, buffer_stats *out);

#endif
