/* Recipes of cache keys, and what is different between two of them.  SPDX-License-Identifier: MIT */
#include "core/cache_miss.h"

#include "base/alloc.h"
#include "core/cache_key.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An entry: recipes, the latest first.  A recipe: its key in a line, a line for each part (label, tab, value), an empty line. */
enum { MOST_RECIPES = 8, SHOWN = 3, LONGEST_VALUE = 120 };

static void make_key(char out[GPUL__CACHE_KEY + 1], const char *subject)
{
    char here[PATH_MAX];
    gpul__key key;
    gpul__key_begin(&key, "recipe", NULL);
    gpul__key_text(&key, "folder", subject[0] == '/' ? "" : getcwd(here, sizeof here));
    gpul__key_text(&key, "subject", subject);
    gpul__key_end(&key, out);
}

static char *read_recipes(int folder, const char *subject, size_t *size)
{
    char key[GPUL__CACHE_KEY + 1];
    make_key(key, subject);
    return gpul__cache_read(folder, key, "recipe", size);
}

/* A part, as it stands in a recipe. */
struct line {
    const char *label, *value;
    size_t label_size, value_size;
};

/* The part at *at, which is moved behind it; false at the end. */
static bool next_line(struct line *out, const char **at)
{
    const char *start = *at, *end = start + strcspn(start, "\n");
    const char *tab = memchr(start, '\t', (size_t)(end - start));
    if (!tab) return false;
    *out = (struct line){ start, tab + 1, (size_t)(tab - start), (size_t)(end - tab - 1) };
    *at = end + (*end == '\n');
    return true;
}

static bool same(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a_size == b_size && memcmp(a, b, a_size) == 0;
}

typedef struct lines {
    struct line *items;
    size_t count, capacity;
    bool failed;
} lines;

static void add_line(lines *list, const struct line *line)
{
    if (list->failed ||
        !gpul__grow(&list->items, &list->capacity, list->count, sizeof *list->items))
        list->failed = true;
    else list->items[list->count++] = *line;
}

static int compare(const char *a, size_t a_size, const char *b, size_t b_size)
{
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static int by_text(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = compare(x->label, x->label_size, y->label, y->label_size);
    return order ? order : compare(x->value, x->value_size, y->value, y->value_size);
}

/* The parts of a recipe in the order of their text. */
static void read_lines(lines *out, const char *recipe)
{
    struct line line;
    *out = (lines){ 0 };
    while (next_line(&line, &recipe)) add_line(out, &line);
    if (out->count) qsort(out->items, out->count, sizeof *out->items, by_text);
}

/* What only one of two recipes has. */
typedef struct difference {
    lines now, before;
} difference;

static void free_difference(difference *d)
{
    gpul__free(d->now.items);
    gpul__free(d->before.items);
    *d = (difference){ 0 };
}

static size_t size_of(const difference *d)
{
    return d->now.failed || d->before.failed ? SIZE_MAX - 1 : d->now.count + d->before.count;
}

static void compare_recipes(difference *out, const lines *now, const char *recipe)
{
    lines before;
    size_t i = 0, k = 0;
    *out = (difference){ 0 };
    read_lines(&before, recipe);
    out->now.failed = now->failed || before.failed;
    while (i < now->count || k < before.count) {
        int order = i == now->count     ? 1
                    : k == before.count ? -1
                                        : by_text(&now->items[i], &before.items[k]);
        if (order < 0) add_line(&out->now, &now->items[i]);
        if (order > 0) add_line(&out->before, &before.items[k]);
        i += order <= 0;
        k += order >= 0;
    }
    gpul__free(before.items);
}

static bool can_show(const struct line *line)
{
    return line->value_size && line->value_size <= LONGEST_VALUE && line->value[0] != '#';
}

static void say(gpul__str *out, const struct line *now, const struct line *before)
{
    const struct line *line = now ? now : before;
    bool shown = can_show(line) && (!now || !before || can_show(before));
    gpul__str_add(out, out->length ? "; " : "");
    gpul__str_addn(out, line->label, line->label_size);
    if (shown) {
        gpul__str_add(out, " ");
        gpul__str_addn(out, line->value, line->value_size);
    }
    if (now && before && shown) {
        gpul__str_add(out, " instead of ");
        gpul__str_addn(out, before->value, before->value_size);
    } else {
        gpul__str_add(out, now && before ? " changed" : now ? " is new" : " is gone");
    }
}

/* What is told first: the text itself, and last what mostly follows from other parts. */
enum { FIRST, USUAL, LAST, RANKS };

static int rank_of(const struct line *line)
{
    static const struct {
        const char *label;
        int rank;
    } ranks[] = { { "source", FIRST }, { "PTX", FIRST }, { "include folder", LAST } };
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (same(line->label, line->label_size, ranks[i].label, strlen(ranks[i].label)))
            return ranks[i].rank;
    return USUAL;
}

/* Parts of one label belong together, in their order. */
static size_t say_rank(gpul__str *out, const difference *d, int rank, size_t said)
{
    size_t i = 0, k = 0;
    while (i < d->now.count || k < d->before.count) {
        const struct line *now = i < d->now.count ? &d->now.items[i] : NULL,
                          *before = k < d->before.count ? &d->before.items[k] : NULL;
        int order = !now ? 1
                    : !before
                        ? -1
                        : compare(now->label, now->label_size, before->label, before->label_size);
        if (rank_of(order <= 0 ? now : before) == rank && said++ < SHOWN)
            say(out, order <= 0 ? now : NULL, order >= 0 ? before : NULL);
        i += order <= 0;
        k += order >= 0;
    }
    return said;
}

static void say_difference(gpul__str *out, const difference *d)
{
    size_t said = 0;
    for (int rank = FIRST; rank < RANKS; rank++) said = say_rank(out, d, rank, said);
    if (said > SHOWN) gpul__str_printf(out, "; and %zu more", said - SHOWN);
}

/* The recipe behind the one that begins here. */
static const char *next_recipe(const char *at)
{
    const char *end = strstr(at, "\n\n");
    return end ? end + 2 : at + strlen(at);
}

void gpul__miss_explain(gpul__str *out, int folder, const gpul__recipe *recipe)
{
    size_t size, least = SIZE_MAX;
    char *text = read_recipes(folder, recipe->subject, &size);
    difference nearest = { 0 };
    lines now;
    bool was_there = false;
    read_lines(&now, gpul__str_text(&recipe->parts));
    for (const char *at = text; at && *at; at = next_recipe(at)) {
        const char *parts = strchr(at, '\n');
        difference d;
        if (!parts) break;
        was_there |= same(at, (size_t)(parts - at), recipe->key, GPUL__CACHE_KEY);
        compare_recipes(&d, &now, parts + 1);
        if (size_of(&d) < least) {
            least = size_of(&d);
            difference farther = nearest;
            nearest = d;
            d = farther;
        }
        free_difference(&d);
    }
    if (was_there) gpul__str_add(out, "it was there and is no longer: evicted, cleared or damaged");
    else if (least == SIZE_MAX) gpul__str_add(out, "nothing of this name was kept before");
    else if (least) say_difference(out, &nearest);
    else gpul__str_add(out, "what follows from the device or the folders changed");
    free_difference(&nearest);
    gpul__free(now.items);
    gpul__free(text);
}

void gpul__miss_keep(int folder, const gpul__recipe *recipe)
{
    gpul__str entry = { 0 };
    char key[GPUL__CACHE_KEY + 1];
    size_t size, count = 1;
    char *text = read_recipes(folder, recipe->subject, &size);
    gpul__str_printf(&entry, "%s\n%s\n", recipe->key, gpul__str_text(&recipe->parts));
    for (const char *at = text; at && *at && count < MOST_RECIPES; at = next_recipe(at)) {
        if (gpul__starts(at, recipe->key)) continue;
        gpul__str_addn(&entry, at, (size_t)(next_recipe(at) - at));
        count++;
    }
    make_key(key, recipe->subject);
    if (!entry.failed && !recipe->parts.failed)
        gpul__cache_write(folder, key, "recipe", entry.text, entry.length);
    gpul__str_free(&entry);
    gpul__free(text);
}
