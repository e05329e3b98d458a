/* Races in global memory between blocks.  Every word that a kernel touches has its last writer and its
 * last reader: block, instruction, time.  A block that fences and then changes a word atomically, or
 * writes it as volatile, hands over what it did before; a block that reads so takes over what was
 * handed over until then.  Between the two there is no race.
 *
 * One lock for all: this checker is for finding, not for speed.  SPDX-License-Identifier: MIT */
#include "ptx/exec/check.h"

enum {
    PAGE_WORDS = 1 << 12,
    SIDE_STRONG = 1,
    SIDE_ATOMIC = 2,
    SIDE_MANY = 4, /* other blocks have read as well */
    MOST_BLOCKS = 1 << 24,
};

typedef struct side {
    uint32_t block; /* its number and 1; 0: nobody */
    uint32_t site;  /* insn.extra */
    uint32_t time;
    uint8_t flags, bytes; /* bytes: which of the word, as bits */
} side;

typedef struct word_shadow {
    side writer, reader;
} word_shadow;

typedef struct shadow_page {
    uint64_t number;
    word_shadow words[PAGE_WORDS];
} shadow_page;

typedef struct block_order {
    uint32_t fenced, released, acquired;
    bool acquires; /* what it looks at now; counts from its next access on, when it has looked */
} block_order;

struct launch_check {
    pthread_mutex_t lock;
    uint32_t now;
    shadow_page **pages; /* by a hash of their number; NULL: free */
    size_t page_count, page_room;
    check_site *sites;
    block_order *blocks;
};

/* ------------------------------------------------------------------ making */

struct launch_check *ptx_check_launch_make(const launch *l)
{
    uint64_t blocks = l->units * l->cluster_blocks;
    struct launch_check *c = gpul__calloc(1, sizeof *c);
    if (!c) return NULL;
    c->sites = gpul__calloc(l->program->check_count + 1u, sizeof *c->sites);
    c->blocks = blocks <= MOST_BLOCKS ? gpul__calloc(blocks, sizeof *c->blocks) : NULL;
    c->now = 1;
    if (c->sites && c->blocks && !pthread_mutex_init(&c->lock, NULL)) return c;
    gpul__free(c->sites);
    gpul__free(c->blocks);
    gpul__free(c);
    return NULL;
}

void ptx_check_launch_free(struct launch_check *c)
{
    if (!c) return;
    for (size_t k = 0; k < c->page_room; k++) gpul__free(c->pages[k]);
    gpul__free(c->pages);
    gpul__free(c->sites);
    gpul__free(c->blocks);
    pthread_mutex_destroy(&c->lock);
    gpul__free(c);
}

/* ------------------------------------------------------------------ shadow */

static size_t place_of(shadow_page *const *pages, size_t room, uint64_t number)
{
    size_t at = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
    while (pages[at] && pages[at]->number != number) at = (at + 1) & (room - 1);
    return at;
}

static bool make_room(struct launch_check *c)
{
    if (c->page_count * 2 < c->page_room) return true;
    size_t room = c->page_room ? c->page_room * 2 : 64;
    shadow_page **grown = gpul__calloc(room, sizeof(shadow_page *));
    if (!grown) return false;
    for (size_t k = 0; k < c->page_room; k++)
        if (c->pages[k]) grown[place_of(grown, room, c->pages[k]->number)] = c->pages[k];
    gpul__free(c->pages);
    c->pages = grown;
    c->page_room = room;
    return true;
}

static word_shadow *shadow_of(struct launch_check *c, uint64_t address)
{
    uint64_t word = address / 4, number = word / PAGE_WORDS;
    if (!make_room(c)) return NULL;
    size_t at = place_of(c->pages, c->page_room, number);
    if (!c->pages[at]) {
        if (!(c->pages[at] = gpul__calloc(1, sizeof *c->pages[at]))) return NULL;
        c->pages[at]->number = number;
        c->page_count++;
    }
    return &c->pages[at]->words[word % PAGE_WORDS];
}

/* ------------------------------------------------------------------ order and findings */

static uint32_t number_of(const block *b)
{
    const uint32_t *size = b->launch->grid_size, *at = b->position;
    return (uint32_t)(at[0] + (uint64_t)size[0] * (at[1] + (uint64_t)size[1] * at[2]));
}

void ptx_check_block_fence(block *b)
{
    struct launch_check *c = b->launch->checker;
    pthread_mutex_lock(&c->lock);
    c->blocks[number_of(b)].fenced = ++c->now;
    pthread_mutex_unlock(&c->lock);
}

static bool is_race(const struct launch_check *c, const side *old, const side *now)
{
    if (!old->block || old->block == now->block || !(old->bytes & now->bytes)) return false;
    if (old->flags & now->flags & SIDE_STRONG) return false;
    return !(old->time < c->blocks[old->block - 1].released &&
             old->time < c->blocks[now->block - 1].acquired);
}

static void report(warp *w, const insn *i, int lane, const uint64_t *addresses, uint32_t size,
                   check_action action, const side *old, check_action old_action)
{
    const launch *l = w->block->launch;
    const check_site *site = &l->checker->sites[old->site];
    uint32_t number = old->block - 1;
    earlier_access earlier = {
        .insn = site->insn,
        .code = site->code,
        .action = check_verb(old->flags & SIDE_ATOMIC ? CHECK_CHANGES : old_action),
        .thread = UINT32_MAX, /* of which thread is not kept */
        .block = { number % l->grid_size[0], number / l->grid_size[0] % l->grid_size[1],
                   number / l->grid_size[0] / l->grid_size[1] },
    };
    fault_access access = { check_verb(action), size, PTX_SPACE_GLOBAL, addresses, &earlier };
    ptx_fault(w, i, 1u << lane, PTX_FAULT_BLOCK_RACE, &access, NULL);
}

static void note(side *kept, const side *now, bool reads)
{
    uint8_t bytes = kept->block == now->block ? kept->bytes : 0;
    uint8_t many = reads && kept->block && kept->block != now->block ? SIDE_MANY : 0;
    *kept = *now;
    kept->bytes |= bytes;
    kept->flags |= many;
}

/* The first race of one lane is enough. */
static void look_at(warp *w, const insn *i, int lane, const uint64_t *addresses, uint32_t size,
                    check_action action)
{
    struct launch_check *c = w->block->launch->checker;
    side now = { .block = number_of(w->block) + 1, .site = i->extra, .time = c->now };
    if (action == CHECK_CHANGES) now.flags = SIDE_STRONG | SIDE_ATOMIC;
    else if (i->flags & CHECK_STRONG) now.flags = SIDE_STRONG;
    bool found = false;
    for (uint32_t done = 0; done < size;) {
        uint64_t at = addresses[lane] + done;
        uint32_t inside = at % 4, part = size - done < 4 - inside ? size - done : 4 - inside;
        word_shadow *s = shadow_of(c, at);
        if (!s) return;
        now.bytes = (uint8_t)(((1u << part) - 1) << inside);
        if (!found && is_race(c, &s->writer, &now)) {
            found = true;
            report(w, i, lane, addresses, size, action, &s->writer, CHECK_WRITES);
        }
        if (!found && action != CHECK_READS && is_race(c, &s->reader, &now)) {
            found = true;
            report(w, i, lane, addresses, size, action, &s->reader, CHECK_READS);
        }
        note(action == CHECK_READS ? &s->reader : &s->writer, &now, action == CHECK_READS);
        done += part;
    }
}

void ptx_check_global(warp *w, const insn *i, const uint64_t *addresses, uint32_t lanes,
                      check_action action)
{
    struct launch_check *c = w->block->launch->checker;
    uint32_t size = check_size(i, action);
    bool strong = action == CHECK_CHANGES || (i->flags & CHECK_STRONG);
    pthread_mutex_lock(&c->lock);
    block_order *own = &c->blocks[number_of(w->block)];
    c->sites[i->extra] = (check_site){ i, w->frame->code };
    if (own->acquires) own->acquired = ++c->now;
    own->acquires = strong && action != CHECK_WRITES;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (addresses[lane] >> 47 == 0) look_at(w, i, lane, addresses, size, action);
    }
    if (strong && action != CHECK_READS) own->released = own->fenced;
    pthread_mutex_unlock(&c->lock);
}
