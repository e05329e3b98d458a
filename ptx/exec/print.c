/* Text of printf, handed to the hook in order of the blocks.  Each block collects its own; when all
 * blocks before it are done, it goes out.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/block.h"

enum { FLUSH_SIZE = 1 << 14 };

static void hand_over(launch *l, const char *text, size_t length)
{
    if (length && l->grid->print) l->grid->print(l->grid->print_user, text, length);
}

void ptx_print(block *b, const char *text, size_t length)
{
    if (!b->launch->grid->print) return;
    gpul__str_addn(&b->printed, text, length);
    if (b->printed.failed) ptx_fault_launch(b->launch, PTX_FAULT_OUT_OF_MEMORY);
}

/* Text of a unit whose turn has not come. */
static void keep(launch *l, unit *u)
{
    gpul__str all = { 0 };
    for (uint32_t k = 0; k < u->block_count; k++)
        gpul__str_addn(&all, gpul__str_text(&u->blocks[k].printed), u->blocks[k].printed.length);
    bool grown = !all.failed &&
                 gpul__grow(&l->printed, &l->printed_room, l->printed_count, sizeof *l->printed);
    if (!grown) {
        gpul__str_free(&all);
        l->out_of_memory = true;
        return;
    }
    size_t at = l->printed_count++;
    while (at > 0 && l->printed[at - 1].unit > u->index) {
        l->printed[at] = l->printed[at - 1];
        at--;
    }
    l->printed[at] = (print_entry){ u->index, all.text, all.length };
}

static void hand_over_kept(launch *l)
{
    size_t out = 0;
    while (out < l->printed_count && l->printed[out].unit == l->print_next) {
        hand_over(l, l->printed[out].text, l->printed[out].length);
        gpul__free(l->printed[out].text);
        l->print_next++;
        out++;
    }
    l->printed_count -= out;
    if (l->printed_count)
        memmove(l->printed, l->printed + out, l->printed_count * sizeof *l->printed);
}

void ptx_print_flush(launch *l, unit *u, bool done)
{
    if (!l->grid->print || !l->kernel->prints) return;
    /* Before the end only much text, and only of a single block: those of a cluster keep their order
     * when they go out together. */
    if (!done && (u->block_count > 1 || u->blocks[0].printed.length < FLUSH_SIZE)) return;
    pthread_mutex_lock(&l->lock);
    bool its_turn = u->index == l->print_next;
    if (its_turn)
        for (uint32_t k = 0; k < u->block_count; k++)
            hand_over(l, u->blocks[k].printed.text, u->blocks[k].printed.length);
    else if (done) keep(l, u);
    if (its_turn || done)
        for (uint32_t k = 0; k < u->block_count; k++) u->blocks[k].printed.length = 0;
    if (its_turn && done) {
        l->print_next++;
        hand_over_kept(l);
    }
    pthread_mutex_unlock(&l->lock);
}

void ptx_print_rest(launch *l)
{
    for (size_t k = 0; k < l->printed_count; k++) {
        hand_over(l, l->printed[k].text, l->printed[k].length);
        gpul__free(l->printed[k].text);
    }
    gpul__free(l->printed);
    l->printed = NULL;
    l->printed_count = 0;
}
